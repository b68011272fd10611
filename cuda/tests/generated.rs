//! The checker against the oracle, on generated uses: two judgements that share no code.

use std::collections::BTreeMap;
use std::fs;

use ptxsmith_cuda::check::{Finding, Options, check, find_clang};
use ptxsmith_cuda::generate::Generator;
use ptxsmith_cuda::language::{Case, print};
use ptxsmith_cuda::oracle::{is_clear, judge};
use ptxsmith_cuda::reading::Readings;

#[test]
fn clear_uses_are_judged_as_the_oracle_judges_them_and_host_code_is_left_alone() {
    let Ok(clang) = find_clang() else {
        eprintln!("NOT TESTED: the checker on generated uses: clang is not in PATH");
        return;
    };
    let generator = Generator::new(11);
    // A part of the table, and draws.
    let table = (0..Generator::table_len()).step_by(20);
    let draws = Generator::table_len()..Generator::table_len() + 700;
    let cases: Vec<Case> = table.chain(draws).map(|id| generator.case(id)).collect();
    let printed: Vec<_> = cases.iter().map(print).collect();
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("generated.cu");
    fs::write(&file, printed.iter().map(|printed| printed.line.clone() + "\n").collect::<String>()).unwrap();
    let report = check(&file, &Options::new(clang)).unwrap();
    assert!(report.is_analysed);

    let mut by_line: BTreeMap<u32, Vec<&Finding>> = BTreeMap::new();
    for finding in &report.findings {
        by_line.entry(finding.line).or_default().push(finding);
    }
    let (mut clear, mut right, mut misses) = (0, 0, Vec::new());
    for (index, (case, printed)) in cases.iter().zip(&printed).enumerate() {
        let found = by_line.get(&(index as u32 + 1)).map_or(&[][..], |found| &found[..]);
        if case.place.is_host() && !printed.line.contains("__device__") {
            assert!(found.is_empty(), "{}: {found:?}", printed.line);
        }
        let verdict = judge(case, Readings::default()).verdict;
        if verdict.refuses().is_none() || !is_clear(case, Readings::default()) {
            continue;
        }
        clear += 1;
        let is_right = match (verdict.primary(), found) {
            (None, []) => true,
            (Some(key), [only]) => only.keys[0] == key && only.column as usize == printed.column,
            _ => false,
        };
        if is_right {
            right += 1;
        } else {
            misses.push(format!("{verdict:?} {found:?}\n  {}", printed.line));
        }
    }
    assert!(clear > 1000, "{clear}");
    let rate = f64::from(right) / f64::from(clear);
    println!("{right} of {clear} clear uses right: {:.2} %", 100.0 * rate);
    assert!(rate >= 0.98 && misses.is_empty(), "{rate}:\n{}", misses.join("\n"));
}
