//! The runner in a suite gives the same verdicts as ptxsmith, using only Python and a ptxas.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;
use std::thread;

use ptxsmith_diff::{Part, Verdict, judge_data};
use ptxsmith_oracle::{Expectation, Rules};
use ptxsmith_subject::{
    Description, Error, Observation, OpenOptions, Outcome, Request, Subject, open, parse_spec,
};
use ptxsmith_suite::{Suite, SuiteCase, SuiteOptions};
use serde_json::Value;

/// A ptxas without its identity, so that NVIDIA's known deviations do not apply: a suite does not know them
/// either.
struct Stranger {
    ptxas: Box<dyn Subject>,
    description: Description,
}

impl Stranger {
    fn open(release: &str) -> Result<Stranger, String> {
        let spec = parse_spec(&format!("ptxas@{release}")).map_err(|error| error.to_string())?;
        let found = open(&spec, &OpenOptions::default()).map_err(|unavailable| unavailable.to_string())?;
        let ptxas = found.into_iter().next().ok_or("none is installed")?;
        let known = ptxas.description().clone();
        let description = Description { lineage: None, name: "stranger".into(), ..known };
        Ok(Stranger { ptxas, description })
    }

    /// Returns the target of a case, or the next later target that the subject supports.
    fn target(&self, case: &SuiteCase) -> String {
        let own = case.module.targets().find(|target| target.starts_with("sm_")).unwrap_or("sm_80");
        let number = |target: &str| target[3..].parse::<u32>().ok();
        let later = |target: &&String| number(target).zip(number(own)).is_some_and(|(new, old)| new > old);
        if self.description.targets.iter().any(|target| target == own) {
            return own.to_owned();
        }
        let later = self.description.targets.iter().filter(later);
        later.min_by_key(|target| number(target)).map_or(own, |target| target).to_owned()
    }
}

impl Subject for Stranger {
    fn description(&self) -> &Description {
        &self.description
    }

    fn observe(&self, request: &Request<'_>) -> Result<Observation, Error> {
        self.ptxas.observe(request)
    }
}

type Told = BTreeMap<(String, Option<String>), (String, Option<String>)>;

/// Converts a verdict to the runner's words.
fn words(part: &Part) -> (String, Option<String>) {
    let class = |class: &str| Some(class.to_owned());
    match &part.verdict {
        Verdict::Conforms | Verdict::ConformsByOutcome => ("conforms".into(), None),
        Verdict::Reads(_) => ("reading".into(), None),
        Verdict::Deviates(difference) => ("deviates".into(), class(difference.class.name())),
        Verdict::NotCompared(reason) => ("not-compared".into(), class(reason.name())),
    }
}

/// Returns ptxsmith's verdicts on every case.
fn judged(stranger: &Stranger, suite: &Suite) -> Told {
    let by_id: BTreeMap<&str, &SuiteCase> = suite.cases.iter().map(|case| (case.id.as_str(), case)).collect();
    let judge = |case: &SuiteCase| {
        let target = stranger.target(case);
        let parts = judge_data(stranger, &Rules::default(), &case.module, &case.text, &target).unwrap();
        let mut told: Told = parts
            .iter()
            .map(|part| ((case.id.clone(), part.variable.as_ref().map(ToString::to_string)), words(part)))
            .collect();
        if let (Some(counterpart), Expectation::Refused { .. }) = (&case.counterpart, &case.expected)
            && told.values().any(|(verdict, _)| verdict == "conforms")
        {
            let counterpart = by_id[counterpart.as_str()];
            let target = stranger.target(counterpart);
            let seen =
                stranger.observe(&Request::showing(&counterpart.module, &counterpart.text, &target)).unwrap();
            if seen.outcome != Outcome::Accepted {
                told.values_mut()
                    .for_each(|told| *told = ("not-compared".into(), Some("twin-refused".into())));
            }
        }
        told
    };
    let half = suite.cases.len() / 2;
    thread::scope(|scope| {
        let parts = [&suite.cases[..half], &suite.cases[half..]];
        let threads = parts.map(|cases| scope.spawn(|| cases.iter().flat_map(judge).collect::<Told>()));
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    })
}

/// Returns the runner's verdicts and its exit status.
fn run(folder: &Path, ptxas: &str) -> (Told, Option<i32>) {
    let lines = folder.join("verdicts");
    let mut runner = Command::new("python3");
    let output = runner.arg(folder.join("run.py")).args(["--ptxas", ptxas, "--json"]).arg(&lines).output();
    let output = output.unwrap();
    let told = std::fs::read_to_string(&lines)
        .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)))
        .lines()
        .map(|line| {
            let line: Value = serde_json::from_str(line).unwrap();
            let text = |key: &str| line[key].as_str().map(str::to_owned);
            let what = text("what");
            ((text("case").unwrap(), text("variable")), (text("verdict").unwrap(), what))
        })
        .collect();
    (told, output.status.code())
}

/// Returns every twelfth case and its valid counterpart, or all cases if `PTXSMITH_WHOLE_SUITE` is set, which
/// takes some minutes.
fn sample() -> Suite {
    let mut suite = Suite::build(SuiteOptions::default()).unwrap();
    if std::env::var_os("PTXSMITH_WHOLE_SUITE").is_none() {
        let chosen: BTreeSet<String> = suite.cases.iter().step_by(12).map(|case| case.id.clone()).collect();
        let counterparts =
            suite.cases.iter().filter(|case| chosen.contains(&case.id)).filter_map(|c| c.counterpart.clone());
        let wanted: BTreeSet<String> = counterparts.chain(chosen.iter().cloned()).collect();
        suite.cases.retain(|case| wanted.contains(&case.id));
    }
    suite
}

#[test]
fn the_runner_says_of_every_case_what_this_project_says() {
    if Command::new("python3").arg("--version").output().is_err() {
        eprintln!("NOT TESTED: the runner: no python3");
        return;
    }
    let suite = sample();
    let folder = tempfile::tempdir().unwrap();
    for file in suite.files() {
        let path = folder.path().join(&file.path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, file.contents).unwrap();
    }
    for release in ["13.5", "12.0"] {
        let stranger = match Stranger::open(release) {
            Ok(stranger) => stranger,
            Err(reason) => {
                eprintln!("NOT TESTED: the runner with ptxas {release}: {reason}");
                continue;
            }
        };
        let ours = judged(&stranger, &suite);
        let (theirs, status) = run(folder.path(), stranger.description.path.as_deref().unwrap());
        let differ: Vec<_> = ours
            .keys()
            .chain(theirs.keys())
            .filter(|key| ours.get(key) != theirs.get(key))
            .map(|key| format!("{key:?}: {:?}, the runner: {:?}", ours.get(key), theirs.get(key)))
            .collect::<BTreeSet<_>>()
            .into_iter()
            .collect();
        assert!(differ.is_empty(), "{} of {}:\n{}", differ.len(), ours.len(), differ.join("\n"));
        assert!(ours.len() >= suite.cases.len(), "fewer verdicts than cases");
        let count = |what: &str| ours.values().filter(|(verdict, _)| verdict == what).count();
        let deviates = count("deviates");
        println!(
            "ptxas {release}: {} cases, {} verdicts alike: {} conform, {} under another reading, {deviates} deviate, {} not compared",
            suite.cases.len(),
            ours.len(),
            count("conforms"),
            count("reading"),
            count("not-compared")
        );
        assert_eq!(status, Some(i32::from(deviates > 0)));
    }
}
