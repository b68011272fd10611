//! `ptxsmith gpu run`: every prepared module through every entry point of the driver.

mod table;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use ptxsmith_campaign::files::write_whole;
use ptxsmith_diff::{NotCompared, Verdict, judge_data};
use ptxsmith_oracle::{Expectation, Rules, expect};
use ptxsmith_subject::driver::Driver;
use ptxsmith_subject::solve::{self, Slot};
use ptxsmith_subject::{
    Description, FnSubject, Launch, Observation, OpenOptions, Outcome, Request, Subject, Variable, Variables,
    cubin,
};
use ptxsmith_suite::selfcheck::{self, Found};
use serde::Serialize;

use super::{Context, Exit, Failure, Run, kernels, prepare};
use crate::commands::worker;

/// The value of `"schema"` in the result.
const SCHEMA: &str = "ptxsmith.gpu/1";
/// How many differences are listed.
const LISTED: usize = 500;

/// What came of everything.
#[derive(Serialize)]
pub(super) struct Measured {
    schema: &'static str,
    /// The driver and its device.
    pub driver: Description,
    /// How long it took.
    pub seconds: f64,
    /// Whether all prepared modules were shown; not where the time was over before.
    pub complete: bool,
    /// What came through each entry point.
    #[serde(rename = "doors")]
    pub entry_points: Vec<EntryPoint>,
    /// The first differences that nothing explains.
    pub differences: Vec<Different>,
}

/// One way into the driver: its compiler, or its loader with the cubins of one release.
#[derive(Default, Serialize)]
pub(super) struct EntryPoint {
    /// `PTX text`, `cubins of ptxas@13.5 for sm_90`.
    #[serde(rename = "door")]
    pub entry_point: String,
    #[serde(skip)]
    pub cubins: Option<PathBuf>,
    pub modules: u64,
    /// Modules that were not accepted, by outcome.
    pub not_accepted: BTreeMap<String, u64>,
    /// Variables whose bytes were read back.
    pub read_back: u64,
    pub conform: u64,
    /// Those that a listed deviation of NVIDIA's explains.
    pub known: u64,
    /// Those that nothing explains.
    pub new: u64,
    /// Those of which memory does not tell: addresses of functions and of constants.
    pub not_observed: u64,
    pub kernels: u64,
    pub kernels_passed: u64,
    /// Kernels that stopped at a variable that was read back wrong as well.
    pub kernels_agree: u64,
    /// Kernels that stopped at a variable that was read back right, or did not run to their end.
    pub kernels_disagree: u64,
    /// Variables of which memory is not what the cubin and the addresses of the variables say.
    pub loaded_otherwise: u64,
}

/// One difference.
#[derive(Serialize)]
pub(super) struct Different {
    #[serde(rename = "door")]
    pub entry_point: String,
    pub module: String,
    pub what: String,
}

/// Measures, prints and writes.
pub(super) fn run(context: &Context, args: &Run) -> Result<Exit, Failure> {
    let names = prepare::modules(&args.prepared)?;
    let options = OpenOptions {
        cancel: context.cancel.clone(),
        workers: worker::workers(),
        libcuda: context.libcuda.clone(),
        ..OpenOptions::default()
    };
    let driver = Driver::open("driver", None, &options)
        .map_err(|error| Failure::NoSubject(format!("driver is not available: {error}")))?;
    let started = Instant::now();
    let mut measured = Measured {
        schema: SCHEMA,
        driver: driver.description().clone(),
        seconds: 0.0,
        complete: true,
        entry_points: entry_points(&args.prepared, driver.description()),
        differences: Vec::new(),
    };
    for name in &names {
        if started.elapsed() > args.time {
            measured.complete = false;
            break;
        }
        let path = args.prepared.join("modules").join(format!("{name}.ptx"));
        let text = fs::read_to_string(&path)
            .map_err(|error| Failure::BadInput(format!("{}: {error}", path.display())))?;
        let shown = Shown::new(name, &text)?;
        let Measured { entry_points, differences, .. } = &mut measured;
        for entry_point in entry_points {
            shown.through(entry_point, &driver, differences)?;
        }
    }
    measured.seconds = started.elapsed().as_secs_f64();
    let text = table::markdown(&measured)?;
    context.console.print(&text)?;
    if let Some(path) = &args.json {
        write_whole(path, (serde_json::to_string_pretty(&measured)? + "\n").as_bytes())?;
    }
    if let Some(path) = &args.markdown {
        write_whole(path, text.as_bytes())?;
    }
    let total = |of: fn(&EntryPoint) -> u64| measured.entry_points.iter().map(of).sum::<u64>();
    Ok(match (total(|d| d.conform + d.known), total(|d| d.new + d.kernels_disagree + d.loaded_otherwise)) {
        (_, 1..) => Exit::Deviation,
        (0, 0) => Exit::NothingCompared,
        (1.., 0) => Exit::Success,
    })
}

/// The compiler, and for each release the cubins that run best on the device.
fn entry_points(prepared: &Path, device: &Description) -> Vec<EntryPoint> {
    let number = |target: &str| target.strip_prefix("sm_")?.parse::<u32>().ok();
    let own = device.targets.iter().filter_map(|target| number(target)).max().unwrap_or(0);
    let mut entry_points = vec![EntryPoint { entry_point: "PTX text".to_owned(), ..EntryPoint::default() }];
    let folders = |path: &Path| -> Vec<(String, PathBuf)> {
        let entries = fs::read_dir(path).into_iter().flatten().flatten();
        let mut found: Vec<_> =
            entries.filter_map(|e| Some((e.file_name().to_str()?.to_owned(), e.path()))).collect();
        found.sort();
        found
    };
    for (release, path) in folders(&prepared.join("cubins")) {
        let runs = |target: &str| number(target).filter(|n| *n <= own && n / 10 == own / 10);
        let best =
            folders(&path).into_iter().filter_map(|(target, path)| Some((runs(&target)?, target, path)));
        if let Some((_, target, path)) = best.max() {
            let entry_point = format!("cubins of {release} for {target}");
            entry_points.push(EntryPoint { entry_point, cubins: Some(path), ..EntryPoint::default() });
        }
    }
    entry_points
}

/// A module, and what its kernels check.
struct Shown<'a> {
    name: &'a str,
    text: &'a str,
    module: ptxsmith_syntax::Module,
    launches: Vec<Launch>,
    checks: BTreeMap<String, Vec<selfcheck::Check>>,
}

impl<'a> Shown<'a> {
    fn new(name: &'a str, text: &'a str) -> Result<Shown<'a>, Failure> {
        let bad = |what: String| Failure::BadInput(format!("prepared module {name}: {what}"));
        let module = ptxsmith_syntax::parse(text).map_err(|error| bad(error.to_string()))?;
        let Expectation::Accepted { variables, .. } = expect(&module, &Rules::default()) else {
            return Err(bad("the specification does not take it: prepared by another version".to_owned()));
        };
        let checks: BTreeMap<_, _> =
            kernels(&variables).into_iter().map(|(name, kernel)| (name, kernel.checks)).collect();
        let launch = |kernel: &String| Launch { kernel: kernel.clone(), out: selfcheck::OUTPUT_SIZE };
        Ok(Shown { name, text, module, launches: checks.keys().map(launch).collect(), checks })
    }

    fn through(
        &self,
        entry_point: &mut EntryPoint,
        driver: &Driver,
        differences: &mut Vec<Different>,
    ) -> Result<(), Failure> {
        let target = driver.description().targets.last().map_or("sm_80", String::as_str);
        let request = Request::new(self.text, target).launching(&self.launches);
        let (observation, image) = match &entry_point.cubins {
            None => (driver.observe(&request)?, None),
            Some(folder) => {
                let path = folder.join(format!("{}.cubin", self.name));
                let image = fs::read(&path)
                    .map_err(|error| Failure::BadInput(format!("{}: {error}", path.display())))?;
                (driver.observe_cubin(&request, &image)?, Some(image))
            }
        };
        let name = entry_point.entry_point.clone();
        let mut differ = |what: String| {
            if differences.len() < LISTED {
                differences.push(Different { entry_point: name.clone(), module: self.name.to_owned(), what });
            }
        };
        entry_point.modules += 1;
        if observation.outcome != Outcome::Accepted {
            let outcome = serde_json::to_value(observation.outcome)?;
            let outcome = outcome.as_str().unwrap_or_default().to_owned();
            let said = observation.diagnostics.first().map(|diagnostic| diagnostic.message.clone());
            let why = said.or(observation.reason.clone()).unwrap_or_default();
            differ(format!("{outcome}: {why}"));
            *entry_point.not_accepted.entry(outcome).or_default() += 1;
        }
        let wrong = self.judge(entry_point, driver.description(), &observation, &mut differ)?;
        if observation.outcome == Outcome::Accepted {
            self.kernels(entry_point, &observation, &wrong, &mut differ);
        }
        if let Some(image) = image {
            // What our reader lacks shows where the same cubins are read without a device.
            let held = cubin::read(&image).unwrap_or_default();
            for name in loaded_otherwise(&held, &observation.variables) {
                entry_point.loaded_otherwise += 1;
                differ(format!("`{name}` in memory is not what the cubin says"));
            }
        }
        Ok(())
    }

    /// Counts the variables, and gives the names of those that deviate.
    fn judge(
        &self,
        entry_point: &mut EntryPoint,
        description: &Description,
        observation: &Observation,
        differ: &mut impl FnMut(String),
    ) -> Result<Vec<String>, Failure> {
        entry_point.read_back += observation.variables.values().filter(|v| v.bytes.is_some()).count() as u64;
        let subject =
            FnSubject::new("driver", |_: &Request<'_>| observation.clone()).described(description.clone());
        let target = description.targets.last().map_or("sm_80", String::as_str);
        let mut wrong = Vec::new();
        for part in judge_data(&subject, &Rules::default(), &self.module, self.text, target)? {
            let name = part.variable.map_or_else(|| "the module".to_owned(), Into::into);
            match part.verdict {
                Verdict::Conforms | Verdict::Reads(_) => entry_point.conform += 1,
                Verdict::ConformsByOutcome | Verdict::NotCompared(NotCompared::Unobserved) => {
                    entry_point.not_observed += 1;
                }
                Verdict::NotCompared(_) => {}
                Verdict::Deviates(difference) => {
                    if difference.explanation.is_some() {
                        entry_point.known += 1;
                    } else {
                        entry_point.new += 1;
                        differ(format!("`{name}`: {:?}", difference.class));
                    }
                    wrong.push(name);
                }
            }
        }
        Ok(wrong)
    }

    fn kernels(
        &self,
        entry_point: &mut EntryPoint,
        observation: &Observation,
        wrong: &[String],
        differ: &mut impl FnMut(String),
    ) {
        for (kernel, checks) in &self.checks {
            let output = observation.kernels.get(kernel).and_then(|output| output.bytes.as_deref());
            let Some(output) = output else {
                entry_point.kernels_disagree += 1;
                differ(format!("kernel `{kernel}` was not run"));
                continue;
            };
            entry_point.kernels += 1;
            match selfcheck::result(output) {
                Found::Passed => entry_point.kernels_passed += 1,
                Found::Mismatch(index) => {
                    let check = checks.get(index as usize);
                    if check.is_some_and(|check| wrong.contains(&check.variable)) {
                        entry_point.kernels_agree += 1;
                    } else {
                        entry_point.kernels_disagree += 1;
                        differ(format!("kernel `{kernel}` differs at {check:?}, which was read back right"));
                    }
                }
                Found::DidNotRun => {
                    entry_point.kernels_disagree += 1;
                    differ(format!("kernel `{kernel}` did not run to its end"));
                }
            }
        }
    }
}

/// The variables of which memory holds something else than the file and the addresses of the variables say.
fn loaded_otherwise(held: &Variables, loaded: &Variables) -> Vec<String> {
    let base_of = |symbol: &str| {
        loaded.get(symbol).filter(|v| v.space.as_deref() == Some("global")).and_then(|variable| variable.base)
    };
    let differs = |(name, loaded): (&ptxsmith_syntax::Text, &Variable)| {
        let held = held.get(name)?;
        let (bytes, memory) = (held.bytes.as_deref()?, loaded.bytes.as_deref()?);
        let slots = held.addresses.iter().flatten().map(|address| Slot {
            offset: address.offset,
            width: address.width,
            symbol: &address.symbol,
            addend: address.addend,
            bits: 64,
            byte: address.byte,
        });
        let expected = solve::memory(bytes, slots, base_of);
        let same = expected.len() == memory.len()
            && expected.iter().zip(memory).all(|(held, seen)| held.is_none_or(|held| held == *seen));
        (!same).then(|| name.to_string())
    };
    // Where a write past a variable was recognized, its bytes are reported otherwise.
    loaded
        .iter()
        .filter(|(_, v)| v.addresses.as_ref().is_none_or(Vec::is_empty))
        .filter_map(differs)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ptxsmith_subject::Address;

    #[test]
    fn memory_is_held_against_the_cubin_with_its_addresses() {
        let variable = |bytes: Vec<u8>, base, addresses: Option<Vec<Address>>| Variable {
            space: Some("global".into()),
            size: Some(bytes.len() as u64),
            bytes: Some(bytes),
            base,
            addresses,
            ..Variable::default()
        };
        let address = |symbol: &str| {
            let symbol = symbol.to_owned();
            Address { offset: 0, width: 8, symbol, addend: 4, generic: None, byte: None }
        };
        let held = BTreeMap::from([
            ("a".into(), variable(vec![1, 2], None, Some(Vec::new()))),
            ("p".into(), variable(vec![0; 8], None, Some(vec![address("a")]))),
            ("f".into(), variable(vec![0; 8], None, Some(vec![address("function")]))),
        ]);
        let loaded = |a: Vec<u8>, p: u64| {
            BTreeMap::from([
                ("a".into(), variable(a, Some(0x1000), Some(Vec::new()))),
                ("p".into(), variable(p.to_le_bytes().to_vec(), Some(0x2000), None)),
                ("f".into(), variable(vec![9; 8], Some(0x3000), None)),
            ])
        };
        assert!(loaded_otherwise(&held, &loaded(vec![1, 2], 0x1004)).is_empty());
        assert_eq!(loaded_otherwise(&held, &loaded(vec![1, 3], 0x1004)), ["a"]);
        assert_eq!(loaded_otherwise(&held, &loaded(vec![1, 2], 0x1005)), ["p"]);
    }

    #[test]
    fn an_entry_point_takes_the_latest_target_of_the_generation() {
        let directory = tempfile::tempdir().unwrap();
        for folder in ["ptxas@12.9/sm_80", "ptxas@12.9/sm_86", "ptxas@12.9/sm_90", "ptxas@13.5/sm_90"] {
            fs::create_dir_all(directory.path().join("cubins").join(folder)).unwrap();
        }
        let device =
            |target: &str| Description { targets: vec![target.to_owned()], ..Description::default() };
        let names = |target: &str| -> Vec<String> {
            entry_points(directory.path(), &device(target))
                .into_iter()
                .map(|entry_point| entry_point.entry_point)
                .collect()
        };
        assert_eq!(names("sm_89"), ["PTX text", "cubins of ptxas@12.9 for sm_86"]);
        assert_eq!(
            names("sm_90"),
            ["PTX text", "cubins of ptxas@12.9 for sm_90", "cubins of ptxas@13.5 for sm_90"]
        );
    }
}
