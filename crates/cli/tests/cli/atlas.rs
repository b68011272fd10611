//! `atlas`: campaigns as static pages.

use std::fs;
use std::path::{Path, PathBuf};

use crate::common::*;
use serde_json::Value;

/// Runs `check --by-case` on a conforming and a deviating program, with the oracle as subject.
fn campaign(directory: &Path, faults: &[&str]) -> PathBuf {
    let cases = directory.join("cases/4.5.5");
    fs::create_dir_all(&cases).unwrap();
    for (name, declaration) in
        [("plain", ".global .u32 x = 6 / 2;"), ("remainder", ".global .s64 x = -7 % 3;")]
    {
        let text = format!("// clause: 4.5.5/division\n{}", module(declaration));
        fs::write(cases.join(format!("{name}.ptx")), text).unwrap();
    }
    let out = directory.join("campaign");
    let mut command = ptxsmith();
    command.current_dir(directory).args([
        "check",
        "cases",
        "--by-case",
        "--quiet",
        "--subject",
        &oracle_as_subject(faults),
    ]);
    let output = command.arg("--out").arg(&out).output().unwrap();
    assert!(status(&output) <= 1, "{}", stderr(&output));
    out
}

fn json(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

#[test]
fn each_clause_and_each_program_has_a_page_with_json_and_an_address_that_stays() {
    let directory = tempfile::tempdir().unwrap();
    let campaign = campaign(directory.path(), &[]);
    let out = directory.path().join("atlas");
    let atlas =
        || ptxsmith().arg("atlas").arg(&campaign).arg("--out").arg(&out).arg("--replace").output().unwrap();
    let output = atlas();
    assert_eq!(status(&output), 0, "{}", stderr(&output));
    let index = json(&out.join("index.json"));
    assert_eq!(index["schema"], "ptxsmith.atlas/1");
    let clauses = index["clauses"].as_array().unwrap();
    assert!(clauses.len() > 100 && clauses.iter().any(|clause| clause["standings"] == "c"));
    for part in ["clauses", "forms"] {
        for line in index[part].as_array().unwrap() {
            let page = out.join(line["page"].as_str().unwrap());
            assert!(page.is_file() && page.with_extension("json").is_file(), "{line}");
        }
    }
    let form = json(&out.join("forms/4.5.5.json"));
    let cells: Vec<&str> =
        form["cells"].as_array().unwrap().iter().map(|cell| cell["name"].as_str().unwrap()).collect();
    assert_eq!(cells, ["plain", "remainder"]);
    let page = fs::read_to_string(out.join("forms/4.5.5.html")).unwrap();
    assert!(
        page.contains("id=\"plain\"") && page.contains("= 6 / 2;") && page.contains("ptxsmith check x.ptx")
    );
    // The page of a clause links to the programs that name the clause.
    let clause = fs::read_to_string(out.join("clauses/4.5.5-division.html")).unwrap();
    assert!(clause.contains("../forms/4.5.5.html#remainder"), "{clause}");
    // An atlas of the same campaign is identical, byte for byte.
    let before = fs::read(out.join("index.html")).unwrap();
    fs::write(out.join("forms/of-before.html"), "").unwrap();
    assert_eq!(status(&atlas()), 0);
    assert_eq!(fs::read(out.join("index.html")).unwrap(), before);
    assert!(!out.join("forms/of-before.html").exists());
}

#[test]
fn what_is_no_atlas_is_not_touched_and_what_does_not_go_together_makes_none() {
    let directory = tempfile::tempdir().unwrap();
    let campaign = campaign(directory.path(), &[]);
    let out = directory.path().join("mine");
    fs::create_dir_all(&out).unwrap();
    fs::write(out.join("thesis.txt"), "years").unwrap();
    let output =
        ptxsmith().arg("atlas").arg(&campaign).arg("--out").arg(&out).arg("--replace").output().unwrap();
    assert_eq!(status(&output), 2, "{}", stderr(&output));
    assert!(stderr(&output).contains("holds no atlas"), "{}", stderr(&output));
    assert_eq!(fs::read_dir(&out).unwrap().count(), 1);

    // A second campaign with the same subject, but another hash.
    let other = directory.path().join("other");
    fs::create_dir_all(&other).unwrap();
    let text = fs::read_to_string(campaign.join("report.json")).unwrap();
    let mut report: Value = serde_json::from_str(&text).unwrap();
    report["subjects"][0]["sha256"] = "0".repeat(64).into();
    fs::write(other.join("report.json"), report.to_string()).unwrap();
    let output = ptxsmith()
        .arg("atlas")
        .args([&campaign, &other])
        .arg("--out")
        .arg(directory.path().join("new"))
        .output()
        .unwrap();
    assert_eq!(status(&output), 2);
    assert!(stderr(&output).contains("two campaigns tested different programs as"), "{}", stderr(&output));
    assert!(!directory.path().join("new").exists());
}

#[test]
fn texts_of_a_hostile_report_stay_texts_and_names_of_files_stay_inside() {
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().join("atlas");
    let hostile = Path::new(env!("CARGO_MANIFEST_DIR")).join("../report/tests/campaign");
    let output = ptxsmith().arg("atlas").arg(hostile).arg("--out").arg(&out).output().unwrap();
    assert_eq!(status(&output), 0, "{}", stderr(&output));
    let mut pages = 0;
    for entry in
        ["", "clauses", "forms", "deviations"].iter().flat_map(|part| fs::read_dir(out.join(part)).unwrap())
    {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "html") {
            let text = fs::read_to_string(&path).unwrap();
            assert!(!text.contains("<script") && !text.contains("<img"), "{}", path.display());
            pages += 1;
        }
    }
    assert!(pages > 100);
    let outside: Vec<_> =
        fs::read_dir(directory.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(outside, ["atlas"]);
}

#[test]
fn programs_of_generated_cases_have_no_names() {
    let directory = tempfile::tempdir().unwrap();
    let output = ptxsmith()
        .args(["run", "--by-case", "--cases", "1", "--out"])
        .arg(directory.path().join("o"))
        .output()
        .unwrap();
    assert_eq!(status(&output), 2);
    assert!(stderr(&output).contains("--focus places"), "{}", stderr(&output));
}
