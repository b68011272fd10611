//! The runner in a suite gives the same verdicts as ptxsmith, using only Python and a ptxas.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;
use std::thread;

use ptxsmith_diff::{PartVerdict, Verdict, judge_data};
use ptxsmith_oracle::{Expectation, Rules};
use ptxsmith_subject::{
    Description, Error, Observation, OpenOptions, Outcome, Request, Subject, open, parse_spec,
};
use ptxsmith_suite::{Suite, SuiteCase, SuiteOptions};
use ptxsmith_testing::is_whole;
use serde_json::Value;

/// A ptxas without its identity, so that NVIDIA's known deviations do not apply: a suite does not know them
/// either.
struct UnidentifiedPtxas {
    ptxas: Box<dyn Subject>,
    description: Description,
}

impl UnidentifiedPtxas {
    fn open(release: &str) -> Result<UnidentifiedPtxas, String> {
        let spec = parse_spec(&format!("ptxas@{release}")).map_err(|error| error.to_string())?;
        let found = open(&spec, &OpenOptions::default()).map_err(|unavailable| unavailable.to_string())?;
        let ptxas = found.into_iter().next().ok_or("none is installed")?;
        let known = ptxas.description().clone();
        let description = Description { lineage: None, name: "stranger".into(), ..known };
        Ok(UnidentifiedPtxas { ptxas, description })
    }

    /// Returns the target of a case, or the next later target that the subject supports.
    fn target(&self, case: &SuiteCase) -> String {
        let named = case.module.targets().find(|target| target.starts_with("sm_")).unwrap_or("sm_80");
        let supported = &self.description.targets;
        if supported.iter().any(|target| target == named) {
            return named.to_owned();
        }
        let number = target_number(named);
        let later = supported.iter().filter(|target| {
            target_number(target).zip(number).is_some_and(|(supported, named)| supported > named)
        });
        later.min_by_key(|target| target_number(target)).map_or(named, |target| target).to_owned()
    }
}

fn target_number(target: &str) -> Option<u32> {
    target[3..].parse().ok()
}

impl Subject for UnidentifiedPtxas {
    fn description(&self) -> &Description {
        &self.description
    }

    fn observe(&self, request: &Request<'_>) -> Result<Observation, Error> {
        self.ptxas.observe(request)
    }
}

/// The verdict and its class or reason, by case and variable.
type VerdictWords = BTreeMap<(String, Option<String>), (String, Option<String>)>;

/// Converts a verdict to the runner's words.
fn words(part: &PartVerdict) -> (String, Option<String>) {
    match &part.verdict {
        Verdict::Conforms | Verdict::ConformsByOutcome => ("conforms".into(), None),
        Verdict::Reads(_) => ("reading".into(), None),
        Verdict::Deviates(difference) => ("deviates".into(), Some(difference.class.name().into())),
        Verdict::NotCompared(reason) => ("not-compared".into(), Some(reason.name().into())),
    }
}

/// Returns ptxsmith's verdicts on every case.
fn ptxsmith_verdicts(ptxas: &UnidentifiedPtxas, suite: &Suite) -> VerdictWords {
    let by_id: BTreeMap<&str, &SuiteCase> = suite.cases.iter().map(|case| (case.id.as_str(), case)).collect();
    let by_id = &by_id;
    let half = suite.cases.len() / 2;
    thread::scope(|scope| {
        let threads = [&suite.cases[..half], &suite.cases[half..]].map(|cases| {
            scope.spawn(move || {
                cases.iter().flat_map(|case| judge_case(ptxas, case, by_id)).collect::<VerdictWords>()
            })
        });
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    })
}

fn judge_case(
    ptxas: &UnidentifiedPtxas,
    case: &SuiteCase,
    by_id: &BTreeMap<&str, &SuiteCase>,
) -> VerdictWords {
    let target = ptxas.target(case);
    let parts = judge_data(ptxas, &Rules::default(), &case.module, &case.text, &target).unwrap();
    let mut verdicts = VerdictWords::new();
    for part in &parts {
        let variable = part.variable.as_ref().map(ToString::to_string);
        verdicts.insert((case.id.clone(), variable), words(part));
    }
    if let (Some(counterpart), Expectation::Refused { .. }) = (&case.counterpart, &case.expected)
        && verdicts.values().any(|(verdict, _)| verdict == "conforms")
    {
        let counterpart = by_id[counterpart.as_str()];
        let target = ptxas.target(counterpart);
        let request = Request::showing(&counterpart.module, &counterpart.text, &target);
        if ptxas.observe(&request).unwrap().outcome != Outcome::Accepted {
            for words in verdicts.values_mut() {
                *words = ("not-compared".into(), Some("twin-refused".into()));
            }
        }
    }
    verdicts
}

/// Returns the runner's verdicts and its exit status.
fn runner_verdicts(folder: &Path, ptxas: &str) -> (VerdictWords, Option<i32>) {
    let lines = folder.join("verdicts");
    let mut runner = Command::new("python3");
    let output = runner.arg(folder.join("run.py")).args(["--ptxas", ptxas, "--json"]).arg(&lines).output();
    let output = output.unwrap();
    let lines = std::fs::read_to_string(&lines)
        .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)));
    let mut verdicts = VerdictWords::new();
    for line in lines.lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        let [case, variable, verdict, class] =
            ["case", "variable", "verdict", "what"].map(|key| line[key].as_str().map(str::to_owned));
        verdicts.insert((case.unwrap(), variable), (verdict.unwrap(), class));
    }
    (verdicts, output.status.code())
}

/// Returns every twelfth case and its valid counterpart, or all cases in a whole run.
fn sample() -> Suite {
    let mut suite = Suite::build(SuiteOptions::default()).unwrap();
    if !is_whole() {
        let chosen: BTreeSet<String> = suite.cases.iter().step_by(12).map(|case| case.id.clone()).collect();
        let counterparts =
            suite.cases.iter().filter(|case| chosen.contains(&case.id)).filter_map(|c| c.counterpart.clone());
        let wanted: BTreeSet<String> = counterparts.chain(chosen.iter().cloned()).collect();
        suite.cases.retain(|case| wanted.contains(&case.id));
    }
    suite
}

#[test]
fn the_runner_and_ptxsmith_give_the_same_verdict_on_every_case() {
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
        let ptxas = match UnidentifiedPtxas::open(release) {
            Ok(ptxas) => ptxas,
            Err(reason) => {
                eprintln!("NOT TESTED: the runner with ptxas {release}: {reason}");
                continue;
            }
        };
        let ours = ptxsmith_verdicts(&ptxas, &suite);
        let (theirs, status) = runner_verdicts(folder.path(), ptxas.description.path.as_deref().unwrap());
        let mut differences = Vec::new();
        for key in ours.keys().chain(theirs.keys()).collect::<BTreeSet<_>>() {
            if ours.get(key) != theirs.get(key) {
                let (ours, theirs) = (ours.get(key), theirs.get(key));
                differences.push(format!("{key:?}: {ours:?}, the runner: {theirs:?}"));
            }
        }
        assert!(
            differences.is_empty(),
            "{} of {}:\n{}",
            differences.len(),
            ours.len(),
            differences.join("\n")
        );
        assert!(ours.len() >= suite.cases.len(), "fewer verdicts than cases");
        let count = |name: &str| ours.values().filter(|(verdict, _)| verdict == name).count();
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
