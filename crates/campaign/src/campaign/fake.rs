//! Test fixtures for single steps of a campaign: a session, subjects built from the oracle, and findings.

use std::num::NonZeroUsize;

use ptxsmith_diff::{Class, Difference, id_of};
use ptxsmith_model::{Expected, FindingKind};
use ptxsmith_subject::{Cancel, Description, FnSubject, Observation, Request, process};

use super::Campaign;
use crate::ledger::{FindingName, PendingFinding};
use crate::session::{Session, SilentEvents};
use crate::store::ExistingCampaign;
use crate::subjects::TestSubject;

/// Creates a session that ignores events.
pub(crate) fn session() -> Session {
    Session {
        jobs: NonZeroUsize::MIN,
        seed: 7,
        command_line: Vec::new(),
        cancel: Cancel::new(),
        libcuda: None,
        start: process::Start::Spawn,
        workers: None,
        limit: None,
        events: Box::new(SilentEvents),
        expected: Default::default(),
        known: Vec::new(),
        answers: Vec::new(),
    }
}

/// Creates a campaign with these subjects that stores nothing.
pub(super) fn campaign(session: &Session, subjects: Vec<TestSubject>) -> Campaign<'_> {
    let mut campaign =
        Campaign::new(session, "run", "cases", subjects, None, ExistingCampaign::Refuse).unwrap();
    campaign.reduce_for = None;
    campaign
}

/// Creates a subject with this name and behaviour.
pub(super) fn tested(
    id: &str,
    observe: impl Fn(&Request<'_>) -> Observation + Send + Sync + 'static,
) -> TestSubject {
    TestSubject::new(Box::new(FnSubject::new(id, observe)))
}

/// Creates a subject with this description and behaviour.
pub(super) fn described(
    description: Description,
    observe: impl Fn(&Request<'_>) -> Observation + Send + Sync + 'static,
) -> TestSubject {
    TestSubject::new(Box::new(FnSubject::new(description.id.clone(), observe).described(description)))
}

/// Returns a program with the header of generated cases.
pub(super) fn program(declarations: &str) -> String {
    format!(".version 7.8\n.target sm_80\n.address_size 64\n{declarations}\n")
}

/// Returns the observation for a program with these declarations.
pub(super) fn seen(observe: impl Fn(&Request<'_>) -> Observation, declarations: &str) -> Observation {
    observe(&Request::new(&program(declarations), "sm_80"))
}

/// Creates a new finding of the subject `a`.
pub(super) fn found(
    id: &str,
    class: Class,
    declarations: &str,
    variable: Option<&str>,
    observed: Observation,
) -> PendingFinding {
    let variable = variable.map(str::to_owned);
    let difference = Difference { variable, ..Difference::new(class, Expected::default(), observed) };
    let kind = match id_of(id) {
        Some(rule) => FindingKind::Hypothesis(rule.to_owned()),
        None => FindingKind::Unexplained,
    };
    let title = format!("title of {id}");
    let name = FindingName { id: id.to_owned(), kind, title, clauses: Vec::new() };
    PendingFinding::new(name, &difference, program(declarations), 0, 0).shown_by("a", None)
}
