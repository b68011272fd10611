//! Tells failures of this machine from failures of a subject: a full disk, no memory, a signal from outside.

use ptxsmith_subject::Observation;
use ptxsmith_subject::process::scratch_left;

/// Returns the reason if the disk is too full for a run to mean anything.
pub(crate) fn full_disk(text: &str) -> Option<String> {
    let length = text.len() as u64;
    too_little(scratch_left(length)?, length)
}

/// Returns a message if the space is too small. A cubin and the temporary files of ptxas are larger than the
/// program.
fn too_little(left: u64, length: u64) -> Option<String> {
    const LEAST: u64 = 1 << 20;
    (left < LEAST + 16 * length)
        .then(|| format!("the disk is full, or nearly: {left} bytes are left for temporary files"))
}

/// Returns the reason if an apparent crash or rejection is a failure of this machine, or a limit that we set:
/// killed from outside, out of memory, out of disk.
pub(super) fn failure_of_machine(observed: &Observation) -> Option<String> {
    const KILLED: [i32; 3] = [9, 24, 25];
    let messages = observed.reason.iter().map(String::as_str);
    let messages = messages.chain(observed.diagnostics.iter().map(|diagnostic| &*diagnostic.message));
    let machine =
        ["out of memory", "Memory allocation failure", "No space left", "Disk quota", "could not be opened"];
    let blamed = messages.clone().find(|text| machine.iter().any(|words| text.contains(words)));
    match (observed.signal, blamed) {
        (_, Some(text)) => Some(text.to_owned()),
        (Some(signal), None) if KILLED.contains(&signal) => {
            Some(observed.reason.clone().unwrap_or_else(|| format!("killed by signal {signal}")))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use ptxsmith_subject::{Diagnostic, Outcome, Severity};

    use super::*;

    #[test]
    fn a_disk_without_room_for_a_cubin_tells_nothing() {
        assert_eq!(too_little(10 << 20, 1000), None);
        let least = (1 << 20) + 16 * 1000;
        assert_eq!(too_little(least, 1000), None);
        assert!(too_little(least - 1, 1000).is_some());
        assert!(too_little(4096, 60).unwrap().contains("4096 bytes are left"));
        assert!(too_little(10 << 20, 1 << 20).is_some());
    }

    #[test]
    fn what_the_machine_did_is_not_what_the_subject_did() {
        let died = |signal| Observation { signal: Some(signal), ..Observation::new(Outcome::Crashed) };
        assert_eq!([8, 11, 6].map(|signal| failure_of_machine(&died(signal))), [None, None, None]);
        assert!([9, 24, 25].iter().all(|&signal| failure_of_machine(&died(signal)).is_some()));
        let mut refused = Observation::new(Outcome::Refused);
        let mut complain = |message: &str| {
            refused.diagnostics =
                vec![Diagnostic { severity: Severity::Fatal, line: None, message: message.to_owned() }];
            failure_of_machine(&refused)
        };
        assert!(complain("cannot write out.cubin: No space left on device").is_some());
        assert!(complain("Output file 'x' could not be opened").is_some());
        assert_eq!(complain("Unknown symbol 'x'"), None);
    }
}
