//! `ptxsmith reduce`: finds a minimized reproducer of the same deviation.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use ptxsmith_campaign::campaign::without_leading_comments;
use ptxsmith_campaign::check::has_kernels;
use ptxsmith_campaign::files::{make_directory, write_whole};
use ptxsmith_campaign::reducing::{
    Bounds, InterestingnessTest, ReducedFinding, ReductionBudget, ReductionError, ReductionGoal,
    ReductionOrigin, annotated, reduce_finding,
};
use ptxsmith_campaign::subjects::{TestSubject, ensure_disassembler, open_subjects};
use ptxsmith_campaign::{Session, input};
use ptxsmith_reduce::{Event, NotReducible, Program, ReduceOptions, SearchEnd, SearchResult, reduce};
use ptxsmith_subject::Limits;

use super::CommandContext;
use crate::args;
use crate::console;
use crate::exit::{Exit, Failure};
use crate::progress::spinner;

/// Reduces a file.
pub fn run(context: &CommandContext, args: &args::ReduceArgs) -> Result<Exit, Failure> {
    let started = Instant::now();
    let (name, text) = input::read_text(&args.file)?;
    let out = args.out.clone().unwrap_or_else(|| beside(&args.file));
    let is_read = args.text || Program::parse(&text).is_ok();
    if !is_read {
        context.console.note(&format!("{name} is not understood, and reduced as text"));
    }
    let as_text = args.text || !is_read;
    let session = context.session_for(args.time);
    let work = ReductionJob { context, session, args, name, text, as_text, out, started };
    // Fail before any work is done if the output cannot be written.
    let directory = work.out.parent().filter(|parent| !parent.as_os_str().is_empty());
    make_directory(directory.unwrap_or(Path::new(".")))?;
    match &args.command {
        Some(command) => work.by_script(command),
        None => work.by_subject(),
    }
}

/// Returns the default output file: `a.ptx` becomes `a.reduced.ptx`.
fn beside(file: &Path) -> PathBuf {
    if file == Path::new("-") { PathBuf::from("reduced.ptx") } else { file.with_extension("reduced.ptx") }
}

struct ReductionJob<'a> {
    context: &'a CommandContext,
    session: Session,
    args: &'a args::ReduceArgs,
    /// The name of the file in messages.
    name: String,
    text: String,
    /// Whether to remove tokens and characters instead of syntax, because the user asked for it or the file
    /// cannot be parsed.
    as_text: bool,
    out: PathBuf,
    started: Instant,
}

impl ReductionJob<'_> {
    fn by_subject(&self) -> Result<Exit, Failure> {
        if has_kernels(&self.text) {
            ensure_disassembler(&self.session, &self.args.subject)?;
            if !self.args.same_on.is_empty() {
                ensure_disassembler(&self.session, &self.args.same_on)?;
            }
        }
        let mut subjects = open_subjects(&self.session, &self.args.subject, self.args.timeout)?;
        let tested = match subjects.len() {
            1 => subjects.remove(0),
            n => {
                return Err(Failure::BadInput(format!("reduce needs one subject; {n} are named")));
            }
        };
        let same_on = match &self.args.same_on[..] {
            [] => Vec::new(),
            specs => open_subjects(&self.session, specs, self.args.timeout)?,
        };
        let bar = spinner(&self.context.console);
        let mut saving = Ok(());
        let mut on_better = |better: &Program, processes: u64| {
            bar.set_message(progress(better, processes));
            if saving.is_ok() {
                saving = write_whole(&self.out, better.text().as_bytes());
            }
        };
        let budget = ReductionBudget { time: self.search_time(), programs: None };
        let wanted = ReductionGoal { expected: self.args.expect.as_ref(), same_on: &same_on, headed: false };
        let mut as_text = self.as_text;
        let text = without_leading_comments(&self.text);
        let mut reduce =
            |as_text| reduce_finding(&self.session, &tested, text, as_text, wanted, budget, &mut on_better);
        let mut shrunk = reduce(as_text);
        if matches!(shrunk, Err(ReductionError::OnlyAsText)) {
            self.note_text("shows the deviation");
            as_text = true;
            shrunk = reduce(as_text);
        }
        bar.finish_and_clear();
        saving?;
        let shrunk = shrunk.map_err(|reluctance| self.explained(reluctance, &tested))?;
        let processes = AtomicU64::new(shrunk.processes);
        // After Ctrl-C or at the time limit no more processes are started, so the behavior of the subject
        // cannot be described. The reduced program is still written.
        let interrupted = self.is_interrupted();
        let mut result = shrunk.reduced.program.text().to_owned();
        // Do not add comments to text: they might cause or hide a deviation of the subject's lexer.
        if !as_text && !self.context.cancel.is_cancelled() {
            let origin = ReductionOrigin { name: &self.name, text: &self.text, out: &self.out };
            match annotated(&tested, &shrunk, &origin, &processes) {
                Err(_) if self.context.cancel.is_late() => {}
                annotated => result = annotated?,
            }
        }
        write_whole(&self.out, result.as_bytes())?;
        let others = self.save_others(&shrunk)?;
        let processes = processes.into_inner();
        self.summary(
            &shrunk.reduced,
            &format!("{}, {}", tested.subject.id(), shrunk.cause),
            processes,
            &others,
        )?;
        if !shrunk.besides.is_empty() {
            let besides: Vec<&str> = shrunk.besides.iter().map(String::as_str).collect();
            let kept = shrunk.cause.to_string();
            let besides = besides.join(", ");
            self.context.console.note(&format!(
                "kept: {}; the file shows also {}, which --expect NAME keeps instead",
                console::line(&kept),
                console::line(&besides)
            ));
        }
        Ok(if interrupted { Exit::Interrupted } else { Exit::Success })
    }

    fn by_script(&self, command: &str) -> Result<Exit, Failure> {
        let runs = AtomicU64::new(0);
        let until = self.search_time().map(|time| Instant::now() + time);
        let mut limits = Limits::default();
        if let Some(timeout) = self.args.timeout {
            limits.time = timeout;
        }
        let bounds = Bounds { jobs: self.context.jobs.get(), until, cancel: &self.context.cancel };
        let mut script = InterestingnessTest::new(command, &self.args.file, limits, bounds, &runs)?;
        let as_it_is = Program::from_text(self.text.as_str());
        let program = if self.as_text {
            as_it_is.clone()
        } else {
            Program::parse(&self.text).map_err(|error| {
                Failure::Harness(anyhow::anyhow!("what was read cannot be printed and read again: {error}"))
            })?
        };
        let bar = spinner(&self.context.console);
        let mut saving = Ok(());
        let mut on_event = |event: Event<'_>| {
            if let Event::Better(better, _) = event {
                bar.set_message(progress(better, runs.load(Ordering::Relaxed)));
                if saving.is_ok() {
                    saving = write_whole(&self.out, better.text().as_bytes());
                }
            }
        };
        let mut reduced = reduce(program, &mut script, &ReduceOptions::default(), &mut on_event);
        if !self.as_text && matches!(reduced, Err(NotReducible::NotInteresting)) {
            reduced = reduce(as_it_is, &mut script, &ReduceOptions::default(), &mut on_event);
            if !matches!(reduced, Err(NotReducible::NotInteresting)) {
                self.note_text("is interesting");
            }
        }
        bar.finish_and_clear();
        saving?;
        let reduced = reduced.map_err(|objection| match objection {
            _ if self.context.cancel.is_cancelled() => Failure::Interrupted,
            NotReducible::NotInteresting => Failure::BadInput(format!(
                "{}: not interesting: the command does not end with status 0 for it",
                self.name
            )),
            NotReducible::NotReproducible => Failure::BadInput(format!(
                "{}: not reproducible: the command ends with status 0 the first time and not the second",
                self.name
            )),
            NotReducible::CannotTell(reason) => Failure::Harness(anyhow::anyhow!("{reason}")),
        })?;
        write_whole(&self.out, reduced.program.text().as_bytes())?;
        self.summary(&reduced, "the command", runs.into_inner(), &[])?;
        let interrupted = reduced.ended == SearchEnd::Stopped && self.is_interrupted();
        Ok(if interrupted { Exit::Interrupted } else { Exit::Success })
    }

    /// Returns the time for the search. The rest of the time limit is for the final run of the subject.
    fn search_time(&self) -> Option<Duration> {
        self.session.limit.map(|limit| limit.work.saturating_duration_since(Instant::now()))
    }

    /// Returns true if a signal, and not the time limit, stopped the reduction.
    fn is_interrupted(&self) -> bool {
        self.context.cancel.is_cancelled() && !self.context.cancel.is_late()
    }

    /// Notes that the program is reduced as text, because it no longer `shows` the deviation after it is
    /// parsed and printed.
    fn note_text(&self, shows: &str) {
        self.context.console.note(&format!(
            "{} {shows} only as it is written, with its white space and comments: it is reduced as text",
            self.name
        ));
    }

    fn explained(&self, reluctance: ReductionError, tested: &TestSubject) -> Failure {
        let name = &self.name;
        let subject = tested.subject.id();
        let subject = console::line(subject);
        match reluctance {
            ReductionError::NothingShown => Failure::BadInput(match &self.args.expect {
                Some(_) => format!(
                    "{name}: {subject} does not show what --expect says; ptxsmith check tells what it does"
                ),
                None => format!("{name}: {subject} shows no deviation, so there is nothing to keep"),
            }),
            ReductionError::NotReproducible => Failure::BadInput(format!(
                "{name}: not reproducible: {subject} answers for one and the same program now so and now \
                 otherwise"
            )),
            ReductionError::OnlyAsText => Failure::Harness(anyhow::anyhow!(
                "{name}: a text that is reduced as text is printed as it is"
            )),
            ReductionError::CannotTell(reason) => {
                Failure::Harness(anyhow::anyhow!("{name}: what {subject} does cannot be seen: {reason}"))
            }
            ReductionError::Failed(error) => Failure::Harness(error.into()),
            ReductionError::Interrupted => Failure::Interrupted,
        }
    }

    fn save_others(&self, shrunk: &ReducedFinding) -> Result<Vec<PathBuf>, Failure> {
        let mut saved = Vec::new();
        for (name, program) in &shrunk.others {
            let path = self.out.with_extension(format!("other-{name}.ptx"));
            write_whole(&path, program.text().as_bytes())?;
            saved.push(path);
        }
        Ok(saved)
    }

    fn summary(
        &self,
        reduced: &SearchResult,
        what: &str,
        processes: u64,
        others: &[PathBuf],
    ) -> Result<(), Failure> {
        let mut out = String::new();
        for line in reduced.program.text().lines() {
            let _ = writeln!(out, "{}", console::line(line));
        }
        let size = reduced.program.size();
        let whole = Program::from_text(self.text.as_str());
        let _ = writeln!(
            out,
            "\n{}: {} tokens ({} bytes) of {} ({}), {} runs, {:.2} s",
            console::line(&self.out.to_string_lossy()),
            size.tokens,
            size.bytes,
            whole.size().tokens,
            whole.size().bytes,
            processes,
            self.started.elapsed().as_secs_f64(),
        );
        self.context.console.print(&out)?;
        let note = |message: &str| self.context.console.note(message);
        match reduced.ended {
            SearchEnd::Least => {}
            SearchEnd::Stopped => note("stopped before the end: the program may become smaller yet"),
            SearchEnd::NotReproducible => note(&format!(
                "not reproducible: for a smaller program, {what} answered now so and now otherwise; this is \
                 the last that answered twice"
            )),
        }
        // A candidate that Ctrl-C stopped was not observed either, but that needs no note.
        if let Some(doubt) = reduced.doubt.as_ref().filter(|_| !self.context.cancel.is_cancelled()) {
            let count = reduced.could_not_tell;
            note(&format!("{count} programs were skipped because they could not be observed: {doubt}"));
        }
        for other in others {
            note(&format!("another deviation was met on the way: {}", other.display()));
        }
        Ok(())
    }
}

/// Formats the progress message.
fn progress(program: &Program, processes: u64) -> String {
    format!("{} tokens, {} bytes, {processes} runs", program.size().tokens, program.size().bytes)
}
