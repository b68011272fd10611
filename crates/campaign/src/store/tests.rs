//! Tests the saved state of a campaign, and the rejection of invalid states.

use super::*;

#[test]
fn every_task_falls_to_exactly_one_shard() {
    for of in [1, 2, 7, 64] {
        for task in 0..200 {
            let shards = (1..=of).filter(|&number| Shard { number, of }.contains(task)).count();
            assert_eq!(shards, 1, "{task} of {of}");
        }
    }
}

#[test]
fn done_tasks_are_remembered_in_any_order_and_little_space() {
    let shard = Shard { number: 2, of: 3 };
    let mut done = FinishedTasks::default();
    for task in [4, 10, 1, 7] {
        assert!(!done.contains(task), "{task}");
        done.insert(task, shard);
        assert!(done.contains(task), "{task}");
    }
    assert!(done.also.is_empty(), "{done:?}");
    assert!(!done.contains(13));
    done.insert(16, shard);
    assert!(done.contains(16) && !done.contains(13));
}

#[test]
fn a_directory_has_one_campaign_at_a_time() {
    let directory = tempfile::tempdir().unwrap();
    let lock = Lock::take(directory.path()).unwrap();
    let Err(Failure::BadInput(message)) = Lock::take(directory.path()) else { panic!("two at once") };
    assert!(message.contains("another campaign"), "{message}");
    drop(lock);
    assert!(Lock::take(directory.path()).is_ok());
}

#[test]
fn a_half_written_line_of_verdicts_is_dropped_and_so_is_what_was_not_saved() {
    let directory = tempfile::tempdir().unwrap();
    let line = |task| serde_json::to_string(&VerdictLine { task, ..VerdictLine::default() }).unwrap();
    let text = format!("{}\n{}\n{{\"task\": 2, \"sub", line(0), line(1));
    std::fs::write(directory.path().join(VERDICTS), text).unwrap();
    let mut done = FinishedTasks::default();
    done.insert(0, Shard::ALL);
    let mut verdicts = Verdicts::open(directory.path(), &done).unwrap();
    verdicts.add(&[VerdictLine { task: 1, subject: "again".into(), ..VerdictLine::default() }]).unwrap();
    let lines = std::fs::read_to_string(directory.path().join(VERDICTS)).unwrap();
    let tasks: Vec<u64> =
        lines.lines().map(|line| serde_json::from_str::<VerdictLine>(line).unwrap().task).collect();
    assert_eq!(tasks, [0, 1]);
    assert!(lines.contains("again"));
}

#[test]
fn what_differs_between_two_campaigns_is_named() {
    let one = Identity {
        ptxsmith: "0.1.0".into(),
        build: "b".into(),
        command: "run".into(),
        seed: 1,
        options: BTreeMap::from([("focus".into(), "mixed".into())]),
        subjects: vec!["ptxas@13.5".into()],
    };
    assert_eq!(one.difference(&one.clone()), None);
    let other = Identity { options: BTreeMap::new(), ..one.clone() };
    assert_eq!(one.difference(&other), Some(("focus".into(), "mixed".into(), String::new())));
    let other = Identity { seed: 2, ..one.clone() };
    assert_eq!(one.difference(&other).unwrap().0, "seed");
}

/// Returns the message if the failure is an error of the user.
fn told<T>(result: Result<T, Failure>) -> Option<String> {
    match result {
        Ok(_) => None,
        Err(Failure::BadInput(message)) => Some(message),
        Err(other) => panic!("{other:?}"),
    }
}

fn state(shard: Shard) -> CampaignState {
    let identity = Identity { subjects: vec!["s -".to_owned()], ..Identity::default() };
    let mut state = CampaignState::new(identity, shard, &Coverage::new());
    let description = Description { id: "s".to_owned(), ..Description::default() };
    state.subjects = vec![SubjectState { description, profile: None, ledger: Ledger::default() }];
    state
}

#[test]
fn a_state_that_contradicts_itself_is_told_what_does_not_fit() {
    let whole = Shard::ALL;
    let (none, second, beyond) =
        (Shard { number: 0, of: 2 }, Shard { number: 2, of: 3 }, Shard { number: 3, of: 2 });
    type Change = fn(&mut CampaignState);
    let rows: [(Shard, Change, Option<&str>); 20] = [
        (whole, |_| {}, None),
        (second, |_| {}, None),
        (none, |_| {}, Some("there is no shard 0/2")),
        (beyond, |_| {}, Some("there is no shard 3/2")),
        // Tasks of the second of three shards are 1, 4, 7, 10.
        (second, |of| of.done.also = [4, 7].into(), None),
        (second, |of| of.done = FinishedTasks { before: 4, also: [4].into() }, None),
        (second, |of| of.done.also = [4, 6].into(), Some("task 6 is none that shard 2/3 has still to enter")),
        (
            second,
            |of| of.done = FinishedTasks { before: 5, also: [4].into() },
            Some("task 4 is none that shard 2/3 has still to enter"),
        ),
        (whole, |of| of.done.before = MOST_CASES, None),
        (
            whole,
            |of| of.done.before = MOST_CASES + 1,
            Some("1125899906842625 is more than any campaign can count"),
        ),
        (whole, |of| of.subjects[0].ledger.unsorted = MOST_CASES, None),
        (
            whole,
            |of| of.subjects[0].ledger.unsorted = MOST_CASES + 2,
            Some("1125899906842626 is more than any campaign can count"),
        ),
        (whole, |of| *of.productions.entry("integer/add".into()).or_default() = MOST_CASES, None),
        (
            whole,
            |of| *of.productions.entry("integer/add".into()).or_default() = u64::MAX,
            Some("18446744073709551615 is more than any campaign can count"),
        ),
        (whole, |of| of.subjects.clear(), None),
        (whole, |of| of.identity.subjects.push("t -".into()), None),
        (whole, |of| of.identity.subjects.clear(), Some("there are more ledgers than subjects")),
        (whole, |of| of.subjects[0].ledger.compared = 3, None),
        (whole, |of| (of.subjects[0].ledger.compared, of.subjects[0].ledger.conform) = (3, 3), None),
        (
            whole,
            |of| (of.subjects[0].ledger.compared, of.subjects[0].ledger.conform) = (3, 4),
            Some("of s 4 conform, and 3 were compared"),
        ),
    ];
    for (row, (shard, change, contradiction)) in rows.into_iter().enumerate() {
        let mut state = state(shard);
        change(&mut state);
        assert_eq!(state.contradiction().as_deref(), contradiction, "row {row}");
        let directory = tempfile::tempdir().unwrap();
        state.write(directory.path()).unwrap();
        let message = told(CampaignState::read(directory.path()));
        assert_eq!(message.is_some(), contradiction.is_some(), "row {row}: {message:?}");
        if let (Some(message), Some(contradiction)) = (message, contradiction) {
            assert!(message.ends_with(&format!("contradicts itself: {contradiction}")), "{message}");
        }
    }
}

#[test]
fn a_state_is_read_as_it_was_written_and_nothing_else_is_taken_for_one() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    assert!(CampaignState::read(path).unwrap().is_none());
    let mut state = state(Shard { number: 2, of: 3 });
    (state.complete, state.wide, state.rest) = (true, true, Some(PartialTask { task: 4, from: 1_000 }));
    state.write(path).unwrap();
    let read = CampaignState::read(path).unwrap().unwrap();
    assert_eq!(serde_json::to_value(&read).unwrap(), serde_json::to_value(&state).unwrap());
    assert_eq!((read.shard.to_string(), read.rest), ("2/3".to_owned(), state.rest));

    let text = std::fs::read_to_string(path.join(STATE)).unwrap();
    std::fs::write(path.join(STATE), text.replace(SCHEMA, "ptxsmith.state/0")).unwrap();
    assert!(told(CampaignState::read(path)).unwrap().ends_with("is of another version of ptxsmith"));
    std::fs::write(path.join(STATE), &text[1..]).unwrap();
    assert!(
        told(CampaignState::read(path)).unwrap().contains("is not what a campaign of this version keeps")
    );
    // A path below a file is an error, too.
    assert!(told(CampaignState::read(&path.join(STATE))).unwrap().starts_with("cannot read "));
    std::fs::remove_file(path.join(STATE)).unwrap();
    std::fs::create_dir(path.join(STATE)).unwrap();
    assert!(told(CampaignState::read(path)).unwrap().ends_with("is no regular file"));
}

#[test]
fn what_becomes_of_an_earlier_campaign_depends_on_what_is_left_of_it() {
    let (resumable, whole) = (Some("--resume goes on with it"), Some("already; give another --out"));
    let of_run = Some("holds a campaign of `ptxsmith run`");
    let not_resumable = Some("cannot be continued");
    // The files, and the message for each treatment: refuse, refuse if resumable, resume.
    for (files, refuse, refuse_resumable, resume) in [
        (&[][..], None, None, None),
        (&[VERDICTS], None, None, None),
        (&[STATE], resumable, of_run, None),
        (&[folder::MANIFEST], resumable, None, None),
        (&[folder::REPORT], whole, None, not_resumable),
        (&[STATE, folder::MANIFEST], resumable, of_run, None),
        (&[STATE, folder::REPORT], resumable, of_run, None),
        (&[folder::MANIFEST, folder::REPORT], whole, None, not_resumable),
        (&[STATE, folder::MANIFEST, folder::REPORT], resumable, of_run, None),
    ] {
        for (earlier, expected) in [
            (ExistingCampaign::Refuse, refuse),
            (ExistingCampaign::RefuseResumable, refuse_resumable),
            (ExistingCampaign::Resume, resume),
            (ExistingCampaign::Share, None),
            (ExistingCampaign::Replace, None),
        ] {
            let directory = tempfile::tempdir().unwrap();
            let path = directory.path();
            let findings = path.join(folder::FINDINGS);
            std::fs::create_dir(&findings).unwrap();
            let [program, other] = ["wrong-value.ptx", "mine.ptx"].map(|name| findings.join(name));
            let files = files.iter().map(|name| path.join(name)).chain([program.clone(), other.clone()]);
            let files: Vec<PathBuf> = files.collect();
            files.iter().for_each(|file| std::fs::write(file, "").unwrap());
            std::fs::write(program, crate::files::provenance("seed 1")).unwrap();
            let message = told(earlier.settle(path));
            match (&message, expected) {
                (Some(message), Some(expected)) => assert!(message.contains(expected), "{message}"),
                _ => {
                    assert!(message.is_none() && expected.is_none(), "{earlier:?} {files:?} {message:?}")
                }
            }
            // Only `Replace` removes files, and only those that a campaign wrote.
            for file in files {
                assert_eq!(
                    file.exists(),
                    earlier != ExistingCampaign::Replace || file == other,
                    "{earlier:?} {file:?}"
                );
            }
        }
    }
}

#[test]
fn a_campaign_that_cannot_be_removed_is_not_replaced() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::create_dir(directory.path().join(STATE)).unwrap();
    let Err(Failure::Harness(error)) = ExistingCampaign::Replace.settle(directory.path()) else {
        panic!("replaced")
    };
    assert!(error.to_string().starts_with("cannot remove "), "{error}");
}

#[test]
fn the_lines_of_shards_are_put_in_the_order_of_their_tasks_and_subjects() {
    let line = |task, subject: &str, more_new| {
        let known = BTreeMap::from([("k".repeat(task as usize), 1)]);
        serde_json::to_string(&VerdictLine {
            task,
            subject: subject.into(),
            known,
            more_new,
            ..VerdictLine::default()
        })
        .unwrap()
    };
    // A count of zero is omitted.
    assert!(line(0, "s", 3).contains("\"more_new\":3") && !line(0, "s", 0).contains("more_new"));
    let all: Vec<String> =
        (0..6).flat_map(|task| ["s", "t"].map(|subject| line(task, subject, task % 2))).collect();
    let directories = [(); 3].map(|()| tempfile::tempdir().unwrap());
    let [one, other, into] = [0, 1, 2].map(|nth: usize| directories[nth].path());
    let of = |tasks: &[usize]| -> String {
        let lines = tasks.iter().flat_map(|task| &all[2 * task..2 * task + 2]);
        lines.map(|line| format!("{line}\n")).collect()
    };
    // The lines were written in the order in which the tasks finished.
    std::fs::write(one.join(VERDICTS), of(&[4, 0, 2])).unwrap();
    std::fs::write(other.join(VERDICTS), of(&[1, 5, 3])).unwrap();
    merge_verdicts(&[one, other, into], into).unwrap();
    assert_eq!(std::fs::read_to_string(into.join(VERDICTS)).unwrap(), of(&[0, 1, 2, 3, 4, 5]));
    sort_verdicts(one).unwrap();
    assert_eq!(std::fs::read_to_string(one.join(VERDICTS)).unwrap(), of(&[0, 2, 4]));
}
