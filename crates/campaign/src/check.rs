//! Judges programs that exist already, by the same rules as generated ones.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use ptxsmith_diff::{
    Class, CodeCounts, Header, ModuleVerdicts, NotCompared, PartVerdict, Rejection, Requirement,
    TrialVerdict, Verdict, WhyNotCompared,
};
use ptxsmith_oracle::{Expectation, INPUTS, Question, Rules, predict};
use ptxsmith_report::harmless::{cut, line as harmless};
use ptxsmith_subject::{Outcome as Observed, OutputForm, Request, SubjectSpec};
use ptxsmith_syntax::{Item, Lines, Linkage, Module, Specifier, Text};

use crate::campaign::{Campaign, CampaignOutcome, ProgramSource};
use crate::conforming::ConformingFiles;
use crate::failure::{Failure, of_subject};
use crate::input::{InputProgram, read_text};
use crate::judges::{JudgedTrial, judge, trial_made_of, trial_of};
use crate::locate::Locator;
use crate::pool::{Budget, each, lock_of};
use crate::session::Session;
use crate::store::ExistingCampaign;
use crate::subjects::{TestSubject, ensure_disassembler, open_subjects, other_target, target_for};

/// The options of a check.
pub struct FileCheckOptions {
    /// The files to check.
    pub files: Vec<PathBuf>,
    /// The implementations under test; empty for the default one.
    pub subjects: Vec<SubjectSpec>,
    /// The time limit of a subject for one program.
    pub timeout: Option<Duration>,
    /// Whether the report lists each subject's result for each file.
    pub by_case: bool,
    /// The directory for the report and the findings.
    pub out: Option<PathBuf>,
    /// Whether to remove the campaign in `out`, if there is one.
    pub replace: bool,
    /// Returns the file name of a program's valid counterpart, if the comments of the program name one.
    pub counterpart: fn(&str) -> Option<&str>,
}

/// Judges every variable of every file.
///
/// Reports and skips files that cannot be read or parsed.
///
/// # Errors
/// If the only file cannot be read, no subject can be opened, or this machine or our code fails.
pub fn check(session: &Session, options: FileCheckOptions) -> Result<CampaignOutcome, Failure> {
    let files = options.files;
    // Read a single file before opening or installing a subject for it.
    let first = match &files[..] {
        [only] => Some(InputProgram::read(only)?),
        _ => None,
    };
    let kernels = match &first {
        Some(program) => has_kernels(&program.text),
        None => files.iter().any(|file| may_have_kernels(file)),
    };
    if kernels {
        ensure_disassembler(session, &options.subjects)?;
    }
    let subjects = open_subjects(session, &options.subjects, options.timeout)?;
    let earlier = if options.replace { ExistingCampaign::Replace } else { ExistingCampaign::RefuseResumable };
    let mut campaign = Campaign::new(session, "check", "variables", subjects, options.out, earlier)?;
    if options.by_case {
        campaign.report_by_case();
    }
    let count = files.len() as u64;
    let budget = Budget { tasks: Some(count), units: Some(count), ..Budget::default() };
    let check = FileCheck {
        campaign: &campaign,
        counterpart: options.counterpart,
        are_few: files.len() <= MOST_LINES,
        left_out: AtomicBool::new(false),
        retargeted: AtomicU64::new(0),
        definitions: Mutex::default(),
        conforming: ConformingFiles::default(),
    };
    let first = Mutex::new(first);
    let ended = each(session, budget, "files", |number, work| {
        let path = &files[number as usize];
        let first = lock_of(&first).take();
        check.judge_next(number, path, first.map_or_else(|| InputProgram::read(path), Ok))?;
        work.done(1);
        work.say(campaign.so_far());
        Ok(())
    });
    let retargeted = check.retargeted.into_inner();
    if !check.are_few && retargeted > 0 {
        note_retargeted(session, retargeted);
    }
    for line in check.definitions.into_inner().expect("a panic ends the program").conflicts() {
        session.events.judged(&harmless(&line));
    }
    let left_out = check.left_out.into_inner();
    check.conforming.contradict(&campaign.subjects);
    let outcome = campaign.end(ended)?;
    Ok(CampaignOutcome { left_out, ..outcome })
}

/// A check of many files while it runs.
struct FileCheck<'c> {
    campaign: &'c Campaign<'c>,
    /// Returns the file name of a program's valid counterpart; see [`FileCheckOptions::counterpart`].
    counterpart: fn(&str) -> Option<&str>,
    /// Whether each file gets a line, because there are at most [`MOST_LINES`].
    are_few: bool,
    /// Whether a file was skipped.
    left_out: AtomicBool,
    /// The number of files that were shown for another target.
    retargeted: AtomicU64,
    definitions: Mutex<Definitions>,
    conforming: ConformingFiles,
}

impl FileCheck<'_> {
    /// Judges a program, or reports that it could not be read.
    fn judge_next(
        &self,
        number: u64,
        path: &Path,
        program: Result<InputProgram, Failure>,
    ) -> Result<(), Failure> {
        let program = match program {
            Err(failure @ (Failure::BadInput(_) | Failure::Rendered(_))) => {
                self.left_out.store(true, Ordering::Relaxed);
                self.campaign.session.events.left_out(&failure);
                return Ok(());
            }
            program => program?,
        };
        if self.are_few {
            lock_of(&self.definitions).add(number, &program);
        }
        let has_other_target =
            |tested: &TestSubject| other_target(&program.module, tested.subject.description()).is_some();
        if self.campaign.subjects.iter().any(has_other_target) {
            self.retargeted.fetch_add(1, Ordering::Relaxed);
        }
        self.judge_file(number, path, program)
    }

    fn judge_file(&self, number: u64, path: &Path, program: InputProgram) -> Result<(), Failure> {
        let FileCheck { campaign, counterpart, are_few: show_all, .. } = *self;
        let InputProgram { text, module, name } = program;
        let header = Header::of_module(&module);
        let source = ProgramSource { path: path.to_string_lossy().into_owned(), text };
        let invalid = why_invalid(&module, &source.text, &campaign.session.rules());
        let locator = Locator::new(&source.path, &source.text, &module);
        let mut verdicts = Vec::new();
        for (index, tested) in campaign.subjects.iter().enumerate() {
            let judged = judge(&*tested.subject, &tested.rules, &module, &source.text).map_err(of_subject)?;
            let counterpart = counterpart(&source.text).and_then(|name| beside(path, name));
            let refusals = judged.refusals.clone();
            let plain = judged.data.len() + judged.undecided.len() + judged.computed.len();
            let counts = (judged.memory_operands.clone(), judged.computed_kernels.clone());
            let mut parts = beside_the_counterpart(by_form(judged), tested, counterpart.as_deref())?;
            for part in parts.iter_mut().filter(|part| part.derived.is_none()) {
                if let Verdict::Deviates(difference) = &part.verdict {
                    part.place = Some(Box::new(locator.place_of(difference)));
                }
            }
            self.conforming.keep(number, index, &source.text, &parts);
            let may_refuse = parts.iter().any(|part| part.requirement == Some(Requirement::Refuse));
            let is_refused = !refusals.is_empty() && !may_refuse;
            if show_all || parts.is_empty() || is_refused || !parts.iter().all(PartVerdict::is_compared) {
                let file = CheckedFile { name: &name, module: &module, invalid: invalid.as_deref() };
                let mut lines = lines(tested, &file, parts.split_at(plain), &refusals);
                if let (Some(counts), Some(line)) = (&counts.1, lines.first_mut()) {
                    *line += &computed(counts);
                }
                for line in lines {
                    campaign.session.events.judged(&harmless(&line));
                }
            }
            verdicts.push((tested, parts, counts));
        }
        // The ledger stores a program as a trial with its declarations only; `source` holds the rest. Consume the
        // module, so that a large program is not held twice.
        let trial = trial_made_of(number, module);
        for (index, (tested, parts, (memory_operands, computed_kernels))) in verdicts.into_iter().enumerate()
        {
            let (original, derived): (Vec<_>, Vec<_>) =
                parts.into_iter().partition(|part| part.derived.is_none());
            campaign.note_case(tested, &source, original.iter().map(|part| &part.verdict));
            let mut judged: Vec<TrialVerdict> =
                original.into_iter().map(|part| judged_part(part, number)).collect();
            // The counts are of the whole file, so attach them to one verdict.
            if let Some(first) = judged.first_mut() {
                first.memory_operands = memory_operands;
                first.computed_kernels = computed_kernels;
            }
            let trials =
                judged.into_iter().map(|judged| JudgedTrial { trial: &trial, header: &header, judged });
            campaign.enter(tested, trials, Some(&source))?;
            enter_derived(campaign, tested, derived, DERIVED | number << 8 | index as u64, &header, &source)?;
        }
        Ok(())
    }
}

/// Returns true if the file may hold kernels. Returns false for a pipe, which can be read only once.
fn may_have_kernels(file: &Path) -> bool {
    file.is_file() && read_text(file).is_ok_and(|(_, text)| has_kernels(&text))
}

fn note_retargeted(session: &Session, count: u64) {
    let files = if count == 1 { "1 file was" } else { &format!("{count} files were") };
    session.events.note(&format!("{files} shown for a later target, where a subject does not have its own"));
}

/// The most files that get a line each. With more files, only those with something not compared get one.
const MOST_LINES: usize = 20;

/// The names that each file defines for others. A linker would see the files together, but each is judged
/// alone.
#[derive(Default)]
struct Definitions(BTreeMap<u64, (String, BTreeSet<Text>)>);

impl Definitions {
    fn add(&mut self, number: u64, program: &InputProgram) {
        const VISIBLE: Specifier = Specifier::Linkage(Linkage::Visible);
        let mut names = BTreeSet::new();
        for item in &program.module.items {
            let defines = match item {
                Item::Variables(declaration) => declaration.specifiers.contains(&VISIBLE),
                Item::Function(function) => function.body.is_some() && function.before.contains(&VISIBLE),
                _ => false,
            };
            names.extend(item.declared().filter(|_| defines).map(|(name, _)| name.clone()));
        }
        self.0.insert(number, (program.name.clone(), names));
    }

    /// Returns a line for each pair of files that define the same names.
    fn conflicts(&self) -> Vec<String> {
        let files: Vec<_> = self.0.values().collect();
        let mut lines = Vec::new();
        for (index, (one, names)) in files.iter().enumerate() {
            for (other, other_names) in &files[index + 1..] {
                let shared: Vec<&str> = names.intersection(other_names).map(Text::as_str).collect();
                if !shared.is_empty() {
                    let shared = cut(&shared.join(", "), MOST_SAID).into_owned();
                    lines.push(format!("{one} and {other}: judged each alone; both define {shared}"));
                }
            }
        }
        lines
    }
}

/// Returns true if the source may hold kernels. Kernels are observed only if their code can be disassembled.
pub fn has_kernels(text: &str) -> bool {
    text.contains(".entry")
}

/// Records the verdicts on programs derived from a file, each as a program of its own.
fn enter_derived(
    campaign: &Campaign<'_>,
    tested: &TestSubject,
    parts: Vec<PartVerdict>,
    id: u64,
    header: &Header,
    source: &ProgramSource,
) -> Result<(), Failure> {
    for mut part in parts {
        let Some(derived) = part.derived.take() else { continue };
        let trial = trial_of(id, &derived.module);
        let source = ProgramSource { text: derived.text, ..source.clone() };
        let judged = JudgedTrial { trial: &trial, header, judged: part.judged(id) };
        campaign.enter(tested, [judged], Some(&source))?;
    }
    Ok(())
}

/// Turns the verdict on a part of a file into one on a trial.
fn judged_part(part: PartVerdict, number: u64) -> TrialVerdict {
    let excluded = ruled_out(&part.verdict);
    let mut judged = part.judged(number);
    judged.excluded.extend(excluded);
    judged.excluded.sort_unstable();
    judged.excluded.dedup();
    judged
}

/// Sorts the verdicts: those on the output form of the subject first, then those on relocatable output.
fn by_form(judged: ModuleVerdicts) -> Vec<PartVerdict> {
    let ModuleVerdicts { data, added, kernels, undecided, accesses, computed, .. } = judged;
    let plain = data.into_iter().chain(undecided).chain(computed);
    plain.chain(added).chain(kernels).chain(accesses).collect()
}

/// A file that is being judged.
struct CheckedFile<'f> {
    name: &'f str,
    module: &'f Module,
    /// The reason why the specification makes it invalid, if it does.
    invalid: Option<&'f str>,
}

/// Returns the line and the reason of the first violation of the specification: `line 4: a list where a
/// single value belongs (5.4.4/scalar-single-value)`.
fn why_invalid(module: &Module, text: &str, rules: &Rules) -> Option<String> {
    let Expectation::Refused { refusal, .. } = predict(module, rules).data else { return None };
    let line = Lines::new(text).line(refusal.span.start);
    Some(format!("line {line}: {} ({})", refusal.class.summary(), refusal.clause))
}

/// Formats the lines for a file and a subject: one for the subject's output form, and one for verdicts that
/// only relocatable output adds.
fn lines(
    tested: &TestSubject,
    file: &CheckedFile<'_>,
    (plain, added): (&[PartVerdict], &[PartVerdict]),
    refusals: &[Rejection],
) -> Vec<String> {
    let (subject, id) = (&tested.subject, tested.subject.id());
    let target = other_target(file.module, subject.description())
        .map_or_else(String::new, |(named, other)| format!(" for {other}, as it has no {named}"));
    if !subject.has_both_forms() {
        let parts = [plain, added].concat();
        return vec![summary(file, &format!("{id}{target}"), &parts, refusals.first())];
    }
    let executable = refusals.iter().find(|refusal| refusal.form == OutputForm::Executable);
    let relocatable = refusals.iter().find(|refusal| refusal.form == OutputForm::Relocatable);
    let is_alike = added.is_empty() && executable.is_some() == relocatable.is_some();
    let also = if is_alike { ", with and without -c" } else { "" };
    let mut lines = vec![summary(file, &format!("{id}{also}{target}"), plain, executable)];
    if !is_alike {
        lines.push(match (relocatable, added) {
            (Some(refusal), []) => format!("{}: {id} -c{target}: refused: {}", file.name, refusal.placed()),
            _ => summary(file, &format!("{id} -c{target}"), added, relocatable),
        });
    }
    lines
}

/// A flag in the trial number of a program derived from a file.
const DERIVED: u64 = 1 << 63;

/// The most characters of a diagnostic in such a line.
const MOST_SAID: usize = 300;

/// Summarizes in one line which parts of a file were compared and which were not.
fn summary(
    file: &CheckedFile<'_>,
    subject: &str,
    parts: &[PartVerdict],
    refusal: Option<&Rejection>,
) -> String {
    let variables = parts.iter().filter(|part| part.is_compared() && part.variable.is_some()).count();
    let others: Vec<&PartVerdict> =
        parts.iter().filter(|part| part.is_compared() && part.variable.is_none()).collect();
    let only_accepted = others.iter().all(|part| part.verdict == Verdict::ConformsByOutcome);
    let deviate = parts.iter().filter(|part| matches!(part.verdict, Verdict::Deviates(_))).count();
    let mut line = format!("{}: {subject}: ", file.name);
    line += &match (variables, others.len(), file.invalid) {
        (0, 0, None) => "nothing compared".to_owned(),
        (0, 0, Some(invalid)) => format!("nothing compared; refused by the specification: {invalid}"),
        (0, _, Some(invalid)) => format!("refused by the specification: {invalid}"),
        (0, _, None) if only_accepted => "accepted; 0 values compared".to_owned(),
        (0, _, None) => "compared as a whole".to_owned(),
        (variables, ..) => format!("{} compared", counted(variables, "variable")),
    };
    let accepts_invalid = parts.iter().any(|part| match &part.verdict {
        Verdict::Deviates(difference) => difference.class == Class::AcceptsInvalid,
        _ => false,
    });
    match (refusal, file.invalid) {
        (None, Some(_)) if accepts_invalid => line += "; the subject accepts it",
        _ if deviate > 0 => {
            line += &format!(", {} not as the specification says", counted(deviate, "answer"));
        }
        _ => {}
    }
    if let Some(refusal) = refusal {
        let too = if file.invalid.is_some() { "the subject refuses it, too" } else { "refused" };
        line += &format!("; {too}: {}", cut(&refusal.placed(), MOST_SAID));
    }
    let mut unexplained = 0;
    for part in parts.iter().filter(|part| !part.is_compared()) {
        match part.why.as_deref() {
            Some(why) => line += &format!("; not compared: {}", reason_line(why, subject, refusal)),
            None => unexplained += 1,
        }
    }
    if unexplained > 0 {
        line += &format!("; not compared: {}", counted(unexplained, "other part"));
    }
    line
}

/// Describes why a part was not compared. Omits the subject's message if it is that of the refusal.
fn reason_line(why: &WhyNotCompared, subject: &str, refusal: Option<&Rejection>) -> String {
    let WhyNotCompared { part, line, reason, detail, said } = why;
    let mut text = part.to_string();
    if let Some(line) = line {
        text += &format!(", line {line}");
    }
    text += &format!(": {reason}");
    if let Some(detail) = detail {
        text += &format!(": {detail}");
    }
    if let Some(said) = said
        && refusal.is_none_or(|refusal| refusal.said != *said && refusal.placed() != *said)
    {
        text += &format!(" ({subject} says: {})", cut(said, MOST_SAID));
    }
    text
}

/// Returns a count with its unit, in the plural if needed.
fn counted(count: usize, unit: &str) -> String {
    if count == 1 { format!("{count} {unit}") } else { format!("{count} {unit}s") }
}

/// Describes how many kernels had their results compared, and the reasons for the others.
fn computed(counts: &CodeCounts) -> String {
    let mut line = match counts.compared {
        0 => String::new(),
        count => {
            let kernels = if count == 1 { "kernel" } else { "kernels" };
            format!("; {count} {kernels} computed over {INPUTS} inputs")
        }
    };
    for (reason, count) in &counts.not_compared {
        line += &format!("; not computed: {count}: {}", cut(reason, MOST_SAID));
    }
    line
}

/// Returns the path of the PTX file `name` in the folder of `path`. Ignores names without the extension
/// `ptx`, because the file will be opened.
fn beside(path: &Path, name: &str) -> Option<PathBuf> {
    let is_ptx = Path::new(name).extension().is_some_and(|extension| extension == "ptx");
    Some(path.with_file_name(name)).filter(|path| is_ptx && path.is_file())
}

/// Checks the counterpart of a rejected invalid program, because the subject may have rejected it for another
/// reason. If the comments name a valid counterpart, as in the corpus, the rejection counts only if the
/// counterpart is accepted.
fn beside_the_counterpart(
    mut parts: Vec<PartVerdict>,
    tested: &TestSubject,
    counterpart: Option<&Path>,
) -> Result<Vec<PartVerdict>, Failure> {
    let Some(counterpart) = counterpart.filter(|_| parts.iter().any(is_rightly_refused)) else {
        return Ok(parts);
    };
    // If the counterpart is missing, judge the program as if it named none.
    let Ok(InputProgram { text, module, .. }) = InputProgram::read(counterpart) else {
        return Ok(parts);
    };
    let target = target_for(&module, tested.subject.description());
    let seen = tested.subject.observe(&Request::showing(&module, &text, &target)).map_err(of_subject)?;
    if seen.outcome != Observed::Accepted {
        for part in parts.iter_mut().filter(|part| is_rightly_refused(part)) {
            part.verdict = Verdict::NotCompared(NotCompared::CounterpartRefused);
        }
    }
    Ok(parts)
}

fn is_rightly_refused(part: &PartVerdict) -> bool {
    part.verdict == Verdict::Conforms && part.requirement == Some(Requirement::Refuse)
}

/// Returns the interpretations that a verdict excludes: the default one, if the subject follows another.
fn ruled_out(verdict: &Verdict) -> Vec<(Question, usize)> {
    let Verdict::Reads(difference) = verdict else { return Vec::new() };
    let followed = difference.explanation.iter().flat_map(|explanation| &explanation.readings);
    followed.map(|&(question, _)| (question, 0)).collect()
}

#[cfg(test)]
mod tests {
    use ptxsmith_diff::Difference;
    use ptxsmith_subject::Observation;

    use super::*;

    #[test]
    fn a_program_names_ptx_beside_itself_and_nothing_else() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        std::fs::create_dir(at("in")).unwrap();
        for name in ["other.ptx", "notes.txt", "in/valid.ptx"] {
            std::fs::write(at(name), "").unwrap();
        }
        let named = |name: &str| beside(&at("in/refused.ptx"), name);
        assert_eq!(named("valid.ptx"), Some(at("in/valid.ptx")));
        assert_eq!(named("../other.ptx"), Some(at("in/../other.ptx")));
        for name in ["../notes.txt", "/dev/zero", "-", ".", "..", "", "missing.ptx"] {
            assert_eq!(named(name), None, "{name}");
        }
    }

    fn part(variable: Option<&str>, verdict: Verdict, requirement: Option<Requirement>) -> PartVerdict {
        PartVerdict {
            variable: variable.map(Into::into),
            verdict,
            requirement,
            trace: Default::default(),
            operands: Default::default(),
            excluded: Vec::new(),
            why: None,
            derived: None,
            place: None,
        }
    }

    fn deviates(class: Class) -> Verdict {
        let (expected, observed) = (Default::default(), Observation::new(Observed::Accepted));
        Verdict::Deviates(Box::new(Difference::new(class, expected, observed)))
    }

    #[test]
    fn files_that_define_one_name_are_said_to_be_judged_alone() {
        const HEADER: &str = ".version 7.5\n.target sm_75\n.address_size 64\n";
        let told = |texts: &[&str]| {
            let mut definitions = Definitions::default();
            for (text, number) in texts.iter().zip(0..) {
                let program = InputProgram::parse(format!("f{number}"), format!("{HEADER}{text}\n")).unwrap();
                definitions.add(number, &program);
            }
            definitions.conflicts()
        };
        let one = ".visible .global .f32 duppi = 0f42053333;\n.visible .func duppf() { ret; }";
        let other = ".visible .global .align 8 .f64 duppi;\n.visible .func duppf() { ret; }\n.visible .entry \
                     k() { ret; }";
        assert_eq!(told(&[one, other]), ["f0 and f1: judged each alone; both define duppf, duppi"]);
        assert_eq!(told(&[one, ".visible .entry k() { ret; }", other]).len(), 2);
        // Names that only one file defines, or that are local to a file.
        let elsewhere = ".extern .global .f32 duppi;\n.extern .func duppf();\n.func k() { ret; }";
        assert_eq!(told(&[one, elsewhere, ".global .f32 duppi = 0f00000000;"]), [""; 0]);
    }

    #[test]
    fn a_line_counts_what_was_compared_and_says_why_the_rest_was_not() {
        let conforms = |variable| part(variable, Verdict::Conforms, None);
        let module = Module::default();
        let file = CheckedFile { name: "f", module: &module, invalid: None };
        let taken = || part(None, Verdict::ConformsByOutcome, Some(Requirement::Accept));
        let wrong = || part(Some("w"), deviates(Class::WrongValue), None);
        let silent = |variable| part(variable, Verdict::NotCompared(NotCompared::Unobserved), None);
        let because = |line, said: Option<&str>| {
            let said = said.map(str::to_owned);
            let (part, reason) = ("variable v".into(), "it hides".into());
            let why = WhyNotCompared { part, line, reason, detail: None, said };
            PartVerdict { why: Some(Box::new(why)), ..silent(Some("v")) }
        };
        for (parts, expected) in [
            (vec![], "nothing compared"),
            (vec![conforms(None)], "compared as a whole"),
            (vec![taken()], "accepted; 0 values compared"),
            (
                vec![taken(), because(Some(2), None)],
                "accepted; 0 values compared; not compared: variable v, line 2: it hides",
            ),
            (vec![taken(), conforms(None)], "compared as a whole"),
            (vec![conforms(Some("a"))], "1 variable compared"),
            (vec![conforms(Some("a")), conforms(Some("b")), conforms(None)], "2 variables compared"),
            (
                vec![conforms(Some("a")), wrong()],
                "2 variables compared, 1 answer not as the specification says",
            ),
            (vec![wrong(), wrong()], "2 variables compared, 2 answers not as the specification says"),
            (vec![silent(Some("a"))], "nothing compared; not compared: 1 other part"),
            (
                vec![conforms(None), silent(None), silent(None)],
                "compared as a whole; not compared: 2 other parts",
            ),
            (
                vec![conforms(Some("a")), because(None, None)],
                "1 variable compared; not compared: variable v: it hides",
            ),
            (
                vec![because(Some(7), Some("no")), silent(None)],
                "nothing compared; not compared: variable v, line 7: it hides (s says: no); not compared: 1 \
                 other part",
            ),
        ] {
            assert_eq!(summary(&file, "s", &parts, None), format!("f: s: {expected}"));
        }
        let refusal = Rejection { form: OutputForm::Executable, line: Some(5), said: "no".to_owned() };
        for said in ["no", "line 5: no"] {
            assert_eq!(
                summary(&file, "s", &[because(Some(7), Some(said))], Some(&refusal)),
                "f: s: nothing compared; refused: line 5: no; not compared: variable v, line 7: it hides"
            );
        }
        let long = summary(&file, "s", &[because(None, Some(&"x".repeat(2_000)))], None);
        assert!((300..400).contains(&long.len()), "{long}");
    }
}
