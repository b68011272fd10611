//! Judges programs that exist already, by the same rules as generated ones.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use ptxsmith_diff::{
    CodeCounts, Header, Judged, ModuleVerdicts, Must, NotCompared, Part, Refusal, Verdict, Why,
};
use ptxsmith_oracle::{Expectation, INPUTS, Question, Rules, predict};
use ptxsmith_report::harmless::{cut, line as harmless};
use ptxsmith_subject::{Outcome as Observed, OutputForm, Request, SubjectSpec};
use ptxsmith_syntax::{Item, Lines, Linkage, Module, Specifier, Text};

use crate::campaign::{Campaign, Outcome, Source};
use crate::failure::{Failure, of_subject};
use crate::input::{Program, read_text};
use crate::judges::{Entry, judge, trial_made_of, trial_of};
use crate::locate::Locator;
use crate::pool::{Budget, each};
use crate::session::Session;
use crate::store::Earlier;
use crate::subjects::{Tested, ensure_disassembler, open_subjects, other_target, target_for};

/// The options of a check.
pub struct Options {
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
pub fn check(session: &Session, options: Options) -> Result<Outcome, Failure> {
    let files = options.files;
    // Read a single file before opening or installing a subject for it.
    let first = match &files[..] {
        [only] => Some(Program::read(only)?),
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
    let earlier = if options.replace { Earlier::Replace } else { Earlier::RefuseResumable };
    let mut campaign = Campaign::new(session, "check", "variables", subjects, options.out, earlier)?;
    if options.by_case {
        campaign.report_by_case();
    }
    let campaign = campaign;
    let count = files.len() as u64;
    let budget = Budget { tasks: Some(count), units: Some(count), ..Budget::default() };
    let (left_out, retargeted) = (AtomicBool::new(false), AtomicU64::new(0));
    let definitions: Mutex<Definitions> = Mutex::default();
    let first = Mutex::new(first);
    let judge_next = |number: u64| {
        let read = first.lock().expect("a panic ends the program").take();
        match read.map_or_else(|| Program::read(&files[number as usize]), Ok) {
            Ok(program) => {
                if files.len() <= MOST_LINES {
                    let mut definitions = definitions.lock().expect("a panic ends the program");
                    definitions.add(number, &program);
                }
                let tell_all = files.len() <= MOST_LINES;
                let takes_target =
                    |tested: &Tested| other_target(&program.module, tested.subject.description()).is_none();
                if !campaign.subjects.iter().all(takes_target) {
                    retargeted.fetch_add(1, Ordering::Relaxed);
                }
                judge_file(&campaign, number, &files[number as usize], program, options.counterpart, tell_all)
            }
            Err(failure @ (Failure::BadInput(_) | Failure::Rendered(_))) => {
                left_out.store(true, Ordering::Relaxed);
                session.events.left_out(&failure);
                Ok(())
            }
            Err(failure) => Err(failure),
        }
    };
    let ended = each(session, budget, "files", |number, work| {
        judge_next(number)?;
        work.done(1);
        work.say(campaign.so_far());
        Ok(())
    });
    let retargeted = retargeted.into_inner();
    if files.len() > MOST_LINES && retargeted > 0 {
        note_retargeted(session, retargeted);
    }
    for line in definitions.into_inner().expect("a panic ends the program").told() {
        session.events.judged(&harmless(&line));
    }
    let outcome = campaign.end(ended)?;
    Ok(Outcome { left_out: left_out.into_inner(), ..outcome })
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

/// The names that each file defines for others. A linker would see the files together, but each is judged alone.
#[derive(Default)]
struct Definitions(BTreeMap<u64, (String, BTreeSet<Text>)>);

impl Definitions {
    fn add(&mut self, number: u64, program: &Program) {
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
    fn told(&self) -> Vec<String> {
        let files: Vec<_> = self.0.values().collect();
        let mut lines = Vec::new();
        for (nth, (one, names)) in files.iter().enumerate() {
            for (other, others) in &files[nth + 1..] {
                let shared: Vec<&str> = names.intersection(others).map(Text::as_str).collect();
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

fn judge_file(
    campaign: &Campaign<'_>,
    number: u64,
    path: &Path,
    program: Program,
    counterpart: fn(&str) -> Option<&str>,
    tell_all: bool,
) -> Result<(), Failure> {
    let Program { text, module, name } = program;
    let header = Header::of(&module);
    let source = Source { path: path.to_string_lossy().into_owned(), text };
    let invalid = why_invalid(&module, &source.text);
    let locator = Locator::new(&source.path, &source.text, &module);
    let mut verdicts = Vec::new();
    for tested in &campaign.subjects {
        let judged = judge(&*tested.subject, &module, &source.text).map_err(of_subject)?;
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
        let may_refuse = parts.iter().any(|part| part.must == Some(Must::Refuse));
        let is_refused = !refusals.is_empty() && !may_refuse;
        if tell_all || parts.is_empty() || is_refused || !parts.iter().all(Part::is_compared) {
            let file = About { name: &name, module: &module, invalid: invalid.as_deref() };
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
    // The ledger stores a program as a trial with its declarations only; `source` holds the rest. Consume the module, so
    // that a large program is not held twice.
    let trial = trial_made_of(number, module);
    for (nth, (tested, parts, (mut memory_operands, mut computed_kernels))) in
        verdicts.into_iter().enumerate()
    {
        let (own, derived): (Vec<_>, Vec<_>) = parts.into_iter().partition(|part| part.derived.is_none());
        campaign.note_case(tested, &source, own.iter().map(|part| &part.verdict));
        let entry = |part: Part| {
            let followed = ruled_out(&part.verdict);
            let (memory_operands, computed_kernels) = (memory_operands.take(), computed_kernels.take());
            let mut judged = Judged { memory_operands, computed_kernels, ..part.judged(number) };
            judged.excluded.extend(followed);
            judged.excluded.sort_unstable();
            judged.excluded.dedup();
            Entry { trial: &trial, header: &header, judged }
        };
        campaign.enter(tested, own.into_iter().map(entry), Some(&source))?;
        // A program derived from this one is recorded as a program of its own, with its own verdicts.
        for mut part in derived {
            let Some(derived) = part.derived.take() else { continue };
            let id = DERIVED | number << 8 | nth as u64;
            let trial = trial_of(id, &derived.module);
            let source = Source { text: derived.text, ..source.clone() };
            let entry = Entry { trial: &trial, header: &header, judged: part.judged(id) };
            campaign.enter(tested, [entry], Some(&source))?;
        }
    }
    Ok(())
}

/// Sorts the verdicts: those on the output form of the subject first, then those on relocatable output.
fn by_form(judged: ModuleVerdicts) -> Vec<Part> {
    let ModuleVerdicts { data, added, kernels, undecided, accesses, computed, .. } = judged;
    let plain = data.into_iter().chain(undecided).chain(computed);
    plain.chain(added).chain(kernels).chain(accesses).collect()
}

/// A file that is being judged.
struct About<'f> {
    name: &'f str,
    module: &'f Module,
    /// The reason why the specification makes it invalid, if it does.
    invalid: Option<&'f str>,
}

/// Returns the line and the reason of the first violation of the specification: `line 4: a list where a single value
/// belongs (5.4.4/scalar-single-value)`.
fn why_invalid(module: &Module, text: &str) -> Option<String> {
    let Expectation::Refused { refusal, .. } = predict(module, &Rules::default()).data else { return None };
    let line = Lines::new(text).line(refusal.span.start);
    Some(format!("line {line}: {} ({})", refusal.class.summary(), refusal.clause))
}

/// Formats the lines for a file and a subject: one for the subject's output form, and one for verdicts that only
/// relocatable output adds.
fn lines(
    tested: &Tested,
    file: &About<'_>,
    (plain, added): (&[Part], &[Part]),
    refusals: &[Refusal],
) -> Vec<String> {
    let (subject, id) = (&tested.subject, tested.subject.id());
    let target = other_target(file.module, subject.description())
        .map_or_else(String::new, |(own, other)| format!(" for {other}, as it has no {own}"));
    let refusal = |wanted| refusals.iter().find(|refusal| refusal.form == wanted);
    if !subject.has_both_forms() {
        let parts = [plain, added].concat();
        return vec![summed_up(file, &format!("{id}{target}"), &parts, refusals.first())];
    }
    let (as_named, relocatable) = (refusal(OutputForm::Executable), refusal(OutputForm::Relocatable));
    let is_alike = added.is_empty() && as_named.is_some() == relocatable.is_some();
    let also = if is_alike { ", also with -c" } else { "" };
    let mut lines = vec![summed_up(file, &format!("{id}{also}{target}"), plain, as_named)];
    if !is_alike {
        lines.push(match (relocatable, added) {
            (Some(refusal), []) => format!("{}: {id} -c{target}: refused: {}", file.name, refusal.placed()),
            _ => summed_up(file, &format!("{id} -c{target}"), added, relocatable),
        });
    }
    lines
}

/// Returns true if the verdict only shows that the subject accepts the program, without any value.
fn by_outcome(part: &Part) -> bool {
    part.verdict == Verdict::ConformsByOutcome
}

/// A flag in the trial number of a program derived from a file.
const DERIVED: u64 = 1 << 63;

/// The most characters of a diagnostic in such a line.
const MOST_SAID: usize = 300;

/// Summarizes in one line which parts of a file were compared and which were not.
fn summed_up(file: &About<'_>, subject: &str, parts: &[Part], refusal: Option<&Refusal>) -> String {
    let of = |holds: fn(&Part) -> bool| parts.iter().filter(|part| holds(part)).count();
    let variables = parts.iter().filter(|part| part.is_compared() && part.variable.is_some()).count();
    let others = parts.iter().filter(|part| part.is_compared() && part.variable.is_none());
    let taken = others.clone().all(by_outcome);
    let others = others.count();
    let deviate = of(|part| matches!(part.verdict, Verdict::Deviates(_)));
    let mut line = format!("{}: {subject}: ", file.name);
    let count =
        |count: usize, one: &str, many: &str| format!("{count} {}", if count == 1 { one } else { many });
    line += &match (variables, others, file.invalid) {
        (0, 0, None) => "nothing compared".to_owned(),
        (0, 0, Some(invalid)) => format!("nothing compared; refused by the specification: {invalid}"),
        (0, _, Some(invalid)) => format!("refused by the specification: {invalid}"),
        (0, _, None) if taken => "accepted; 0 values compared".to_owned(),
        (0, _, None) => "compared as a whole".to_owned(),
        (variables, ..) => format!("{} compared", count(variables, "variable", "variables")),
    };
    if deviate > 0 {
        line += &format!(", {} not as the specification says", count(deviate, "answer", "answers"));
    }
    if let Some(refusal) = refusal {
        line += &format!("; refused: {}", cut(&refusal.placed(), MOST_SAID));
    }
    let is_new =
        |said: &&String| refusal.is_none_or(|refusal| refusal.said != **said && refusal.placed() != **said);
    let mut left = 0;
    for part in parts.iter().filter(|part| !part.is_compared()) {
        let Some(Why { part, line: at, reason, detail, said }) = part.why.as_deref() else {
            left += 1;
            continue;
        };
        let at = at.map_or_else(String::new, |at| format!(", line {at}"));
        let said = said
            .as_ref()
            .filter(is_new)
            .map_or_else(String::new, |said| format!(" ({subject} says: {})", cut(said, MOST_SAID)));
        let detail = detail.as_ref().map_or_else(String::new, |detail| format!(": {detail}"));
        line += &format!("; not compared: {part}{at}: {reason}{detail}{said}");
    }
    if left > 0 {
        line += &format!("; not compared: {}", count(left, "other part", "other parts"));
    }
    line
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

/// Returns the path of the PTX file `name` in the folder of `path`. Ignores names without the extension `ptx`, because
/// the file will be opened.
fn beside(path: &Path, name: &str) -> Option<PathBuf> {
    let is_ptx = Path::new(name).extension().is_some_and(|extension| extension == "ptx");
    Some(path.with_file_name(name)).filter(|path| is_ptx && path.is_file())
}

/// Checks the counterpart of a rejected invalid program, because the subject may have rejected it for another reason. If
/// the comments name a valid counterpart, as in the corpus, the rejection counts only if the counterpart is accepted.
fn beside_the_counterpart(
    mut parts: Vec<Part>,
    tested: &Tested,
    counterpart: Option<&Path>,
) -> Result<Vec<Part>, Failure> {
    let refused = |part: &Part| part.verdict == Verdict::Conforms && part.must == Some(Must::Refuse);
    let Some(counterpart) = counterpart.filter(|_| parts.iter().any(refused)) else {
        return Ok(parts);
    };
    // If the counterpart is missing, judge the program as if it named none.
    let Ok(Program { text, module, .. }) = Program::read(counterpart) else {
        return Ok(parts);
    };
    let target = target_for(&module, tested.subject.description());
    let seen = tested.subject.observe(&Request::showing(&module, &text, &target)).map_err(of_subject)?;
    if seen.outcome != Observed::Accepted {
        for part in parts.iter_mut().filter(|part| refused(part)) {
            part.verdict = Verdict::NotCompared(NotCompared::CounterpartRefused);
        }
    }
    Ok(parts)
}

/// Returns the interpretations that a verdict excludes: the default one, if the subject follows another.
fn ruled_out(verdict: &Verdict) -> Vec<(Question, usize)> {
    let Verdict::Reads(difference) = verdict else { return Vec::new() };
    let followed = difference.explanation.iter().flat_map(|explanation| &explanation.readings);
    followed.map(|&(question, _)| (question, 0)).collect()
}

#[cfg(test)]
mod tests {
    use ptxsmith_diff::{Class, Difference};
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

    fn part(variable: Option<&str>, verdict: Verdict, must: Option<Must>) -> Part {
        Part {
            variable: variable.map(Into::into),
            verdict,
            must,
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
        Verdict::Deviates(Box::new(Difference::of(class, expected, observed)))
    }

    #[test]
    fn files_that_define_one_name_are_said_to_be_judged_alone() {
        const HEADER: &str = ".version 7.5\n.target sm_75\n.address_size 64\n";
        let told = |texts: &[&str]| {
            let mut definitions = Definitions::default();
            for (text, number) in texts.iter().zip(0..) {
                let program = Program::of(format!("f{number}"), format!("{HEADER}{text}\n")).unwrap();
                definitions.add(number, &program);
            }
            definitions.told()
        };
        let one = ".visible .global .f32 duppi = 0f42053333;\n.visible .func duppf() { ret; }";
        let other = ".visible .global .align 8 .f64 duppi;\n.visible .func duppf() { ret; }\n.visible .entry k() { ret; }";
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
        let file = About { name: "f", module: &module, invalid: None };
        let taken = || part(None, Verdict::ConformsByOutcome, Some(Must::Accept));
        let wrong = || part(Some("w"), deviates(Class::WrongValue), None);
        let silent = |variable| part(variable, Verdict::NotCompared(NotCompared::Unobserved), None);
        let because = |line, said: Option<&str>| {
            let said = said.map(str::to_owned);
            let (part, reason) = ("variable v".into(), "it hides".into());
            let why = Why { part, line, reason, detail: None, said };
            Part { why: Some(Box::new(why)), ..silent(Some("v")) }
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
                "nothing compared; not compared: variable v, line 7: it hides (s says: no); not compared: 1 other part",
            ),
        ] {
            assert_eq!(summed_up(&file, "s", &parts, None), format!("f: s: {expected}"));
        }
        let refusal = Refusal { form: OutputForm::Executable, line: Some(5), said: "no".to_owned() };
        assert_eq!(
            summed_up(&file, "s", &[because(Some(7), Some("no"))], Some(&refusal)),
            "f: s: nothing compared; refused: line 5: no; not compared: variable v, line 7: it hides"
        );
        assert_eq!(
            summed_up(&file, "s", &[because(Some(7), Some("line 5: no"))], Some(&refusal)),
            "f: s: nothing compared; refused: line 5: no; not compared: variable v, line 7: it hides"
        );
        let long = summed_up(&file, "s", &[because(None, Some(&"x".repeat(2_000)))], None);
        assert!((300..400).contains(&long.len()), "{long}");
    }
}
