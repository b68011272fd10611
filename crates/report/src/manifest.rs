//! The provenance of a campaign: `ptxsmith.manifest/1`.
//!
//! Everything that depends on time or on the machine is in the manifest and nowhere else, so that reports can
//! be compared byte by byte.

use serde::{Deserialize, Serialize};

/// The value of `"schema"`.
pub const SCHEMA: &str = "ptxsmith.manifest/1";

/// The provenance of a campaign.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Manifest {
    /// Always [`SCHEMA`].
    pub schema: String,
    /// The version of ptxsmith.
    pub ptxsmith: String,
    /// The build of ptxsmith: a commit, or a hash of the program.
    pub build: String,
    /// A hash of the grammar that generated the programs.
    pub grammar: String,
    /// The seed from which the cases were generated.
    pub seed: u64,
    /// The command line, as given.
    pub command_line: Vec<String>,
    /// The machine on which the campaign ran.
    pub machine: HostMachine,
    /// The time of the start: RFC 3339, UTC. It stays the same when a campaign is resumed.
    pub started: String,
    /// The time of the end; `None` while the campaign runs, and if it was killed.
    pub ended: Option<String>,
    /// The implementations under test.
    pub subjects: Vec<TestedSubject>,
    /// The planned number of cases; `None` if a time limit was given instead.
    pub cases: Option<u64>,
}

/// The machine on which a campaign ran.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct HostMachine {
    /// The operating system.
    pub os: String,
    /// The processor.
    pub cpu: String,
    /// The number of hardware threads.
    pub cores: u64,
}

/// The exact implementation that was tested.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TestedSubject {
    /// The subject as `--subject` names it.
    pub id: String,
    /// The full version.
    pub version: Option<String>,
    /// A hash of the program or library.
    pub sha256: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_campaign_that_was_killed_has_no_end() {
        let manifest: Manifest = serde_json::from_str(
            r#"{"schema": "ptxsmith.manifest/1", "seed": 7, "started": "2026-11-21T02:00:00Z", "ended": null,
                "machine": {"os": "linux", "cpu": "x86_64", "cores": 2}, "later": []}"#,
        )
        .unwrap();
        assert_eq!((manifest.seed, manifest.ended, manifest.machine.cores), (7, None, 2));
    }
}
