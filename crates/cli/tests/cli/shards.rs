//! Divided campaigns: shards that are merged, and a campaign that is killed and resumed.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::common::*;

/// Creates a subject that follows the specification under another interpretation, except for some bytes. It
/// is slow while a file `slow` exists beside it.
fn wrong_subject(directory: &Path) -> String {
    let ptxsmith = assert_cmd::cargo::cargo_bin!("ptxsmith").display();
    let slow = directory.join("slow");
    let slow = slow.display();
    script(
        directory,
        &format!(
            "[ ! -e {slow} ] || sleep 0.02\n\
             {ptxsmith} eval --json --reading shift-count=modulo \"$1\" | sed 's/\\(\"bytes\": \"\\)01/\\102/'"
        ),
    )
}

/// Enough for three tasks: of seven shards, four have no case.
const CASES: &str = "1000";

/// A directory in which all campaigns write to the same relative path, because a report names its own files.
struct Place {
    directory: tempfile::TempDir,
    subject: String,
}

impl Place {
    fn new() -> Place {
        let directory = tempfile::tempdir().unwrap();
        let subject = wrong_subject(directory.path());
        Place { directory, subject }
    }

    fn run(&self, out: &str, more: &[&str]) -> assert_cmd::Command {
        let mut command = ptxsmith();
        command.current_dir(self.directory.path());
        command.args(["run", "--cases", CASES, "--reduce", "0s", "--subject", &self.subject, "--out", out]);
        command.args(more);
        command
    }

    fn merge(&self, shards: &[String], out: &str, more: &[&str]) -> assert_cmd::Command {
        let mut command = ptxsmith();
        command.current_dir(self.directory.path()).arg("merge").args(shards).args(["--out", out]).args(more);
        command
    }

    /// Returns all files of a campaign without time-dependent data, and moves the folder away.
    fn result(&self, out: &str) -> Vec<(PathBuf, String)> {
        let from = self.directory.path().join(out);
        let mut files = Vec::new();
        let mut add = |path: PathBuf| {
            let name = path.strip_prefix(&from).unwrap().to_owned();
            files.push((name, std::fs::read_to_string(&path).unwrap()));
        };
        add(from.join("report.json"));
        add(from.join("verdicts.jsonl"));
        let findings = std::fs::read_dir(from.join("findings")).unwrap();
        findings.for_each(|entry| add(entry.unwrap().path()));
        files.sort();
        std::fs::remove_dir_all(&from).unwrap();
        files
    }
}

#[test]
fn shards_merge_to_the_bytes_of_the_undivided_campaign() {
    let place = Place::new();
    let whole = place.run("out", &[]).output().unwrap();
    assert_eq!(status(&whole), 1, "{}{}", stdout(&whole), stderr(&whole));
    let whole = place.result("out");
    assert!(whole.len() > 4, "there are findings: {whole:?}");
    for of in [1, 2, 7] {
        let mut shards = Vec::new();
        for number in 1..=of {
            let out = format!("shard-{of}-{number}");
            let output = place.run(&out, &["--shard", &format!("{number}/{of}")]).output().unwrap();
            // A shard without any case compares nothing.
            assert!([0, 1, 3].contains(&status(&output)), "{}{}", stdout(&output), stderr(&output));
            shards.push(out);
        }
        let merged = place.merge(&shards, "out", &[]).output().unwrap();
        assert_eq!(status(&merged), 1, "{of}: {}", stderr(&merged));
        assert!(place.result("out") == whole, "{of} shards give something else");
    }
}

#[test]
fn shards_that_do_not_belong_together_are_refused_by_name() {
    let place = Place::new();
    for (out, arguments) in [
        ("one", &["--shard", "1/3"][..]),
        ("two", &["--shard", "2/3"]),
        ("seed", &["--shard", "3/3", "--seed", "9"]),
        ("other", &["--shard", "1/2"]),
    ] {
        place.run(out, arguments).output().unwrap();
    }
    let refused = |shards: &[&str]| {
        let shards: Vec<String> = shards.iter().map(|&shard| shard.to_owned()).collect();
        one_line_error(&place.merge(&shards, "out", &[]).output().unwrap())
    };
    let missing = refused(&["one", "two"]);
    assert!(missing.contains("missing: 3/3"), "{missing}");
    let doubled = refused(&["one", "two", "one"]);
    assert!(doubled.contains("both shard 1/3"), "{doubled}");
    let seed = refused(&["one", "two", "seed"]);
    assert!(seed.contains("their seed is `0` and `9`"), "{seed}");
    let count = refused(&["one", "other"]);
    assert!(count.contains("number of shards is `3` and `2`"), "{count}");
    let none = refused(&["nothing"]);
    assert!(none.contains("nothing holds no campaign"), "{none}");

    let partial = ["one".to_owned(), "two".to_owned()];
    let output = place.merge(&partial, "out", &["--partial"]).output().unwrap();
    assert!(stderr(&output).contains("missing: 3/3"), "{}", stderr(&output));
    let report = std::fs::read_to_string(place.directory.path().join("out/report.json")).unwrap();
    assert!(report.contains("\"complete\": false"), "{report}");
}

#[test]
fn a_campaign_killed_at_any_moment_goes_on_to_the_undisturbed_result() {
    let place = Place::new();
    place.run("out", &[]).output().unwrap();
    let whole = place.result("out");
    let slow = place.directory.path().join("slow");
    std::fs::write(&slow, "").unwrap();
    // Returns the number of tasks saved by an unfinished campaign.
    let saved = || {
        let state = std::fs::read(place.directory.path().join("out/state.json")).ok()?;
        let state: serde_json::Value =
            serde_json::from_slice(&state).expect("a state is whole whenever it is looked at");
        let also = state["done"]["also"].as_array().map_or(0, Vec::len) as u64;
        (state["complete"] == false).then(|| state["done"]["before"].as_u64().unwrap() + also)
    };
    // Kill it before anything is saved, then with more saved each time.
    for wanted in [0, 0, 1, 2] {
        let mut child = Command::new(assert_cmd::cargo::cargo_bin!("ptxsmith"))
            .current_dir(place.directory.path())
            .args(["run", "--cases", CASES, "--reduce", "0s", "--subject", &place.subject, "--out", "out"])
            .arg("--resume")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_millis(40));
        while saved().unwrap_or(0) < wanted {
            assert!(child.try_wait().unwrap().is_none(), "it was over before {wanted} tasks were saved");
            std::thread::sleep(Duration::from_millis(5));
        }
        child.kill().unwrap();
        child.wait().unwrap();
    }
    std::fs::remove_file(slow).unwrap();
    // Files that remain if a campaign is killed while it writes.
    for place_of in ["out", "out/findings"] {
        std::fs::write(place.directory.path().join(place_of).join(".writing-AbCdEf"), "half").unwrap();
    }
    let output = place.run("out", &["--resume"]).output().unwrap();
    assert_eq!(status(&output), 1, "{}{}", stdout(&output), stderr(&output));
    let resumed = place.result("out");
    for (before, after) in whole.iter().zip(&resumed) {
        assert!(before == after, "{} and {} differ", before.0.display(), after.0.display());
    }
    assert_eq!(whole.len(), resumed.len());
}

#[test]
fn what_a_shard_says_of_itself_is_checked_before_it_is_used() {
    let place = Place::new();
    place.run("one", &["--shard", "1/2"]).output().unwrap();
    let at = |name: &str| place.directory.path().join("one").join(name);
    let whole = std::fs::read_to_string(at("state.json")).unwrap();
    let merged = || one_line_error(&place.merge(&["one".to_owned()], "out", &[]).output().unwrap());
    let most = u64::MAX;
    for (before, after, expected) in [
        (r#""of":2"#, r#""of":1000000000"#.to_owned(), "missing: 2/1000000000 to 1000000000/1000000000"),
        (r#""of":2"#, format!(r#""of":{most}"#), "missing: 2/18446744073709551615 to"),
        (r#""of":2"#, r#""of":0"#.to_owned(), "there is no shard 1/0"),
        (r#""number":1"#, r#""number":3"#.to_owned(), "there is no shard 3/2"),
        (r#""compared":"#, r#""compared":9999999999999"#.to_owned(), "is more than any campaign can count"),
        (r#""also":["#, r#""also":[1,"#.to_owned(), "task 1 is none that shard 1/2 has still to enter"),
    ] {
        let hostile = whole.replacen(before, &after, 1);
        assert!(hostile != whole, "{before}");
        std::fs::write(at("state.json"), hostile.replace(",]", "]")).unwrap();
        let message = merged();
        assert!(message.contains(expected), "{after}: {message}");
    }
    std::fs::write(at("state.json"), &whole).unwrap();
    // A link may lead anywhere, and a device has no end.
    for name in ["verdicts.jsonl", "state.json"] {
        std::fs::remove_file(at(name)).unwrap();
        std::os::unix::fs::symlink("/dev/zero", at(name)).unwrap();
        let output = place.merge(&["one".to_owned()], "out", &["--partial"]).output().unwrap();
        assert!(
            one_line_error_of_last(&output).contains("is a link, which is not followed"),
            "{}",
            stderr(&output)
        );
    }
}

/// Asserts the exit status of bad input, and returns the last line of the messages.
fn one_line_error_of_last(output: &std::process::Output) -> String {
    assert_eq!(status(output), 2, "{}", stderr(output));
    stderr(output).lines().last().unwrap_or_default().to_owned()
}

#[test]
fn another_campaign_is_not_gone_on_with() {
    let place = Place::new();
    place.run("out", &[]).output().unwrap();
    let message = one_line_error(&place.run("out", &["--resume", "--seed", "5"]).output().unwrap());
    assert!(message.contains("(seed `0`, here "), "{message}");
}

#[test]
fn the_environment_of_a_cluster_says_the_shard() {
    let place = Place::new();
    let mut command = place.run("out", &[]);
    command
        .env("SLURM_ARRAY_TASK_ID", "5")
        .env("SLURM_ARRAY_TASK_MIN", "4")
        .env("SLURM_ARRAY_TASK_COUNT", "3");
    command.output().unwrap();
    let state = std::fs::read_to_string(place.directory.path().join("out/state.json")).unwrap();
    assert!(state.contains(r#""shard":{"number":2,"of":3}"#), "{}", &state[..300]);
    let mut command = place.run("other", &[]);
    command.env("JOB_COMPLETION_INDEX", "7").env("PTXSMITH_SHARDS", "3");
    let message = one_line_error(&command.output().unwrap());
    assert!(message.contains("JOB_COMPLETION_INDEX is 7"), "{message}");
}
