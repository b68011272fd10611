//! The program of a finding as inline assembly of CUDA C++, where that is possible.

use std::fmt::Write as _;

use ptxsmith_syntax::{Item, Module, Specifier, StateSpace, parse, print};

use crate::{Finding, clauses};

/// A source that holds the program: `.global` variables without linking directives, and one kernel without parameters. Of
/// others there is no such source, since inline assembly stands in the body of a function.
pub fn cuda(title: &str, name: &str, finding: &Finding) -> Option<String> {
    // What differs in size or place is not seen from inside.
    if finding.class == "wrong-layout" {
        return None;
    }
    let module = parse(finding.example().program).ok()?.without_header();
    let mut lines: Vec<String> = Vec::new();
    let mut kernels = 0;
    for item in &module.items {
        let text = print(&Module { items: vec![item.clone()] });
        match item {
            Item::Variables(declaration) if text.trim_start().starts_with(".global") => {
                // Textures and their like stand at module scope only.
                let is_opaque = declaration.own().any(|word| matches!(word, Specifier::Opaque(_)));
                (declaration.space() == Some(StateSpace::Global) && !is_opaque).then_some(())?;
                lines.extend(text.lines().map(str::to_owned));
            }
            Item::Function(_) => {
                kernels += 1;
                let (head, body) = text.split_once('{')?;
                let is_plain = head.contains(".entry") && head.trim_end().ends_with("()");
                (kernels == 1 && is_plain).then_some(())?;
                let body = body.trim_end().strip_suffix('}')?.trim();
                let body = body.strip_suffix("ret;").unwrap_or(body).trim_end();
                lines.extend(body.lines().map(|line| line.trim().to_owned()));
            }
            _ => return None,
        }
    }
    lines.retain(|line| !line.is_empty());
    // Other characters would have to be escaped in more ways than one.
    let is_plain = |line: &String| line.chars().all(|c| (' '..='~').contains(&c) && c != '"' && c != '\\');
    (!lines.is_empty() && lines.iter().all(is_plain)).then_some(())?;
    let shown = finding.example().variable.filter(|_| kernels == 0);
    let size = shown.and_then(|name| finding.example().expected["variables"][name]["size"].as_u64());
    if let (Some(name), Some(_)) = (shown, size) {
        lines.push(format!("mov.u64 %0, {name};"));
        lines.push("cvta.global.u64 %0, %0;".to_owned());
    }
    let mut text = format!("// {title}\n//\n");
    let target = module_target(finding);
    let _ = writeln!(text, "// nvcc -arch={target} {name}.cu -o {name} && ./{name}");
    if let (Some(name), Some(_)) = (shown, size) {
        let expected = finding.example().expected["variables"][name]["bytes"].as_str();
        let seen = finding.example().observed.variables.get(name).and_then(|own| own.bytes.as_ref());
        // What an address comes to is decided when the program is loaded.
        let holds_addresses = finding.example().expected["variables"][name]["addresses"]
            .as_array()
            .is_some_and(|all| !all.is_empty());
        if let (Some(expected), Some(seen), false) = (expected, seen, holds_addresses) {
            let seen: String = seen.iter().map(|byte| format!("{byte:02x}")).collect();
            let _ = writeln!(text, "// It should print {expected}; the cubin holds {seen}.");
        }
    }
    let section = finding.clauses.first().and_then(|id| clauses::link(clauses::section(id)));
    if let Some(section) = section {
        let _ = writeln!(text, "// {section}");
    }
    text.push_str("\n#include <cstdio>\n\n__global__ void kernel() {\n");
    let output = match size {
        Some(_) => {
            text.push_str("  const unsigned char *bytes;\n");
            " : \"=l\"(bytes)"
        }
        None => " ::",
    };
    text.push_str("  asm volatile(\"{\\n\\t\"\n");
    for line in &lines {
        // What is a name in PTX is an operand in C++.
        let line = if line.contains("%0") { line.clone() } else { line.replace('%', "%%") };
        let _ = writeln!(text, "               \"{line}\\n\\t\"");
    }
    let _ = writeln!(text, "               \"}}\"{output});");
    if let Some(size) = size {
        let _ = writeln!(text, "  for (unsigned i = 0; i < {size}; ++i) printf(\"%02x\", bytes[i]);");
        text.push_str("  printf(\"\\n\");\n");
    }
    text.push_str("}\n\nint main() {\n  kernel<<<1, 1>>>();\n");
    text.push_str("  return cudaDeviceSynchronize() != cudaSuccess;\n}\n");
    Some(text)
}

fn module_target(finding: &Finding) -> String {
    crate::reproduce::Compiled::of(finding).target
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn of(program: &str, variable: Option<&str>) -> Option<String> {
        let finding = Finding {
            program: format!(".version 7.7\n.target sm_80\n.address_size 64\n{program}\n"),
            variable: variable.map(str::to_owned),
            expected: json!({"variables": {"x": {"size": 8}}}),
            ..Finding::default()
        };
        cuda("a title", "a", &finding)
    }

    #[test]
    fn a_variable_stands_in_a_kernel_that_prints_its_bytes() {
        let text = of(".global .s32 x[2] = {1};", Some("x")).unwrap();
        assert!(text.contains("\"mov.u64 %0, x;\\n\\t\"") && text.contains("i < 8;"), "{text}");
    }

    #[test]
    fn the_body_of_a_kernel_stands_in_another_one() {
        let text = of(".visible .entry k() { .reg .u32 r; mov.u32 r, %clock; ret; }", None).unwrap();
        assert!(text.contains("mov.u32 r, %%clock;") && !text.contains("ret;"), "{text}");
    }

    #[test]
    fn what_cannot_stand_in_a_body_has_no_source() {
        assert_eq!(of(".visible .global .u32 x;", None), None);
        assert_eq!(of(".const .u32 x = 1;", None), None);
        assert_eq!(of(".func f() { ret; }", None), None);
        assert_eq!(of(".visible .entry k(.param .u64 p) { ret; }", None), None);
    }
}
