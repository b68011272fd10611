//! The kernels of the corpus (6.4), shown to ptxas 13.5 and read from its code without a device.
//!
//! What the oracle says of them is checked where the oracle is (`oracle/tests/corpus.rs`); here the code is
//! held against that. What was seen of each is listed in `docs/reference/operands-observed.md`;
//! `PTXSMITH_BLESS=1` writes that list anew. No expectation is in it.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use ptxsmith_diff::{
    Class, Difference, Header, Judge, JudgeOptions, NotCompared, Trial, TrialBody, TrialVerdict, Verdict,
};
use ptxsmith_oracle::{Interpretation, Rules};
use ptxsmith_subject::toolchain::Toolchains;
use ptxsmith_subject::{OpenOptions, Subject, open, parse_spec};
use ptxsmith_syntax::{FunctionKind, Item, Module};

const SUBJECT: &str = "ptxas@13.5";
const LIST: &str = "docs/reference/operands-observed.md";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The programs of section 6.4, with their names in the corpus, in order.
fn programs() -> Vec<(String, Module)> {
    let corpus = root().join("corpus");
    let mut paths = Vec::new();
    for folder in fs::read_dir(&corpus).expect("the corpus is there") {
        let folder = folder.expect("the corpus can be listed").path();
        if folder.file_name().is_some_and(|name| name.to_string_lossy().starts_with("6.4")) {
            let files = fs::read_dir(folder).expect("the corpus can be listed");
            paths.extend(files.map(|file| file.expect("the corpus can be listed").path()));
        }
    }
    paths.sort();
    let read = |path: PathBuf| {
        let text = fs::read_to_string(&path).expect("the corpus can be read");
        let name = path.strip_prefix(&corpus).unwrap().with_extension("").display().to_string();
        (name, ptxsmith_syntax::parse(&text).expect("the corpus parses"))
    };
    paths.into_iter().map(read).collect()
}

/// The subject, if it and what lists its code are installed.
fn subject() -> Option<Box<dyn Subject>> {
    let options = OpenOptions::default();
    let opened = open(&parse_spec(SUBJECT).expect("it is a subject"), &options);
    let mut opened = match opened {
        Ok(opened) => opened,
        Err(error) => {
            eprintln!("NOT TESTED: the corpus on {SUBJECT}: {error}");
            return None;
        }
    };
    let toolchains = Toolchains::for_user().ok();
    if ptxsmith_subject::sass::Disassembler::find(toolchains.as_ref(), &options.cancel).is_none() {
        eprintln!("NOT TESTED: the corpus on {SUBJECT}: no nvdisasm: ptxsmith toolchain install nvdisasm");
        return None;
    }
    Some(opened.remove(0))
}

fn judged(subject: &dyn Subject, module: &Module) -> TrialVerdict {
    assert!(
        module.functions().any(|f| f.kind == FunctionKind::Entry),
        "the programs of this section hold kernels"
    );
    let items = module.items.iter().filter(|item| matches!(item, Item::Variables(_) | Item::Function(_)));
    let trial = Trial::new(0, TrialBody::Items(items.cloned().collect()));
    let header = Header::of_module(module);
    let options = JudgeOptions { header, recheck_every: 0, launch: true, ..JudgeOptions::default() };
    let judge = Judge::new(subject, Rules::default(), options);
    judge.batch(&[trial]).expect("nothing of ours fails").remove(0)
}

/// What is known that explains a difference; `None` where it is new.
fn explained(difference: &Difference) -> Option<String> {
    let explanation = difference.explanation.as_ref()?;
    let readings =
        explanation.readings.iter().map(|&(question, answer)| Interpretation(question, answer).to_string());
    let known = explanation.known.iter().map(|&id| id.to_owned());
    Some(known.chain(readings).collect::<Vec<_>>().join(", "))
}

#[test]
fn ptxas_leaves_in_the_kernels_of_the_corpus_what_they_say_or_what_is_listed() {
    let Some(subject) = subject() else { return };
    let mut list = format!(
        "# The kernels of the corpus on {SUBJECT}\n\n\
         This page is for contributors: it lists what the code of {SUBJECT} for sm_80 shows of each kernel of the corpus,\n\
         without a device. *Seen* are scalars in output buffers, of those that the specification predicts.\n\n\
         `crates/diff/tests/corpus.rs` compares the list whenever it runs, and writes it with `PTXSMITH_BLESS=1`. The expected\n\
         values are in the programs.\n\n<!-- measured -->\n\
         | case | seen | |\n| --- | --- | --- |\n"
    );
    let (mut new, mut seen, mut compared) = (Vec::new(), 0, 0);
    let programs = programs();
    for (name, module) in &programs {
        let judged = judged(&*subject, module);
        let said = match &judged.verdict {
            Verdict::Conforms | Verdict::ConformsByOutcome => "conforms".to_owned(),
            Verdict::Reads(difference) => {
                format!("conforms, with {}", explained(difference).unwrap_or_default())
            }
            Verdict::Deviates(difference) => match explained(difference) {
                Some(known) => format!("{}: {known}", difference.class.name()),
                None => {
                    new.push((name.clone(), difference.class));
                    format!("{}, new", difference.class.name())
                }
            },
            Verdict::NotCompared(reason) => format!("not compared: {}", reason.name()),
        };
        compared += u32::from(!matches!(judged.verdict, Verdict::NotCompared(_)));
        seen += judged.operands.seen;
        let share = match judged.operands.total {
            0 => "–".to_owned(),
            total => format!("{} of {total}", judged.operands.seen),
        };
        let _ = writeln!(list, "| `{name}` | {share} | {said} |");
        assert_ne!(judged.verdict, Verdict::NotCompared(NotCompared::Unavailable), "{name}");
    }
    let _ = writeln!(list, "\n{compared} of {} compared, {seen} scalars seen.\n<!-- end -->", programs.len());
    assert!(programs.len() >= 50 && compared >= 40 && seen >= 55, "{list}");
    assert_eq!(new, Vec::<(String, Class)>::new(), "{list}");
    ptxsmith_testing::rendered(LIST, &list);
}
