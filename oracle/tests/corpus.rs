//! Every program under `corpus/` says what it holds; the oracle must say the same.

mod annotations;

use std::{
    fs,
    path::{Path, PathBuf},
};

use annotations::{Annotations, Expected};
use ptxsmith_oracle::{
    Address, Clause, ClauseSet, Expectation, Kernel, Left, Observed, Question, Readings, Rules, Variable,
    execute, expect, hex,
};
use ptxsmith_syntax::Module;

/// All `.ptx` files below the corpus, in order.
fn files() -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("the corpus is there") {
            let path = entry.expect("the corpus can be listed").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "ptx") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

fn readings(annotations: &Annotations) -> Result<Readings, String> {
    annotations.readings.iter().try_fold(Readings::default(), |readings, (question, answer)| {
        let question = Question::from_name(question).ok_or_else(|| format!("no question {question}"))?;
        let at = question.answers().iter().position(|a| a == answer);
        at.and_then(|at| readings.with(question, at)).ok_or_else(|| format!("no answer {answer}"))
    })
}

fn describe(v: &Variable) -> String {
    let bytes = hex(&v.bytes);
    let mut lines = vec![format!("variable: {} size={} align={} bytes={bytes}", v.name, v.size, v.align)];
    lines.extend(v.addresses.iter().map(|a| {
        let byte = a.byte.map_or(String::new(), |byte| format!(" byte={byte}"));
        format!(
            "address: {} offset={} width={} symbol={} addend={} generic={}{byte}",
            v.name, a.offset, a.width, a.symbol, a.addend, a.generic
        )
    }));
    lines.join("\n")
}

/// What a kernel leaves, with `..` for each byte that is not known.
fn describe_kernel(kernel: &Kernel) -> Vec<String> {
    let name = &kernel.name;
    match &kernel.left {
        Left::Unmodelled(_) => vec![format!("kernel: {name} unmodelled")],
        Left::Output(output) => {
            let known = output.bytes.iter().zip(&output.known);
            let bytes: String =
                known.map(|(&byte, &known)| if known { hex(&[byte]) } else { "..".to_owned() }).collect();
            let address = |a: &Address| {
                format!(
                    "kernel-address: {name} offset={} width={} symbol={} addend={} generic={}",
                    a.offset, a.width, a.symbol, a.addend, a.generic
                )
            };
            let first = format!("kernel: {name} bytes={bytes}");
            [first].into_iter().chain(output.addresses.iter().map(address)).collect()
        }
    }
}

/// The kernels that a case speaks of leave what it says.
fn check_kernels(
    annotations: &Annotations,
    module: &Module,
    variables: &[Variable],
    rules: &Rules,
) -> Result<ClauseSet, String> {
    let kernels = execute(module, variables, rules);
    let mut used = ClauseSet::EMPTY;
    for kernel in &kernels {
        let said: Vec<&String> = (annotations.kernels.iter())
            .filter(|line| line.split(' ').nth(1) == Some(kernel.name.as_str()))
            .collect();
        if said.is_empty() {
            continue;
        }
        used = used.union(kernel.trace.clauses);
        let got = describe_kernel(kernel);
        if said.iter().copied().ne(&got) {
            return Err(format!("expected\n{said:#?}\ngot {:?}\n{got:#?}", kernel.left));
        }
    }
    let names = |line: &String| line.split(' ').nth(1).unwrap_or("").to_owned();
    match annotations.kernels.iter().map(names).find(|name| !kernels.iter().any(|k| k.name == *name)) {
        Some(name) => Err(format!("no kernel {name}")),
        None => Ok(used),
    }
}

fn check(path: &Path) -> Result<(), String> {
    let text = fs::read_to_string(path).map_err(|e| e.to_string())?;
    let annotations = Annotations::read(&text)?;
    for clause in &annotations.clauses {
        Clause::from_id(clause).ok_or_else(|| format!("no clause {clause}"))?;
    }
    if let Some(twin) = &annotations.twin {
        let twin = path.with_file_name(twin);
        let text = fs::read_to_string(&twin).map_err(|e| format!("twin {}: {e}", twin.display()))?;
        if Annotations::read(&text)?.expected != Expected::Accepted {
            return Err("the twin of a refused program is an accepted one".into());
        }
    }
    let module = ptxsmith_syntax::parse(&text).map_err(|e| e.render(&path.display().to_string(), &text))?;
    let expectation = expect(&module, &Rules::specification(readings(&annotations)?));
    match (&annotations.expected, &expectation) {
        (Expected::Accepted, Expectation::Accepted { variables, unmodelled, .. }) => {
            if let Some(one) = unmodelled.first() {
                return Err(format!("{} is unmodelled: {}", one.part, one.reason));
            }
            let mut got: Vec<String> = variables.iter().map(describe).collect();
            let mut said = annotations.variables.clone();
            got = got.join("\n").lines().map(str::to_owned).collect();
            got.sort();
            said.sort();
            if got != said {
                return Err(format!("expected\n{}\ngot\n{}", said.join("\n"), got.join("\n")));
            }
            let rules = Rules::specification(readings(&annotations)?);
            let executed = check_kernels(&annotations, &module, variables, &rules)?;
            let used = variables.iter().fold(executed, |set, v| set.union(v.trace.clauses));
            // What data cannot show (a refusal, in its twin; an instruction) is named for the reader only.
            let shown = |clause: Clause| {
                let in_kernel = !annotations.kernels.is_empty() && clause.observed() == Observed::Instruction;
                matches!(clause.observed(), Observed::Value | Observed::Layout | Observed::Address)
                    || in_kernel
            };
            named(&annotations, |clause| {
                let nothing = variables.is_empty() && annotations.kernels.is_empty();
                nothing || !shown(clause) || used.contains(clause)
            })
        }
        (Expected::Refused(class), Expectation::Refused { refusal, .. }) => {
            if refusal.class.name() != class {
                return Err(format!("refused as {}, expected {class}", refusal.class.name()));
            }
            if !annotations.clauses.iter().any(|id| id == refusal.clause.id()) {
                return Err(format!("refused by {}, which is not named", refusal.clause.id()));
            }
            Ok(())
        }
        (Expected::Unmodelled, Expectation::Unmodelled { .. }) => Ok(()),
        (Expected::Unmodelled, Expectation::Accepted { unmodelled, .. }) if !unmodelled.is_empty() => Ok(()),
        (expected, got) => Err(format!("expected {expected:?}, got {got:?}")),
    }
}

/// A case is about a clause only if the oracle used it.
fn named(annotations: &Annotations, used: impl Fn(Clause) -> bool) -> Result<(), String> {
    match annotations.clauses.iter().filter_map(|id| Clause::from_id(id)).find(|&clause| !used(clause)) {
        Some(clause) => Err(format!("the answer does not rest on {}", clause.id())),
        None => Ok(()),
    }
}

#[test]
fn every_program_of_the_corpus_holds_what_it_says() {
    let files = files();
    assert!(files.len() >= 150, "only {} programs in the corpus", files.len());
    let failures: Vec<String> = files
        .iter()
        .filter_map(|path| check(path).err().map(|error| format!("{}: {error}", path.display())))
        .collect();
    assert!(failures.is_empty(), "{} of {}:\n{}", failures.len(), files.len(), failures.join("\n\n"));
}
