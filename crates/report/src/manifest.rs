//! Where a campaign comes from: `ptxsmith.manifest/1`.
//!
//! What depends on time and machine is here and only here, so that reports can be compared byte by byte.

use serde::{Deserialize, Serialize};

/// The value of `"schema"`.
pub const SCHEMA: &str = "ptxsmith.manifest/1";

/// Provenance of a campaign.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Manifest {
    /// Always [`SCHEMA`].
    pub schema: String,
    /// The version of ptxsmith.
    pub ptxsmith: String,
    /// The build: a commit, or a hash of the program.
    pub build: String,
    /// A hash of the grammar that programs were made from.
    pub grammar: String,
    /// What chose the cases.
    pub seed: u64,
    /// The command, as given.
    pub command_line: Vec<String>,
    /// Where it ran.
    pub machine: Machine,
    /// When it began: RFC 3339, UTC. A campaign that is resumed keeps it.
    pub started: String,
    /// When it came to its end; `None` while it goes on, and if it was killed.
    pub ended: Option<String>,
    /// The implementations under test.
    pub subjects: Vec<Tested>,
    /// How many cases it was to judge; `None` where a time was given instead.
    pub cases: Option<u64>,
}

/// A machine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Machine {
    /// Its operating system.
    pub os: String,
    /// Its processor.
    pub cpu: String,
    /// How many threads of it run at a time.
    pub cores: u64,
}

/// Exactly which implementation was tested.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Tested {
    /// As `--subject` names it.
    pub id: String,
    /// Its full version.
    pub version: Option<String>,
    /// Hash of its file.
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
