//! Writes the origin of a campaign: time, machine and command, which no other file contains.

use std::path::Path;
use std::time::SystemTime;

use ptxsmith_report::folder;
use ptxsmith_report::manifest::{self, HostMachine, Manifest, SCHEMA};

use sha2::{Digest, Sha256};

use super::Campaign;
use crate::cases::CASES_OPTION;
use crate::failure::Failure;
use crate::files::write_whole;

/// The time at which a campaign began.
pub struct StartTime(String);

impl StartTime {
    /// Returns the current time. Only the manifest depends on the clock.
    pub fn now() -> StartTime {
        StartTime(now())
    }

    /// Returns the time at which the campaign in a directory began.
    pub fn read(directory: &Path) -> Option<StartTime> {
        Some(StartTime(folder::read_manifest(directory).ok()??.started))
    }
}

fn now() -> String {
    humantime::format_rfc3339_seconds(SystemTime::now()).to_string()
}

/// Writes `manifest.json`, for campaigns that can be resumed or from which an atlas is made.
pub(super) fn save_manifest(campaign: &Campaign<'_>, ended: bool) -> Result<(), Failure> {
    let Some(out) = &campaign.store.out else { return Ok(()) };
    if campaign.store.kept.is_none() && campaign.by_case.is_none() {
        return Ok(());
    }
    let identity = campaign.store.kept.as_ref().map(|kept| &kept.identity);
    let subjects = campaign.subjects.iter().map(|tested| {
        let description = tested.subject.description();
        manifest::TestedSubject {
            id: description.id.clone(),
            version: description.version.clone(),
            sha256: description.sha256.clone(),
        }
    });
    let manifest = Manifest {
        schema: SCHEMA.to_owned(),
        ptxsmith: env!("CARGO_PKG_VERSION").to_owned(),
        build: env!("PTXSMITH_BUILD").to_owned(),
        grammar: hash(&campaign.generator.grammar()),
        seed: campaign.seed,
        command_line: campaign.session.command_line.clone(),
        machine: HostMachine {
            os: std::env::consts::OS.to_owned(),
            cpu: cpu(),
            cores: std::thread::available_parallelism().map_or(0, |cores| cores.get() as u64),
        },
        started: campaign.store.started.0.clone(),
        ended: ended.then(now),
        subjects: subjects.collect(),
        cases: identity.and_then(|of| of.options.get(CASES_OPTION)).and_then(|cases| cases.parse().ok()),
    };
    let mut text = serde_json::to_string_pretty(&manifest)?;
    text.push('\n');
    write_whole(&out.join(folder::MANIFEST), text.as_bytes())?;
    Ok(())
}

/// Returns the first half of the SHA-256 of a text, in hexadecimal digits.
fn hash(text: &str) -> String {
    Sha256::digest(text).iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

/// Returns the name of the processor, or its architecture if the name is unknown.
fn cpu() -> String {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = info.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    model.map_or_else(|| std::env::consts::ARCH.to_owned(), |(_, name)| name.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// FIPS 180-2 gives the digest of `abc`.
    #[test]
    fn a_grammar_is_known_by_the_first_half_of_its_sha_256() {
        assert_eq!(hash("abc"), "ba7816bf8f01cfea414140de5dae2223");
    }
}
