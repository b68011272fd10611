//! `linkages`: measures which linkages can be linked with each other, by linker, and renders the table of
//! docs/reference/linkages.md.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::Result;

use crate::tools::{self, HEADER, MEASURED, command};

/// The linkers of the table, in order.
const LINKERS: [&str; 10] = [
    "nvlink@13.0",
    "nvlink@13.2",
    "nvlink@13.5",
    "nvjitlink@12.2",
    "nvjitlink@12.4",
    "nvjitlink@12.6",
    "nvjitlink@12.9",
    "nvjitlink@13.0",
    "nvjitlink@13.2",
    "nvjitlink@13.5",
];

/// A state space with the ways to declare a variable in it: the specifier, and whether there is an initial
/// value.
type Space = (&'static str, &'static [(&'static str, bool)]);

const SPACES: [Space; 3] = [
    (
        ".global",
        &[
            (".extern", false),
            (".visible", false),
            (".visible", true),
            (".weak", false),
            (".weak", true),
            (".common", false),
            (".common", true),
        ],
    ),
    (
        ".const",
        &[(".extern", false), (".visible", false), (".visible", true), (".weak", false), (".weak", true)],
    ),
    (".shared", &[(".extern", false), (".visible", false), (".weak", false)]),
];

/// Measures and renders the table.
pub fn run(check: bool) -> Result<u8> {
    let ptxsmith = tools::ptxsmith(false)?;
    let work = tempfile::tempdir()?;
    let mut tables = String::new();
    for (space, ways) in SPACES {
        let mut rows = Vec::new();
        for (place, first) in ways.iter().enumerate() {
            for second in &ways[place..] {
                let cells = cells(&ptxsmith, work.path(), space, [first, second])?;
                rows.push([vec![describe_way(*first), describe_way(*second)], cells].concat());
            }
        }
        tables += &format!("\n`{space}`:\n\n{}", table(rows));
    }
    let page = Path::new("docs/reference/linkages.md");
    let text = tools::rendered(page, MEASURED.0, MEASURED.1, &tables)?;
    tools::write_or_check(page, &text, check)
}

fn describe_way((specifier, has_value): (&str, bool)) -> String {
    if has_value { format!("`{specifier} =`") } else { format!("`{specifier}`") }
}

/// Returns the result of each linker for two modules that declare the same variable in these ways.
fn cells(ptxsmith: &Path, work: &Path, space: &str, ways: [&(&str, bool); 2]) -> Result<Vec<String>> {
    for (number, (specifier, has_value)) in (1..).zip(ways) {
        let value = if *has_value { format!(" = {number}") } else { String::new() };
        let module = format!(
            "{HEADER}{specifier} {space} .u32 x{value};\n.visible .entry k{number}(.param .u64 p) {{ .reg .u64 q; .reg .u32 r; \
             ld.param.u64 q, [p]; ld.volatile{space}.u32 r, [x]; st.global.u32 [q], r; ret; }}\n"
        );
        // There is no volatile load of constants, which never change.
        fs::write(work.join(format!("{number}.ptx")), module.replace("ld.volatile.const", "ld.const"))?;
    }
    let linkers = LINKERS.iter().flat_map(|linker| ["--subject", linker]);
    let output = tools::output_of(
        command(ptxsmith, ["check", "--link", "1.ptx", "2.ptx"]).args(linkers).current_dir(work),
    )?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut by_linker: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let mut linker = "";
    for line in text.lines() {
        if let Some((id, _)) = line.split_once(": linked in ")
            && LINKERS.contains(&id)
        {
            linker = id;
        }
        by_linker.entry(linker).or_default().push(line);
    }
    Ok(LINKERS.map(|linker| cell(by_linker.get(linker).map_or(&[][..], Vec::as_slice), ways)).to_vec())
}

/// Summarizes the output of `check --link` for one linker and both orders of the modules.
fn cell(lines: &[&str], ways: [&(&str, bool); 2]) -> String {
    if lines.is_empty() {
        return "not asked".to_owned();
    }
    match (result(lines, "1.ptx 2.ptx"), result(lines, "2.ptx 1.ptx")) {
        ("1", "2") => "the first".to_owned(),
        ("2", "1") => "the last".to_owned(),
        (forward, reversed) if forward == reversed => describe_result(forward, ways),
        (forward, reversed) => {
            format!("{}; reversed: {}", describe_result(forward, ways), describe_result(reversed, ways))
        }
    }
}

/// Returns the result for one order of the modules; `1` and `2` are the modules, by the definition that was
/// used.
fn result(lines: &[&str], order: &str) -> &'static str {
    let line = lines.iter().find(|line| line.starts_with("  ") && line.ends_with(&format!(" {order}")));
    match line.map(|line| line.trim()) {
        None => "linked",
        Some(line) if line.starts_with("x is that of 1") => "1",
        Some(line) if line.starts_with("x is that of 2") => "2",
        Some(line) if line.starts_with("refused") => "refused",
        Some(line) if line.starts_with("unsupported") => "not asked",
        Some(_) => "crash",
    }
}

fn describe_result(result: &str, ways: [&(&str, bool); 2]) -> String {
    match result {
        "1" => describe_way(*ways[0]),
        "2" => describe_way(*ways[1]),
        other => other.to_owned(),
    }
}

/// Formats rows of two declarations and a cell for each linker. Linkers with equal cells share a column.
fn table(rows: Vec<Vec<String>>) -> String {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for linker in 0..LINKERS.len() {
        let mut equal =
            groups.iter_mut().filter(|group| rows.iter().all(|row| row[2 + group[0]] == row[2 + linker]));
        match equal.next() {
            Some(group) => group.push(linker),
            None => groups.push(vec![linker]),
        }
    }
    let mut head = vec!["one module".to_owned(), "the other".to_owned()];
    for group in &groups {
        let names: Vec<&str> = group.iter().map(|&linker| LINKERS[linker]).collect();
        head.push(names.join(", "));
    }
    let mut grouped_rows = Vec::new();
    for row in rows {
        let mut grouped = row[..2].to_vec();
        grouped.extend(groups.iter().map(|group| row[2 + group[0]].clone()));
        grouped_rows.push(grouped);
    }
    tools::table(&head, &grouped_rows)
}
