//! `--deny`: what is status 1 although it is nothing new.

use std::collections::BTreeMap;

use ptxsmith_report::{Finding, Status};

use crate::exit::Exit;
use crate::values::Deny;

/// Which of the things that are denied a campaign shows.
pub fn shown(findings: &[Finding], not_compared: &BTreeMap<String, u64>, denied: &[Deny]) -> Vec<Deny> {
    let shows = |deny: &Deny| match deny {
        Deny::Known => findings.iter().any(|found| found.status == Status::Known),
        Deny::Uncompared => not_compared.values().any(|&count| count > 0),
    };
    denied.iter().copied().filter(shows).collect()
}

/// The status of a command that shows these of the things that are denied: worse than that nothing was compared, better than
/// bad input and failures.
pub fn status(exit: Exit, shown: &[Deny]) -> Exit {
    match exit {
        Exit::Success | Exit::NothingCompared if !shown.is_empty() => Exit::Deviation,
        exit => exit,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_denied_is_status_1_where_it_shows_and_nowhere_else() {
        let known = [Finding { status: Status::Known, ..Finding::default() }];
        let not_compared = |count| BTreeMap::from([("unobserved".to_owned(), count)]);
        let both = [Deny::Known, Deny::Uncompared];
        assert_eq!(shown(&[], &not_compared(0), &both), []);
        assert_eq!(shown(&known, &not_compared(0), &both), [Deny::Known]);
        assert_eq!(shown(&known, &not_compared(2), &[]), []);
        assert_eq!(shown(&known, &not_compared(2), &[Deny::Uncompared]), [Deny::Uncompared]);
        assert_eq!(status(Exit::Success, &[Deny::Known]), Exit::Deviation);
        assert_eq!(status(Exit::NothingCompared, &[Deny::Uncompared]), Exit::Deviation);
        assert_eq!(status(Exit::BadInput, &[Deny::Known]), Exit::BadInput);
        assert_eq!(status(Exit::NothingCompared, &[]), Exit::NothingCompared);
    }
}
