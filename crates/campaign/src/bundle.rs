//! Packs findings as folders and archives for a bug tracker, either from a campaign or from the list of known
//! deviations.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;
use ptxsmith_diff::gone::class_of;
use ptxsmith_diff::known::{KNOWN, KnownDeviation};
use ptxsmith_diff::{Difference, Implementation, Verdict};
use ptxsmith_model::{Expected, FindingKind, ModuleAnswer, ProgramVerdict, ReleaseVerdict};
use ptxsmith_oracle::{Expectation, KernelOutcome, Rules, execute, expect};
use ptxsmith_report::bundle::{self, KernelCode};
use ptxsmith_report::folder::Folder;
use ptxsmith_report::releases::version_of;
use ptxsmith_report::reproduce::{Claim, CompileSettings, Runner};
use ptxsmith_report::{CoverageSummary, Finding, Report, SCHEMA, Status, SubjectResults};
use ptxsmith_subject::{Limits, Outcome, Output, OutputForm, Ptxas, Request, SubjectSpec, cubin, parse_spec};
use ptxsmith_syntax::{Module, parse};

use crate::campaign::{judged_release, validity};
use crate::failure::{Failure, of_subject};
use crate::files::{make_directory, write_whole};
use crate::listed;
use crate::pool;
use crate::session::Session;
use crate::subjects::{TestSubject, ensure_disassembler, open_subjects, target_for};

/// The most names in an error message.
const MOST_NAMES: usize = 20;

/// The options of a bundle.
pub struct BundleOptions<'a> {
    /// The ids of findings or listed deviations.
    pub ids: &'a [String],
    /// The folder of the campaign that found them. A missing folder counts as one without findings.
    pub from: &'a Path,
    /// The releases on which to run listed deviations; empty for every installed one. If some are given,
    /// listed deviations are not read from the campaign.
    pub subjects: &'a [SubjectSpec],
    /// The output directory for the folders.
    pub out: &'a Path,
}

/// A bundle that was written.
pub struct WrittenBundle {
    /// The folder.
    pub folder: PathBuf,
    /// The same files as an archive.
    pub archive: PathBuf,
}

/// Writes a folder and an archive for each id.
///
/// # Errors
/// If an id belongs neither to a finding nor to a listed deviation, no release shows it, or a file cannot be
/// written.
pub fn bundle(session: &Session, options: &BundleOptions<'_>) -> Result<Vec<WrittenBundle>, Failure> {
    let campaign = if options.from.exists() {
        Some(Folder::read(options.from).map_err(|error| Failure::BadInput(error.to_string()))?)
    } else {
        None
    };
    make_directory(options.out)?;
    // Opened for the first listed deviation that needs them.
    let mut releases: Option<Vec<TestSubject>> = None;
    let mut written = Vec::new();
    for id in options.ids {
        let known = KNOWN.iter().find(|known| known.is_called(id));
        let found = campaign.as_ref().and_then(|folder| Some((folder, finding_of(&folder.report, id)?)));
        match (found, known) {
            (Some((_, finding)), None) if !is_bundled(finding) => {
                let file = finding.file.as_deref().map_or("FILE".to_owned(), |file| {
                    shell_words::quote(&options.from.join(file).display().to_string()).into_owned()
                });
                return Err(Failure::BadInput(format!(
                    "{} cannot be bundled from this campaign; `ptxsmith check {file} --out DIR` makes a finding of its \
                     program that can",
                    finding.id,
                )));
            }
            // A listed deviation of kernels is run again: the campaign does not say how to reproduce it.
            (Some((folder, finding)), known)
                if known.is_none() || options.subjects.is_empty() && is_bundled(finding) =>
            {
                written.push(write(session, folder, finding, options.out)?);
            }
            (_, Some(known)) => {
                let releases = match &releases {
                    Some(releases) => releases,
                    None => releases.insert(open(session, options.subjects)?),
                };
                let report = finding_of_listed(session, known, releases)?;
                let folder = Folder { report, manifest: None };
                written.push(write(session, &folder, &folder.report.findings[0], options.out)?);
            }
            (_, None) => return Err(Failure::BadInput(unknown(id, options.from, campaign.as_ref()))),
        }
    }
    Ok(written)
}

/// Returns true if bundles can describe how to reproduce this kind of finding. They cannot for results of
/// kernels.
fn is_bundled(finding: &Finding) -> bool {
    finding.comparison.is_none() || finding.linked.is_some() || finding.emitted.is_some()
}

/// Returns the finding with this id, or the only one with an id that starts with it.
fn finding_of<'r>(report: &'r Report, id: &str) -> Option<&'r Finding> {
    let mut candidates = report.findings.iter().filter(|finding| finding.id.starts_with(id));
    let exact = report.findings.iter().find(|finding| finding.id == id);
    exact.or_else(|| candidates.next().filter(|_| candidates.next().is_none()))
}

/// Returns the error message for an id that belongs to no finding and no listed deviation.
fn unknown(id: &str, from: &Path, campaign: Option<&Folder>) -> String {
    let there = match campaign {
        None => format!("{} is no folder of a campaign (--from)", from.display()),
        Some(folder) => {
            let ids: Vec<&str> =
                folder.report.findings.iter().take(MOST_NAMES).map(|finding| &*finding.id).collect();
            format!(
                "{} has {}",
                from.display(),
                if ids.is_empty() { "none".to_owned() } else { ids.join(", ") }
            )
        }
    };
    format!(
        "no finding and no listed deviation `{id}`, or more than one; {there}; docs/deviations/ has the list"
    )
}

/// Opens the requested releases, or all installed ones, sorted from the oldest to the newest.
fn open(session: &Session, subjects: &[SubjectSpec]) -> Result<Vec<TestSubject>, Failure> {
    ensure_disassembler(session, subjects)?;
    let mut opened = match subjects {
        [] => {
            let all = parse_spec("ptxas@all").map_err(|error| Failure::BadInput(error.to_string()))?;
            match open_subjects(session, &[all], None) {
                // If none is installed, install the default one.
                Err(Failure::NoSubject(_)) => open_subjects(session, &[], None)?,
                opened => opened?,
            }
        }
        subjects => open_subjects(session, subjects, None)?,
    };
    opened.sort_by_cached_key(|tested| {
        let description = tested.subject.description();
        version_of(&description.id, description.version.as_deref().unwrap_or(""))
    });
    Ok(opened)
}

/// Returns a report with one finding: a listed deviation as these releases show it, the newest first.
fn finding_of_listed(
    session: &Session,
    known: &'static KnownDeviation,
    releases: &[TestSubject],
) -> Result<Report, Failure> {
    let verdicts = pool::map(session, releases, |tested| release_of_listed(tested, known))?;
    let mut finding = Finding {
        id: known.id.to_owned(),
        status: Status::Known,
        kind: FindingKind::Known(known.id.to_owned()),
        title: known.title.to_owned(),
        clauses: known.clauses.iter().map(|clause| clause.id().to_owned()).collect(),
        program: known.example.to_owned(),
        validity: validity(known.example, &Rules::default()).name().to_owned(),
        first_seen: Some(known.first_seen.to_owned()),
        ..Finding::default()
    };
    for (tested, (mut verdict, difference)) in releases.iter().zip(verdicts.into_iter().flatten()) {
        let is_silent = !matches!(verdict.verdict, ProgramVerdict::Deviates(_));
        if let Some(difference) = difference.as_ref().filter(|_| is_silent) {
            verdict.verdict = ProgramVerdict::Predicted(difference.class);
        }
        finding.releases.push(verdict);
        let Some(difference) = difference else { continue };
        finding.count += 1;
        finding.subjects.insert(0, tested.subject.id().to_owned());
        finding.class = difference.class;
        finding.variable = difference.variable.clone();
        finding.expected = difference.expected.clone();
        finding.observed = difference.observed.clone();
    }
    if session.cancel.is_cancelled() {
        return Err(Failure::Interrupted);
    }
    if finding.subjects.is_empty() {
        let asked: Vec<&str> = releases.iter().map(|tested| tested.subject.id()).collect();
        return Err(Failure::BadInput(format!(
            "{} does not show {}, which is listed for ptxas {}; name a release with --subject ptxas@RELEASE",
            asked.join(", "),
            known.id,
            known.releases
        )));
    }
    Ok(report_of(session, releases, finding))
}

/// Returns the result of a release for a listed deviation, and the difference if the release shows it.
fn release_of_listed(
    tested: &TestSubject,
    known: &'static KnownDeviation,
) -> Result<(ReleaseVerdict, Option<Box<Difference>>), Failure> {
    let (verdict, parts) = judged_release(tested, known.example)?;
    let module = parse(known.example).unwrap_or_default();
    let difference = parts.into_iter().find_map(|part| match part.verdict {
        Verdict::Deviates(difference) => {
            let explains = difference.explanation.as_ref().is_some_and(|e| e.known.contains(&known.id));
            explains.then_some(difference)
        }
        _ => None,
    });
    match difference {
        Some(_) => Ok((verdict, difference)),
        None if !tested.supports_version_of(&module) => Ok((verdict, None)),
        None => Ok((verdict, predicted(tested, known, &module)?.map(Box::new))),
    }
}

/// Returns the difference that the list predicts for the results of kernels. It is needed if a subject
/// accepts the program and its code alone does not show the deviation, for example a register that is never
/// set.
fn predicted(
    tested: &TestSubject,
    known: &KnownDeviation,
    module: &Module,
) -> Result<Option<Difference>, Failure> {
    let is_listed = known.is_listed_for(Implementation::from_description(tested.subject.description()));
    let Some(change) = known.change().filter(|_| is_listed && known.example.contains(".entry")) else {
        return Ok(None);
    };
    let target = target_for(module, tested.subject.description());
    let request = Request::new(known.example, &target).in_form(OutputForm::Relocatable);
    let mut observed = tested.subject.observe(&request).map_err(of_subject)?;
    let rules = Rules::default();
    let right = outputs(module, &rules);
    let wrong = outputs(module, &rules.with(change));
    if observed.outcome != Outcome::Accepted || right.is_empty() || right == wrong {
        return Ok(None);
    }
    observed.kernels = wrong;
    observed.reason = Some(
        "what the kernel leaves is predicted by the list of deviations; the generated code does not \
         determine it"
            .to_owned(),
    );
    let expected = Expected::of_module(ModuleAnswer { kernels: right, ..ModuleAnswer::default() });
    Ok(Some(Difference::new(class_of(known, module), expected, observed)))
}

/// Returns the outputs of kernels under these rules, if they consist of bytes without addresses.
fn outputs(module: &Module, rules: &Rules) -> BTreeMap<String, Output> {
    let Expectation::Accepted { variables, .. } = expect(module, rules) else { return BTreeMap::new() };
    let mut outputs = BTreeMap::new();
    for kernel in execute(module, &variables, rules) {
        if let KernelOutcome::Output(output) = kernel.outcome
            && output.addresses.is_empty()
        {
            let size = output.bytes.len() as u64;
            let output = Output { size, bytes: Some(output.bytes), ..Output::default() };
            outputs.insert(kernel.name.to_string(), output);
        }
    }
    outputs
}

fn report_of(session: &Session, releases: &[TestSubject], finding: Finding) -> Report {
    Report {
        schema: SCHEMA.to_owned(),
        ptxsmith: env!("CARGO_PKG_VERSION").to_owned(),
        command: "bundle".to_owned(),
        seed: session.seed,
        complete: true,
        subjects: releases.iter().map(results_of).collect(),
        compared: releases.len() as u64,
        conform: 0,
        not_compared: Default::default(),
        readings: Default::default(),
        default_readings: Default::default(),
        given_answers: Vec::new(),
        findings: vec![finding],
        cases: Vec::new(),
        unexpected_passes: Vec::new(),
        coverage: CoverageSummary::default(),
    }
}

fn results_of(tested: &TestSubject) -> SubjectResults {
    let description = tested.subject.description();
    SubjectResults {
        id: description.id.clone(),
        version: description.version.clone(),
        lineage: description.lineage.clone(),
        available: true,
        sha256: description.sha256.clone(),
        ..SubjectResults::default()
    }
}

fn write(
    session: &Session,
    folder: &Folder,
    finding: &Finding,
    out: &Path,
) -> Result<WrittenBundle, Failure> {
    let codes = match Claim::for_finding(finding) {
        Claim::KernelOutput => kernel_codes(session, &folder.report, finding)?,
        _ => Vec::new(),
    };
    let name = bundle::folder_name(finding);
    let mut files = bundle::files(folder, finding, &codes)?;
    if finding.status == Status::New && finding.linked.is_none() && finding.emitted.is_none() {
        let text = listed::entry(&folder.report, finding);
        files.push(bundle::BundleFile { name: "deviation.ptx".to_owned(), text, executable: false });
    }
    let directory = out.join(&name);
    std::fs::create_dir_all(&directory)?;
    for file in &files {
        let path = directory.join(&file.name);
        write_whole(&path, file.text.as_bytes())?;
        #[cfg(unix)]
        if file.executable {
            use std::os::unix::fs::PermissionsExt;
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755))?;
        }
    }
    let archive = out.join(format!("{name}.tar.gz"));
    pack(&archive, &name, &files)?;
    Ok(WrittenBundle { folder: directory, archive })
}

/// Packs the files. The archive is the same, byte for byte, for the same files.
fn pack(archive: &Path, name: &str, files: &[bundle::BundleFile]) -> io::Result<()> {
    let mut packed = tar::Builder::new(GzEncoder::new(File::create(archive)?, Compression::best()));
    for file in files {
        let mut header = tar::Header::new_gnu();
        header.set_size(file.text.len() as u64);
        header.set_mode(if file.executable { 0o755 } else { 0o644 });
        header.set_mtime(0);
        packed.append_data(&mut header, format!("{name}/{}", file.name), file.text.as_bytes())?;
    }
    packed.into_inner()?.finish()?.sync_all()
}

/// Returns the machine code of the finding's kernels from each installed compiler that shows the finding or
/// is known not to show it.
fn kernel_codes(session: &Session, report: &Report, finding: &Finding) -> Result<Vec<KernelCode>, Failure> {
    let CompileSettings { target, .. } = CompileSettings::for_finding(finding);
    let mut codes: Vec<KernelCode> = Vec::new();
    let shows = finding.subjects.iter().map(|id| (id, false));
    let conforms = finding.releases.iter().filter(|release| release.verdict == ProgramVerdict::Conforms);
    let conforms = conforms.map(|release| (&release.subject, true));
    for (id, right) in shows.chain(conforms) {
        if !matches!(Runner::for_subject(id), Runner::Ptxas(options) if options.is_empty()) {
            continue;
        }
        let Ok(spec) = parse_spec(id) else { continue };
        // A compiler that cannot be opened here has no code, and the script mentions that.
        let Ok(opened) = open_subjects(session, &[spec], None) else { continue };
        for tested in opened {
            let Some(path) = tested.subject.description().path.clone() else { continue };
            let Ok(ptxas) = Ptxas::open(id, path, Limits::default(), session.cancel.clone()) else {
                continue;
            };
            let request = Request::new(finding.example().program, &target).in_form(OutputForm::Relocatable);
            let (_, cubin) = ptxas.assemble(&request).map_err(of_subject)?;
            for (kernel, sha256) in cubin.map(|cubin| cubin::code_hashes(&cubin)).unwrap_or_default() {
                let known = codes.iter_mut().find(|code| code.kernel == kernel && code.sha256 == sha256);
                match known {
                    Some(code) => code.compiler += &format!(" and {}", report.name_with_version(id)),
                    None => codes.push(KernelCode {
                        kernel,
                        sha256,
                        compiler: report.name_with_version(id),
                        right,
                    }),
                }
            }
        }
    }
    Ok(codes)
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroUsize;

    use ptxsmith_subject::process::Start;
    use ptxsmith_subject::{Cancel, Description, FnSubject, Observation};

    use ptxsmith_model::Class;

    use super::*;
    use crate::session::SilentEvents;

    fn session() -> Session {
        Session {
            jobs: NonZeroUsize::MIN,
            seed: 7,
            command_line: Vec::new(),
            cancel: Cancel::new(),
            libcuda: None,
            start: Start::Spawn,
            workers: None,
            limit: None,
            expected: Default::default(),
            known: Vec::new(),
            answers: Vec::new(),
            events: Box::new(SilentEvents),
        }
    }

    /// Returns the description of an NVIDIA release.
    fn release(id: &str, version: &str) -> Description {
        Description {
            id: id.to_owned(),
            version: Some(version.to_owned()),
            lineage: Some("nvidia".to_owned()),
            sha256: Some(format!("the hash of {id}")),
            relocations: Some(true),
            ..Description::default()
        }
    }

    /// Creates a subject with this description that returns the same observation for every program.
    fn tested(description: Description, observation: Observation) -> TestSubject {
        let subject = FnSubject::new("fake", move |_: &Request<'_>| observation.clone());
        TestSubject::new(Box::new(subject.described(description)))
    }

    fn known(id: &str) -> &'static KnownDeviation {
        KNOWN.iter().find(|known| known.id == id).unwrap()
    }

    /// A listed deviation for which a kernel should store 1 and is predicted to store 0.
    const PREDICTED: &str = "wide-predicate-in-comparison";

    #[test]
    fn a_listed_deviation_is_a_finding_of_the_releases_that_show_it() {
        let killed = Observation { signal: Some(8), ..Observation::new(Outcome::Crashed) };
        let refused = Observation::new(Outcome::Refused);
        let releases = [("11.7", &killed), ("12.6", &killed), ("13.5", &refused)].map(|(version, seen)| {
            tested(release(&format!("ptxas@{version}"), &format!("{version}.1")), seen.clone())
        });
        let Report { schema, command, seed, complete, subjects, compared, findings, .. } =
            finding_of_listed(&session(), known("quotient-overflow-crash"), &releases).unwrap();
        assert_eq!((&*schema, &*command, seed, complete, compared), (SCHEMA, "bundle", 7, true, 3));
        for (subject, version) in subjects.iter().zip(["11.7", "12.6", "13.5"]) {
            let id = format!("ptxas@{version}");
            let expected = SubjectResults {
                version: Some(format!("{version}.1")),
                lineage: Some("nvidia".to_owned()),
                available: true,
                sha256: Some(format!("the hash of {id}")),
                id,
                ..SubjectResults::default()
            };
            assert_eq!(*subject, expected);
        }
        let [finding] = &findings[..] else { panic!("{findings:?}") };
        assert_eq!((&*finding.id, finding.status), ("quotient-overflow-crash", Status::Known));
        assert_eq!(finding.title, "INT64_MIN / -1 crashes the compiler (SIGFPE)");
        assert_eq!(finding.clauses, ["4.5.5/division", "4.5.5/fully-defined"]);
        let x = ".global .s64 x = (-9223372036854775807 - 1) / -1;";
        assert_eq!(finding.program, format!(".version 7.7\n.target sm_80\n.address_size 64\n{x}\n"));
        assert_eq!((&*finding.validity, finding.first_seen.as_deref()), ("valid", Some("2026-11-21")));
        assert_eq!((finding.class, finding.count), (Class::Crash, 2));
        assert_eq!(finding.subjects, ["ptxas@12.6", "ptxas@11.7"], "the newest first");
        assert_eq!(finding.observed, killed);
        let told = finding.releases.iter().map(|of| format!("{} {} {}", of.subject, of.version, of.verdict));
        let verdicts: Vec<String> = told.collect();
        assert_eq!(
            verdicts,
            [
                "ptxas@11.7 11.7.1 crash",
                "ptxas@12.6 12.6.1 crash",
                // It does not support the header either.
                "ptxas@13.5 13.5.1 unsupported",
            ]
        );
        // A deviation that no release shows has no finding.
        let Err(Failure::BadInput(message)) =
            finding_of_listed(&session(), known("quotient-overflow-crash"), &releases[2..])
        else {
            panic!("it is shown")
        };
        assert!(message.starts_with("ptxas@13.5 does not show quotient-overflow-crash, which is listed for"));
    }

    #[test]
    fn what_code_does_not_determine_is_what_the_list_predicts_of_releases_that_take_the_program() {
        let accepted = Observation::new(Outcome::Accepted);
        let listed_of = |description: Description, seen: &Observation, id: &str| {
            let releases = [tested(description, seen.clone())];
            finding_of_listed(&session(), known(id), &releases)
                .ok()
                .map(|mut report| report.findings.remove(0))
        };
        let newest = release("ptxas@13.5", "13.5.37");
        let finding = listed_of(newest.clone(), &accepted, PREDICTED).unwrap();
        assert_eq!(finding.class, Class::WrongValue);
        assert_eq!(finding.releases[0].verdict, ProgramVerdict::Predicted(Class::WrongValue));
        let output = |byte| Output { size: 4, bytes: Some(vec![byte, 0, 0, 0]), ..Output::default() };
        assert_eq!(finding.observed.kernels, BTreeMap::from([("k".to_owned(), output(0))]));
        let expected = BTreeMap::from([("k".to_owned(), output(1))]);
        assert_eq!((finding.expected.outcome(), finding.expected.kernels()), (Some("accepted"), &expected));
        assert!(finding.observed.reason.unwrap().contains("predicted by the list"));
        let old = Description { max_ptx: Some("7.0".to_owned()), ..newest.clone() };
        let other = Description { lineage: None, ..newest.clone() };
        for (description, seen, id) in [
            // A release without support for that version, another implementation, a rejected program, and
            // data.
            (&old, &accepted, PREDICTED),
            (&other, &accepted, PREDICTED),
            (&newest, &Observation::new(Outcome::Refused), PREDICTED),
            (&newest, &accepted, "remainder-unsigned"),
        ] {
            assert_eq!(listed_of(description.clone(), seen, id), None, "{id}: {description:?}");
        }
    }

    #[test]
    fn of_kernels_only_bytes_are_left_and_of_what_is_refused_nothing() {
        let header = ".version 7.8\n.target sm_80\n.address_size 64\n";
        let kernel = |name: &str, set: &str| {
            format!(
                ".visible .entry {name}(.param .u64 out) {{ .reg .u64 o, p; ld.param.u64 o, [out]; {set}\
                 st.global.u64 [o], p; ret; }}\n"
            )
        };
        let number = kernel("number", "mov.u64 p, 42;");
        let address = kernel("address", "mov.u64 p, g;");
        let outputs = |text: String| outputs(&parse(&format!("{header}{text}")).unwrap(), &Rules::default());
        let output = Output { size: 8, bytes: Some(vec![42, 0, 0, 0, 0, 0, 0, 0]), ..Output::default() };
        let expected = BTreeMap::from([("number".to_owned(), output)]);
        assert_eq!(outputs(format!(".global .u32 g;\n{number}{address}")), expected);
        assert_eq!(outputs(format!(".global .u32 g = 1.5 % 2;\n{number}")), BTreeMap::new());
    }
}
