//! Modules that will probably be refused, many in one run: ptxas reads every file that it is given, whatever it refuses of those
//! before, and says in which file an error is. What it remembers of a file ends with the file, but for its visible names.

use std::collections::BTreeMap;

use ptxsmith_syntax::header_lines;

use super::{Ptxas, file, messages, refusal, status_as_signal};
use crate::process::{End, Finished};
use crate::subject::{Error, Request, Subject as _};
use ptxsmith_model::{Diagnostic, Observation, Outcome, Severity};

/// What it says at the end of a run in which something was refused.
const ABORTED: &str = "Ptx assembly aborted due to errors";

/// The most modules of one run. So many files and as many of ours are named in every run, so that one program that waits
/// serves them all.
pub(super) const MOST: usize = 128;

/// Behind the header of the module that follows: a statement of each kind, which takes what an unfinished one has left.
const BETWEEN: &str = ".global .align 4 .u32 a[2] = {1, 2};\n.func f() { ret; }\n\
    .entry k() { .reg .u32 r; .reg .pred p; setp.eq.u32 p, r, 1; @p add.u32 r, r, 1; ret; }\n";

impl Ptxas {
    /// What it does with each of these modules, for the same target and form.
    pub(super) fn observe_several(&self, requests: &[Request<'_>]) -> Result<Vec<Observation>, Error> {
        if let [request] = requests {
            return Ok(vec![self.observe(request)?]);
        }
        let between: Vec<String> =
            requests.iter().map(|request| header_lines(request.ptx) + BETWEEN).collect();
        let all = requests.iter().zip(&between);
        let all: Vec<Request<'_>> =
            all.flat_map(|(request, between)| [Request { ptx: between, ..*request }, *request]).collect();
        let (finished, ..) = self.assemble_by(&self.start, &all, 2 * MOST)?;
        let Some(refused) = refusals(&finished, requests) else {
            // It died of one of them: halves find out of which.
            let (left, right) = requests.split_at(requests.len() / 2);
            let mut observations = self.observe_several(left)?;
            observations.extend(self.observe_several(right)?);
            return Ok(observations);
        };
        let each = refused.into_iter().zip(requests);
        each.map(|(refused, request)| refused.map_or_else(|| self.observe(request), Ok)).collect()
    }
}

/// The modules that were refused in a run; of the others it tells nothing. `None` of a run that did not come to its end.
fn refusals(finished: &Finished, requests: &[Request<'_>]) -> Option<Vec<Option<Observation>>> {
    match finished.end {
        End::Exited(0) => return Some(vec![None; requests.len()]),
        End::Exited(status) if status_as_signal(status).is_none() => {}
        _ => return None,
    }
    let (stderr, stdout) = (finished.stderr.text(), finished.stdout.text());
    let [(mut all, _), (more, _)] = [&stderr, &stdout].map(|text| messages::parse_files(text));
    all.extend(more);
    let mut of_all = Vec::new();
    let mut by_file: BTreeMap<&str, Vec<Diagnostic>> = BTreeMap::new();
    for (file, diagnostic) in all {
        match file {
            Some(file) => by_file.entry(file).or_default().push(diagnostic),
            None if messages::is_missing_file(&diagnostic.message) => {}
            None if diagnostic.severity < Severity::Error || diagnostic.message == ABORTED => {
                of_all.push(diagnostic)
            }
            // It is not known of which module that is.
            None => return Some(vec![None; requests.len()]),
        }
    }
    let refused = |(place, request): (usize, &Request<'_>)| {
        let diagnostics = [by_file.remove(&*file(2 * place + 1))?, of_all.clone()].concat();
        // A message may quote the module, and what it quotes may look like a message.
        let is_sure =
            refusal(&diagnostics, request.ptx) == Some(Outcome::Refused) && !request.ptx.contains("ptxas");
        is_sure.then(|| Observation { diagnostics, ..Observation::new(Outcome::Refused) })
    };
    Some(requests.iter().enumerate().map(refused).collect())
}
