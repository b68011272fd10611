//! Every program under `corpus/` says what it holds; the oracle must say the same.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use ptxsmith_oracle::{Clause, verify_comments};

/// All `.ptx` files below the corpus, in order.
fn files() -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("the corpus is there") {
            let path = entry.expect("the corpus can be listed").path();
            // Reproducers of known deviations are no cases.
            if path.is_dir() && !path.ends_with("deviations") {
                folders.push(path);
            } else if path.is_file() && path.extension().is_some_and(|e| e == "ptx") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

fn check(path: &Path) -> Result<(), String> {
    let text = fs::read_to_string(path).map_err(|error| error.to_string())?;
    verify_comments(&text, |counterpart| {
        fs::read_to_string(path.with_file_name(counterpart)).map_err(|error| error.to_string())
    })
}

#[test]
fn corpus_programs_match_their_annotations() {
    let files = files();
    assert!(files.len() >= 150, "only {} programs in the corpus", files.len());
    let failures: Vec<String> = files
        .iter()
        .filter_map(|path| check(path).err().map(|error| format!("{}: {error}", path.display())))
        .collect();
    assert!(failures.is_empty(), "{} of {}:\n{}", failures.len(), files.len(), failures.join("\n\n"));
}

/// What a case names, its rules have used: [`verify_comments`] says so.
#[test]
fn every_clause_that_data_can_show_has_a_case() {
    let texts: Vec<String> = files().iter().map(|path| fs::read_to_string(path).unwrap()).collect();
    let lines =
        texts.iter().flat_map(|text| text.lines()).filter_map(|line| line.strip_prefix("// clause: "));
    let named: BTreeSet<&str> = lines.flat_map(|line| line.split(", ")).collect();
    let shown = Clause::ALL.iter().filter(|clause| clause.observed().by_data());
    let missing: Vec<&str> = shown.map(|clause| clause.id()).filter(|id| !named.contains(id)).collect();
    assert!(missing.is_empty(), "write a case below corpus/, and `uses` where the rule is: {missing:?}");
}
