//! `ptxsmith check --link` and `ptxsmith eval --link`: treat several modules as one program.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use ptxsmith_campaign::input::{self, InputProgram};
use ptxsmith_campaign::linking::open_linkers;
use ptxsmith_campaign::subjects::TestSubject;
use ptxsmith_diff::linking::{LinkDifference, LinkError, LinkVerdict, Modules, judge_linked};
use ptxsmith_oracle::linking::{self, ModuleDeclaration};
use ptxsmith_oracle::{Rules, Variable};
use ptxsmith_report::harmless::line;
use ptxsmith_subject::Outcome;
use ptxsmith_syntax::{Item, Linkage, Module, Specifier};

use super::eval::{bytes, bytes_of, slots};
use super::{CommandContext, given_answers};
use crate::args;
use crate::exit::{Exit, Failure};

/// Links the files in every order with each subject, and prints the deviations.
pub fn run(context: &CommandContext, args: &args::CheckArgs) -> Result<Exit, Failure> {
    let mut files = input::files(&args.paths)?;
    if let [first] = &files[..] {
        files.extend(named_modules(first)?);
    }
    if files.len() < 2 {
        let what = "--link takes two modules or more, or one whose leading comments name the others (// \
                    link: OTHER.ptx)";
        return Err(Failure::BadInput(what.to_owned()));
    }
    let programs = files.iter().map(|file| InputProgram::read(file)).collect::<Result<Vec<_>, _>>()?;
    let subjects =
        open_linkers(&context.session_of(&args.campaign)?, &args.campaign.subjects, args.campaign.timeout)?;
    let names: Vec<&str> = programs.iter().map(|program| program.name.as_str()).collect();
    let texts: Vec<String> = programs.iter().map(|program| program.text.clone()).collect();
    let modules: Vec<_> = programs.iter().map(|program| program.module.clone()).collect();
    let program = Modules::new(&texts, &modules);
    let mut deviates = false;
    let mut compared = 0;
    for tested in &subjects {
        let verdict = judge(tested, &program, &names)?;
        deviates |= !verdict.differences.is_empty();
        compared += verdict.compared;
        context.console.print(&text(tested, &verdict, &names))?;
    }
    Ok(match (deviates, compared) {
        (true, _) => Exit::Deviation,
        (false, 0) => Exit::NothingCompared,
        (false, _) => Exit::Success,
    })
}

/// Prints the variables of the linked program, according to the specification.
pub fn evaluate(context: &CommandContext, args: &args::EvalArgs) -> Result<Exit, Failure> {
    let rules = Rules::answered(given_answers(&args.interpretations)?);
    let files = std::iter::once(&args.file).chain(&args.link);
    let programs = files.map(|file| InputProgram::read(file)).collect::<Result<Vec<_>, _>>()?;
    let modules: Vec<Module> = programs.iter().map(|program| program.module.clone()).collect();
    let linked =
        linking::link(&modules, &rules).map_err(|place| refused_alone(&programs[place].name, "eval"))?;
    let name = |module: usize| line(&programs[module].name);
    let mut text = String::new();
    for (variable, declared) in &linked.shared {
        describe(&mut text, variable, declared, &name);
    }
    for (variable, declared) in &linked.local {
        describe(&mut text, variable, std::slice::from_ref(declared), &name);
    }
    for (module, variable, reason) in &linked.undecided {
        let what = variable.as_deref().unwrap_or("the module");
        let _ = writeln!(text, "{} of {}: unmodelled: {reason}\n", line(what), name(*module));
    }
    if let Some(contradiction) = linked.contradiction() {
        let _ = writeln!(text, "the specification does not say what is linked: {contradiction}\n");
    }
    context.console.print(&format!("{}\n", text.trim_end()))?;
    Ok(Exit::Success)
}

/// Describes a variable: its declarations, and every content that the specification allows.
fn describe<'n>(
    text: &mut String,
    name: &str,
    declared: &[ModuleDeclaration],
    file: &impl Fn(usize) -> Cow<'n, str>,
) {
    let size = declared.iter().map(|declaration| declaration.size).max().unwrap_or(0);
    let align = declared.iter().map(|declaration| declaration.align).max().unwrap_or(1);
    let space = declared.first().map_or("", |declaration| declaration.space.name());
    let _ = writeln!(text, "{}: .{space}, {}, aligned to {align}", line(name), bytes_of(size));
    for declaration in declared {
        let linkage =
            declaration.linkage.map_or("its module's own".to_owned(), |linkage| linkage.keyword().to_owned());
        let _ = writeln!(
            text,
            "  declared {linkage} in {}, aligned to {}",
            file(declaration.module),
            declaration.align
        );
    }
    let mut contents: Vec<(&Variable, Vec<Cow<'n, str>>)> = Vec::new();
    for declaration in declared {
        let Some(content) = &declaration.content else { continue };
        let mut earlier = contents.iter_mut();
        let same =
            earlier.find(|(other, _)| other.bytes == content.bytes && other.addresses == content.addresses);
        match same {
            Some((_, files)) => files.push(file(declaration.module)),
            None => contents.push((content, vec![file(declaration.module)])),
        }
    }
    for (place, (content, files)) in contents.iter().enumerate() {
        let heading = if place == 0 { "bytes   " } else { "or      " };
        let _ = writeln!(text, "  {heading} {} ({})", bytes(&content.bytes), files.join(", "));
        for (slot, address) in slots(content).iter().zip(&content.addresses) {
            let width = bytes_of(u64::from(address.width));
            let _ = writeln!(text, "  address  offset {}, {width}: {}", slot.offset, line(&slot.text));
        }
    }
    text.push('\n');
}

fn refused_alone(name: &str, command: &str) -> Failure {
    Failure::BadInput(format!(
        "{}: the specification refuses this module alone: {command} it without --link",
        line(name)
    ))
}

/// Returns the modules that the leading comments of a module name (`// link: OTHER.ptx`). They must be in the
/// same directory.
fn named_modules(first: &Path) -> Result<Vec<PathBuf>, Failure> {
    let (_, text) = input::read_text(first)?;
    let comments = text.lines().take_while(|line| line.starts_with("//"));
    let mut modules = Vec::new();
    for name in comments.filter_map(|line| line.strip_prefix("// link:")).map(str::trim) {
        if Path::new(name).file_name().is_none_or(|plain| plain != name) {
            return Err(Failure::BadInput(format!(
                "{}: `// link: {}` names no file beside it",
                line(&first.to_string_lossy()),
                line(name)
            )));
        }
        modules.push(first.with_file_name(name));
    }
    Ok(modules)
}

/// The maximum number of files that are searched for variables shared between them.
const MOST_FILES: usize = 64;

/// Notes that files are checked separately, if one file declares a variable that another file defines.
pub fn note_what_is_shared(context: &CommandContext, files: &[PathBuf]) {
    if !(2..=MOST_FILES).contains(&files.len()) {
        return;
    }
    let programs: Vec<InputProgram> = files.iter().filter_map(|file| InputProgram::read(file).ok()).collect();
    let Some((name, declares, defines)) = shared_name(&programs) else { return };
    context.console.note(&format!(
        "{} declares `{}`, which {} defines; each file is judged alone: --link judges them as one program",
        line(declares),
        line(name),
        line(defines)
    ));
}

/// Finds a name that one program declares as `.extern` and another defines. Returns the name and both
/// programs' names.
fn shared_name(programs: &[InputProgram]) -> Option<(&str, &str, &str)> {
    let mut defined = BTreeMap::new();
    for program in programs {
        for (name, linkage) in names(program) {
            if linkage != Linkage::Extern {
                defined.entry(name).or_insert(program.name.as_str());
            }
        }
    }
    programs.iter().find_map(|program| {
        let mut declared = names(program).filter(|(_, linkage)| *linkage == Linkage::Extern);
        declared.find_map(|(name, _)| Some((name, program.name.as_str(), *defined.get(name)?)))
    })
}

/// Returns the variables and functions of a program that are visible to other modules.
fn names(program: &InputProgram) -> impl Iterator<Item = (&str, Linkage)> {
    program.module.items.iter().flat_map(|item| match item {
        Item::Variables(declaration) => {
            let linkage = declaration.linkage().next();
            let names = declaration.declarators.iter().map(|declarator| declarator.name.text.as_str());
            names.filter_map(|name| Some((name, linkage?))).collect::<Vec<_>>()
        }
        Item::Function(function) => {
            let linkages = function.before.iter().filter_map(|specifier| match specifier {
                Specifier::Linkage(linkage) => Some(*linkage),
                _ => None,
            });
            linkages.map(|linkage| (function.name.text.as_str(), linkage)).collect()
        }
        _ => Vec::new(),
    })
}

fn judge(tested: &TestSubject, program: &Modules<'_>, names: &[&str]) -> Result<LinkVerdict, Failure> {
    judge_linked(tested.subject.as_ref(), program, &tested.rules).map_err(|error| match error {
        LinkError::Refused(place) => refused_alone(names[place], "check"),
        LinkError::Subject(error) if error.is_cancelled() => Failure::Interrupted,
        LinkError::Subject(error) => Failure::Harness(error.into()),
    })
}

/// Formats the verdict on one subject as text.
fn text(tested: &TestSubject, verdict: &LinkVerdict, names: &[&str]) -> String {
    let names: Vec<String> = names.iter().map(|name| line(name).into_owned()).collect();
    let mut text = String::new();
    for (number, (difference, way)) in verdict.differences.iter().enumerate() {
        let LinkDifference { class, name, clauses, expected, actual, .. } = difference;
        let about = if name.is_empty() { "the program".to_owned() } else { format!("`{}`", line(name)) };
        let _ = writeln!(text, "{}. {}: {about}, linked as {}", number + 1, class.name(), way.text(&names));
        for clause in clauses {
            let _ = writeln!(text, "    clause    {} ({})", clause.id(), clause.summary());
        }
        let _ = writeln!(text, "    expected  {}\n    actual    {}\n", line(expected), line(actual));
    }
    let deviations = match verdict.differences.len() {
        1 => "1 deviation".to_owned(),
        count => format!("{count} deviations"),
    };
    let linked = verdict.outcomes.iter().filter(|(_, outcome)| *outcome == Outcome::Accepted).count();
    let _ = writeln!(
        text,
        "{}: linked in {linked} of {} ways; {} variables compared, {deviations}",
        line(tested.subject.id()),
        verdict.outcomes.len(),
        verdict.compared,
    );
    for (way, outcome) in verdict.outcomes.iter().filter(|(_, outcome)| *outcome != Outcome::Accepted) {
        let _ = writeln!(text, "  {outcome}: {}", way.text(&names));
    }
    for (reason, count) in &verdict.not_compared {
        let _ = writeln!(text, "  not compared: {count} {}", line(reason));
    }
    for (name, chosen) in &verdict.chosen {
        for (way, module) in chosen {
            let _ = writeln!(text, "  {} is that of {} in {}", line(name), names[*module], way.text(&names));
        }
    }
    text
}
