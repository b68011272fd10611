//! Help texts, and the commands that inspect the machine.

use crate::common::*;
use ptxsmith_subject::SubjectSpec;

#[test]
fn every_command_has_help_with_an_example() {
    for command in ["run", "check", "eval", "gen", "subjects", "toolchain", "toolchain install"] {
        let output = ptxsmith().args(command.split(' ')).arg("--help").output().unwrap();
        assert_eq!(status(&output), 0);
        assert!(
            stdout(&output).contains("\n  ptxsmith ") || stdout(&output).contains("$(ptxsmith "),
            "{command}"
        );
    }
}

#[test]
fn every_form_of_subject_is_listed_with_why_it_is_not_available() {
    let output = ptxsmith().args(["subjects", "--json"]).env("PATH", "").output().unwrap();
    assert_eq!(status(&output), 0);
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let subjects = json["subjects"].as_array().unwrap();
    let named: Vec<&str> = subjects.iter().map(|subject| subject["subject"].as_str().unwrap()).collect();
    // The releases of ptxas are listed by `ptxas@all`.
    let forms = SubjectSpec::FORMS.iter().map(|form| form.form).filter(|form| *form != "ptxas@RELEASE");
    let forms: Vec<&str> = forms.collect();
    assert_eq!(named.len(), forms.len(), "{named:?}");
    for (name, form) in named.iter().zip(forms) {
        let filled = form.find(['@', ':']).map_or(form.len(), |at| at + 1);
        assert!(name.starts_with(&form[..filled]), "{name} is no {form}");
    }
    assert!(subjects.iter().all(|subject| subject["available"] == true || subject["reason"].is_string()));
}

#[test]
fn a_named_subject_is_described() {
    let output =
        ptxsmith().args(["subjects", "--json", "--subject", &oracle_as_subject(&[])]).output().unwrap();
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json["subjects"][0]["available"], true);
    assert_eq!(json["subjects"][0]["sha256"].as_str().unwrap().len(), 64);
}

#[test]
fn releases_are_listed_and_a_missing_one_is_told() {
    let output = ptxsmith().args(["toolchain", "list"]).output().unwrap();
    assert_eq!(status(&output), 0);
    assert!(stdout(&output).contains("13.5.37") && stdout(&output).contains("11.7.99"));
    let json = ptxsmith().args(["toolchain", "list", "--json"]).output().unwrap();
    let json: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
    let tools: Vec<&str> =
        json["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    for kind in ["cuobjdump@", "nvdisasm@", "nvjitlink@", "ptxjit@", "cicc@", "nvcc@"] {
        assert!(tools.iter().any(|tool| tool.starts_with(kind)), "{kind}");
        assert!(stdout(&output).contains(kind), "{kind}");
    }
    let output = ptxsmith().args(["toolchain", "path", "13.5"]).output().unwrap();
    assert!(
        one_line_error(&output).contains("release 13.5 is not installed; ptxsmith toolchain install 13.5")
    );
}

#[test]
fn an_installation_without_python_is_a_failure_of_this_machine() {
    let cache = tempfile::tempdir().unwrap();
    let mut command = ptxsmith();
    let output = command
        .args(["toolchain", "install", "13.5"])
        .env("PTXSMITH_CACHE", cache.path())
        .env("PATH", "/nonexistent")
        .output()
        .unwrap();
    assert_eq!(status(&output), 4);
    assert!(stderr(&output).starts_with("error: "), "{}", stderr(&output));
}

#[test]
fn a_file_names_subjects_and_options() {
    let directory = tempfile::tempdir().unwrap();
    let text = format!("[subjects]\nmine = \"{}\"\n[subjects-typo]\n", oracle_as_subject(&[]));
    let path = file(directory.path(), "a.toml", &text.replace("[subjects-typo]\n", ""));
    let list = |config: &std::path::Path| {
        ptxsmith().args(["subjects", "--json", "--subject", "mine", "--config"]).arg(config).output().unwrap()
    };
    let output = list(&path);
    assert_eq!(status(&output), 0, "{}", stderr(&output));
    assert!(stdout(&output).contains("\"available\": true"));
    let wrong = list(&file(directory.path(), "b.toml", &text));
    assert_eq!(status(&wrong), 2);
    assert!(stderr(&wrong).contains("unknown section [subjects-typo]"), "{}", stderr(&wrong));
    assert_eq!(status(&list(std::path::Path::new("/nonexistent.toml"))), 2);
}
