//! Cases about operands as CUDA C++: the kernel of a case as the body of another, in inline assembly, a file a case.
//!
//! What compilers of CUDA C++ make of such a source is a PTX module of their own around our text. So a source is made only of a
//! case whose module can stand in the body of a kernel, and only where the specification says of what comes out, under headers of
//! two versions, just what the case's comments say: that it is taken, or refused and why.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use ptxsmith_oracle::verify_comments;
use ptxsmith_syntax::{Item, Module, StateSpace, print};

use crate::case::Case;

/// How the headers begin that compilers may write.
const HEADERS: [(&str, &str); 2] = [("7.8", "sm_80"), ("8.5", "sm_90")];

/// The comments that say nothing of the source: variables stand in a body there, where the specification's model does not follow
/// what they hold.
const LEFT_OUT: [&str; 4] = ["variable: ", "address: ", "kernel: ", "kernel-address: "];

/// What cases have to be about.
const SECTION: &str = "6.4";

/// The cases that can stand in CUDA C++, with their sources as their texts. A case that is refused is there only with its valid counterpart.
pub fn cases(cases: Vec<Case>) -> Vec<Case> {
    let mut all: Vec<Case> = cases.into_iter().filter_map(source_of).collect();
    let taken: BTreeSet<String> =
        all.iter().filter(|case| case.is_accepted()).map(|case| case.id.clone()).collect();
    all.retain(|case| {
        case.is_accepted() || case.counterpart.as_ref().is_some_and(|counterpart| taken.contains(counterpart))
    });
    all
}

/// A case as a source.
fn source_of(mut case: Case) -> Option<Case> {
    case.clauses.iter().any(|clause| clause.id().starts_with(SECTION)).then_some(())?;
    (case.is_accepted() || case.is_refused() && case.counterpart.is_some()).then_some(())?;
    let Kernel { name, parameter, lines } = Kernel::of(&case.module)?;
    let is_kept = |line: &&str| !LEFT_OUT.iter().any(|key| line.starts_with(&format!("// {key}")));
    let comments = case.text.lines().take_while(|line| line.starts_with("//")).filter(is_kept);
    let mut text = comments.fold(String::new(), |text, line| text + line + "\n");
    let taken = "// clause: 6.4.1/address-operand\n// expect: accepted\n".to_owned();
    for (version, target) in HEADERS {
        let emitted = emitted(&text, version, target, &name, parameter.as_deref(), &lines);
        verify_comments(&emitted, |_| Ok(taken.clone())).ok()?;
    }
    text = text.replace(".ptx\n", ".cu\n");
    text.push_str("#ifndef __global__\n#define __global__ __attribute__((global))\n#endif\n");
    let _ = writeln!(
        text,
        "extern \"C\" __global__ void {name}({}) {{",
        parameter.as_ref().map_or("", |_| "void *out")
    );
    text.push_str("  asm volatile(\"{\\n\\t\"\n");
    for line in &lines {
        // Only the operand of ours is one of C++.
        let line = line.replace('%', "%%").replace(OPERAND, "%0");
        let _ = writeln!(text, "               \"{line}\\n\\t\"");
    }
    let operands = if parameter.is_some() { " :: \"l\"(out) : \"memory\"" } else { " ::: \"memory\"" };
    let _ = writeln!(text, "               \"}}\"{operands});\n}}");
    case.text = text;
    Some(case)
}

/// What stands for the parameter's value: no character that occurs in PTX.
const OPERAND: char = '\u{1}';

/// What of a module can stand in a body.
struct Kernel {
    name: String,
    /// The only parameter, an address.
    parameter: Option<String>,
    lines: Vec<String>,
}

impl Kernel {
    /// The kernel of a module that has one, with at most one parameter that it reads once, and variables that may stand in a
    /// body: without linking directives, and not in `.const`.
    fn of(module: &Module) -> Option<Kernel> {
        (module.address_size() == Some(64)).then_some(())?;
        let (mut lines, mut kernel) = (Vec::new(), None);
        for item in &module.without_header().items {
            let text = print(&Module { items: vec![item.clone()] });
            match item {
                Item::Variables(declaration) => {
                    let space = declaration.space();
                    let may_stand = matches!(space, Some(StateSpace::Global | StateSpace::Shared));
                    (may_stand && text.trim_start().starts_with('.')).then_some(())?;
                    let is_linked =
                        [".extern", ".visible", ".weak", ".common"].iter().any(|word| text.contains(word));
                    (!is_linked).then_some(())?;
                    lines.extend(text.lines().map(|line| line.trim().to_owned()));
                }
                Item::Function(_) if kernel.is_none() => kernel = Some(text),
                _ => return None,
            }
        }
        let (head, body) = kernel.as_ref()?.split_once('{')?;
        let (name, parameters) = head.split_once(".entry")?.1.split_once('(')?;
        let parameters = parameters.trim_end().strip_suffix(')')?.trim();
        let parameter = match parameters {
            "" => None,
            one => Some(one.strip_prefix(".param")?.trim().strip_prefix(".u64")?.trim().to_owned()),
        };
        let is_name = |name: &str| name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        (is_name(name.trim()) && parameter.as_deref().is_none_or(is_name)).then_some(())?;
        let body = body.trim_end().strip_suffix('}')?.trim_end();
        let body = body.strip_suffix("ret;").unwrap_or(body);
        let mut reads = 0;
        for line in body.lines().map(str::trim).filter(|line| !line.is_empty()) {
            lines.push(match parameter.as_deref().and_then(|parameter| read_of(line, parameter)) {
                None => line.to_owned(),
                Some(register) => {
                    reads += 1;
                    format!("mov.u64 {register}, {OPERAND};")
                }
            });
        }
        // One that is used otherwise has no name in C++.
        let words = |line: &String| {
            let of = line.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
            of.filter(|word| Some(*word) == parameter.as_deref()).count()
        };
        let is_plain = |line: &String| {
            line.chars().all(|c| (' '..='~').contains(&c) && c != '"' && c != '\\' || c == OPERAND)
        };
        let fits = lines.iter().all(|line| is_plain(line) && words(line) == 0)
            && reads == usize::from(parameter.is_some());
        fits.then(|| Kernel { name: name.trim().to_owned(), parameter, lines })
    }
}

/// The register that a line reads the parameter into.
fn read_of<'l>(line: &'l str, parameter: &str) -> Option<&'l str> {
    let (register, from) = line.strip_prefix("ld.param.u64")?.strip_suffix(';')?.split_once(',')?;
    let name = from.trim().strip_prefix('[')?.strip_suffix(']')?.trim();
    (name == parameter).then_some(register.trim())
}

/// What a compiler emits for a source.
fn emitted(
    comments: &str,
    version: &str,
    target: &str,
    name: &str,
    parameter: Option<&str>,
    lines: &[String],
) -> String {
    let mut text = format!("{comments}.version {version}\n.target {target}\n.address_size 64\n");
    let declared = if parameter.is_some() { format!(".param .u64 {name}_param_0") } else { String::new() };
    let _ = writeln!(text, ".visible .entry {name}({declared})\n{{\n.reg .b64 %rd<2>;");
    if parameter.is_some() {
        let _ = writeln!(text, "ld.param.u64 %rd1, [{name}_param_0];");
    }
    text.push_str("{\n");
    for line in lines {
        let _ = writeln!(text, "{}", line.replace(OPERAND, "%rd1"));
    }
    text.push_str("}\nret;\n}\n");
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corpus;

    #[test]
    fn the_operand_cases_of_the_corpus_stand_in_cuda() {
        let all = corpus::cases().unwrap();
        let operands = all.iter().filter(|case| case.id.starts_with("6.4")).count();
        let made = cases(all);
        let refused = made.iter().filter(|case| case.is_refused()).count();
        assert!(made.len() * 3 > operands && refused > 5, "{} of {operands}, {refused} refused", made.len());
        let text = &made.iter().find(|case| case.id == "6.4.2/element-by-register-and-offset").unwrap().text;
        for part in [
            "// expect: accepted\n",
            "void k(void *out) {",
            ".global .u32 a[4]",
            "mov.u64 o, %0;",
            "ld.global.u32 r0, a[r1 + 2];",
            ":: \"l\"(out)",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert!(!text.contains("ret;") && !text.contains(".version"), "{text}");
    }

    #[test]
    fn what_cannot_stand_in_a_body_or_means_something_else_there_has_no_source() {
        let of = |program: &str| {
            Kernel::of(
                &ptxsmith_syntax::parse(&format!(".version 7.8\n.target sm_80\n.address_size 64\n{program}"))
                    .unwrap(),
            )
            .is_some()
        };
        assert!(of(".visible .entry k() { ret; }"));
        assert!(of(".global .u32 x; .entry k(.param .u64 p) { .reg .u64 a; ld.param.u64 a, [p]; ret; }"));
        for other in [
            ".const .u32 x = 1; .entry k() { ret; }",
            ".visible .global .u32 x; .entry k() { ret; }",
            ".entry k(.param .u32 p) { ret; }",
            ".entry k(.param .u64 p) { .reg .u64 a; mov.u64 a, p; ret; }",
            ".func f() { ret; } .entry k() { ret; }",
            ".global .u32 x;",
        ] {
            assert!(!of(other), "{other}");
        }
    }
}
