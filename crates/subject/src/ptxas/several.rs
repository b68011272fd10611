//! Checks many modules that ptxas will probably reject in one run. ptxas reads every file on its command line
//! even if it rejects earlier ones, and names the file of each error. It keeps no state from one file to the
//! next except visible names.

use std::collections::BTreeMap;

use ptxsmith_syntax::header_lines;

use super::{Ptxas, file_name, messages, refusal, status_as_signal};
use crate::process::{Finished, ProcessEnd};
use crate::subject::{Error, Request, Subject as _};
use ptxsmith_model::{Diagnostic, Observation, Outcome, Severity};

/// Message at the end of a run in which at least one module was rejected.
const ABORTED: &str = "Ptx assembly aborted due to errors";

/// Maximum number of modules in one run. Every run names twice this number of files (each module and a
/// separator before it), so that one waiting server process serves all runs.
pub(super) const MOST: usize = 128;

/// Separator body, after the header of the next module: one statement of each kind, which absorbs the state
/// that an unfinished statement left.
const BETWEEN: &str = ".global .align 4 .u32 a[2] = {1, 2};\n.func f() { ret; }\n\
    .entry k() { .reg .u32 r; .reg .pred p; setp.eq.u32 p, r, 1; @p add.u32 r, r, 1; ret; }\n";

impl Ptxas {
    /// Observes these modules, which share target and form. A module whose rejection is not certain is shown
    /// alone. If ptxas crashes or hangs, each half of the modules gets a run of its own, down to single
    /// modules.
    pub(super) fn observe_several(&self, requests: &[Request<'_>]) -> Result<Vec<Observation>, Error> {
        if let [request] = requests {
            return Ok(vec![self.observe(request)?]);
        }
        let between: Vec<String> =
            requests.iter().map(|request| header_lines(request.ptx) + BETWEEN).collect();
        let mut separated: Vec<Request<'_>> = Vec::with_capacity(2 * requests.len());
        for (request, between) in requests.iter().zip(&between) {
            separated.extend([Request { ptx: between, ..*request }, *request]);
        }
        let (finished, ..) = self.assemble_by(&self.start, &separated, 2 * MOST)?;
        let Some(refused) = refusals(&finished, requests) else {
            // ptxas crashed on one of them: split the batch to find out which.
            let (left, right) = requests.split_at(requests.len() / 2);
            let mut observations = self.observe_several(left)?;
            observations.extend(self.observe_several(right)?);
            return Ok(observations);
        };
        let each = refused.into_iter().zip(requests);
        each.map(|(refused, request)| refused.map_or_else(|| self.observe(request), Ok)).collect()
    }
}

/// Returns the rejections of a run by module; a `None` entry says nothing about that module. Returns `None`
/// if the run did not finish.
fn refusals(finished: &Finished, requests: &[Request<'_>]) -> Option<Vec<Option<Observation>>> {
    match finished.end {
        ProcessEnd::Exited(0) => return Some(vec![None; requests.len()]),
        ProcessEnd::Exited(status) if status_as_signal(status).is_none() => {}
        _ => return None,
    }
    let (stderr, stdout) = (finished.stderr.text(), finished.stdout.text());
    let [(mut all, _), (more, _)] = [&stderr, &stdout].map(|text| messages::parse_files(text));
    all.extend(more);
    let mut of_run = Vec::new();
    let mut by_file: BTreeMap<&str, Vec<Diagnostic>> = BTreeMap::new();
    for (file, diagnostic) in all {
        match file {
            Some(file) => by_file.entry(file).or_default().push(diagnostic),
            None if messages::is_missing_file(&diagnostic.message) => {}
            None if diagnostic.severity < Severity::Error || diagnostic.message == ABORTED => {
                of_run.push(diagnostic)
            }
            // The message does not say which module it is about.
            None => return Some(vec![None; requests.len()]),
        }
    }
    let mut rejections = Vec::with_capacity(requests.len());
    for (index, request) in requests.iter().enumerate() {
        let diagnostics = by_file.remove(&*file_name(2 * index + 1));
        rejections.push(diagnostics.and_then(|diagnostics| rejection(diagnostics, &of_run, request)));
    }
    Some(rejections)
}

/// Returns the rejection of a module from the diagnostics of its file and of the whole run, if they are
/// certain to be about this module.
fn rejection(
    mut diagnostics: Vec<Diagnostic>,
    of_run: &[Diagnostic],
    request: &Request<'_>,
) -> Option<Observation> {
    diagnostics.extend_from_slice(of_run);
    // A message may quote the module, and the quoted part may look like a message.
    let is_certain =
        refusal(&diagnostics, request.ptx) == Some(Outcome::Refused) && !request.ptx.contains("ptxas");
    is_certain.then(|| Observation { diagnostics, ..Observation::new(Outcome::Refused) })
}
