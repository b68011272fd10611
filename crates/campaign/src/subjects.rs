//! Opens the implementations under test, and adapts headers and targets to them.

use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use ptxsmith_diff::{Header, Profile};
use ptxsmith_oracle::Rules;
use ptxsmith_report::harmless::line;
use ptxsmith_subject::sass::Disassembler;
use ptxsmith_subject::toolchain::{InstallError, Tool, ToolKind, Toolchains};
use ptxsmith_subject::version::Version;
use ptxsmith_subject::{
    Description, Limits, OpenOptions, Subject, SubjectSpec, UnavailableKind, open, process,
};
use ptxsmith_syntax::Module;

use crate::failure::{Failure, of_subject};
use crate::ledger::Ledger;
use crate::pool::lock_of;
use crate::session::{Progress, Session};

/// One implementation under test.
pub struct TestSubject {
    /// The implementation.
    pub subject: Box<dyn Subject>,
    /// The header of generated modules, with a version and a target that it accepts.
    pub header: Header,
    /// The specification's rules, with the answers to open questions that the user gave.
    pub rules: Rules,
    /// The profile from before the test, once it was determined.
    profile: Mutex<Option<Profile>>,
    ledger: Mutex<Ledger>,
}

impl TestSubject {
    /// Wraps a subject, or a stand-in with its recorded description.
    pub fn new(subject: Box<dyn Subject>) -> TestSubject {
        TestSubject {
            header: header_for(subject.description()),
            subject,
            rules: Rules::default(),
            profile: Mutex::default(),
            ledger: Mutex::default(),
        }
    }

    /// Returns the subject's profile. Determines it on the first call by running the subject.
    ///
    /// # Errors
    /// If the subject cannot be run.
    pub fn profile(&self) -> Result<Profile, Failure> {
        let mut profile = lock_of(&self.profile);
        if profile.is_none() {
            *profile = Some(Profile::ask(&*self.subject, &self.header).map_err(of_subject)?);
        }
        Ok(profile.clone().unwrap_or_default())
    }

    /// Returns the profile if it was determined already.
    pub fn known_profile(&self) -> Option<Profile> {
        lock_of(&self.profile).clone()
    }

    /// Sets the profile that was saved when the campaign began.
    pub fn know(&self, profile: Option<Profile>) {
        if profile.is_some() {
            *lock_of(&self.profile) = profile;
        }
    }

    /// Locks and returns the ledger.
    pub fn ledger(&self) -> MutexGuard<'_, Ledger> {
        lock_of(&self.ledger)
    }

    /// Returns true if the subject declares support for the module's PTX version, or declares no limit.
    pub fn supports_version_of(&self, module: &Module) -> bool {
        let max = self.subject.description().max_ptx.as_deref().and_then(Version::parse_ptx);
        max.is_none_or(|max| module.version().is_none_or(|version| version <= max))
    }

    /// Returns true if the subject declares support for this header, or declares no limits.
    pub fn supports(&self, header: &Header) -> bool {
        let description = self.subject.description();
        let targets = &description.targets;
        let new_enough = description.max_ptx.as_deref().and_then(Version::parse_ptx);
        (targets.is_empty() || targets.contains(&header.target))
            && new_enough.is_none_or(|max| header.version() <= max)
    }
}

/// The time limit for the first answer of a user's command, unless the user sets a longer one.
const FIRST: Duration = Duration::from_secs(2);

/// Opens every subject that the user named, or the default one. Installs missing releases.
///
/// Fails before the campaign starts if a subject is unavailable or gives no valid answer for a first program:
/// a user who names a subject wants it tested, and a result without it would look complete.
pub fn open_subjects(
    session: &Session,
    specs: &[SubjectSpec],
    timeout: Option<Duration>,
) -> Result<Vec<TestSubject>, Failure> {
    let default = [SubjectSpec::default()];
    let specs = if specs.is_empty() { &default } else { specs };
    let mut limits = Limits::default();
    if let Some(timeout) = timeout {
        limits.time = timeout;
    }
    let waiting = session.events.wait();
    let options = OpenOptions {
        limits,
        first: FIRST.max(timeout.unwrap_or_default()),
        cancel: session.cancel.clone(),
        install: true,
        workers: session.workers.clone(),
        libcuda: session.libcuda.clone(),
        start: session.start.clone(),
        progress: &|message: &str| show_step(&*waiting, message),
        ..OpenOptions::default()
    };
    let mut tested: Vec<TestSubject> = Vec::new();
    for spec in specs {
        let opened = open(spec, &options).map_err(|unavailable| {
            let mut message = format!("{spec} is not available: {unavailable}");
            if unavailable.kind == UnavailableKind::InstallFailed && spec.to_string().starts_with("ptxas") {
                message.push_str("; without a network, name a ptxas that is here: --subject ptxas:/PATH");
            }
            match spec {
                _ if session.cancel.is_cancelled() => Failure::Interrupted,
                // A wrong path or command is an error of the user.
                spec if spec.is_chosen_by_user() => Failure::BadInput(message),
                _ => Failure::NoSubject(message),
            }
        })?;
        for subject in opened {
            waiting.say(format!("waiting for the first answer of {}", line(subject.id())));
            if let Some(unanswered) = subject.probe().map_err(of_subject)? {
                return Err(Failure::NoSubject(format!("{spec}: {unanswered}")));
            }
            // `--subject ptxas --subject ptxas@13.5` may name the same subject twice.
            if !tested.iter().any(|known| known.subject.id() == subject.id()) {
                tested.push(TestSubject { rules: session.rules(), ..TestSubject::new(subject) });
            }
        }
    }
    Ok(tested)
}

/// Installs the disassembler if it is missing and any of these subjects (empty for the default one) generates
/// code. Without it kernels cannot be observed, but that is counted and does not stop a campaign.
pub fn ensure_disassembler(session: &Session, specs: &[SubjectSpec]) -> Result<(), Failure> {
    if !specs.is_empty() && specs.iter().all(SubjectSpec::answers_for_itself) {
        return Ok(());
    }
    let toolchains = Toolchains::for_user().ok();
    if Disassembler::find(toolchains.as_ref(), &session.cancel).is_some() {
        return Ok(());
    }
    let newest = Tool::newest(ToolKind::Nvdisasm);
    let (Some(toolchains), Some(tool)) = (toolchains, newest) else { return Ok(()) };
    let waiting = session.events.wait();
    let installed =
        toolchains.install_tool(tool, &session.cancel, &|message: &str| show_step(&*waiting, message));
    match installed {
        Err(InstallError::Process(process::ProcessError::Cancelled(_))) => Err(Failure::Interrupted),
        Err(error) => {
            let error = anyhow::Error::from(error);
            session.events.note(&format!("kernels will not be observed without a device: {error:#}"));
            Ok(())
        }
        Ok(_) => Ok(()),
    }
}

/// Shows the current step of an installation.
fn show_step(progress: &dyn Progress, message: &str) {
    progress.say(line(message).into_owned());
    progress.note(message);
}

/// Returns the default header, or the closest one that the subject supports.
fn header_for(description: &Description) -> Header {
    let mut header = Header::default();
    if let Some(max) = description.max_ptx.as_deref()
        && Version::parse_ptx(max).is_some_and(|max| max < header.version())
    {
        header.version = max.to_owned();
    }
    if let Some(target) = nearest(&header.target, description) {
        header.target = target;
    }
    header
}

/// Returns the target for which to assemble a module: its own, or the next later one that the subject
/// supports, since a program for one target runs on all later ones.
pub fn target_for(module: &Module, description: &Description) -> String {
    let target = module.targets().find(|target| target.starts_with("sm_")).unwrap_or("sm_80");
    nearest(target, description).unwrap_or_else(|| target.to_owned())
}

/// Returns the module's target and the substitute for it, if the subject does not support the former.
pub fn other_target(module: &Module, description: &Description) -> Option<(String, String)> {
    let target = module.targets().find(|target| target.starts_with("sm_"))?;
    let other = nearest(target, description).filter(|other| other != target)?;
    Some((target.to_owned(), other))
}

/// Returns the target if the subject supports it or declares no targets, otherwise the earliest later one;
/// `None` if there is none.
fn nearest(target: &str, description: &Description) -> Option<String> {
    let targets = &description.targets;
    if targets.is_empty() || targets.iter().any(|known| known == target) {
        return Some(target.to_owned());
    }
    // Architecture-specific targets such as `sm_90a` are not compatible with any other.
    let wanted = target_number(target)?;
    let numbered = targets.iter().filter_map(|known| Some((target_number(known)?, known)));
    let (_, earliest) = numbered.filter(|(number, _)| *number > wanted).min()?;
    Some(earliest.clone())
}

/// Returns the number of a target such as `sm_80`.
fn target_number(target: &str) -> Option<u32> {
    target.strip_prefix("sm_")?.parse().ok()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};

    use ptxsmith_subject::worker::Workers;
    use ptxsmith_subject::{FnSubject, Observation, Outcome, Request, Unavailable};

    use super::*;
    use crate::campaign::fake::session;
    use crate::session::{Events, Progress};

    fn described(max_ptx: &str, targets: &[&str]) -> Description {
        let targets = targets.iter().map(|&target| target.to_owned()).collect();
        Description { max_ptx: Some(max_ptx.to_owned()), targets, ..Description::default() }
    }

    #[test]
    fn a_header_is_what_the_subject_takes() {
        assert_eq!(header_for(&Description::default()), Header::default());
        assert_eq!(header_for(&described("9.5", &["sm_75", "sm_80"])), Header::default());
        assert_eq!(header_for(&described("7.7", &[])).version, "7.7");
        assert_eq!(header_for(&described("9.5", &["sm_75", "sm_90"])).target, "sm_90");
        assert_eq!(header_for(&described("unknown", &["sm_35"])), Header::default());
    }

    #[test]
    fn an_old_target_becomes_the_least_one_that_the_subject_takes() {
        let target = |text: &str| {
            let module = ptxsmith_syntax::parse(&format!(".version 7.8\n.target {text}\n")).unwrap();
            target_for(&module, &described("9.5", &["sm_75", "sm_80", "sm_90a"]))
        };
        assert_eq!(target("sm_35"), "sm_75");
        assert_eq!(target("sm_75, debug"), "sm_75");
        assert_eq!(target("sm_90"), "sm_90");
        assert_eq!(target("sm_90a"), "sm_90a");
        assert_eq!(target("sm_100a"), "sm_100a");
        let other = |text: &str| {
            let module = ptxsmith_syntax::parse(&format!(".version 7.8\n.target {text}\n")).unwrap();
            other_target(&module, &described("9.5", &["sm_75", "sm_80", "sm_90a"]))
        };
        assert_eq!(other("sm_35, debug"), Some(("sm_35".to_owned(), "sm_75".to_owned())));
        for shown_as_it_is in ["sm_75", "sm_90a", "sm_100a", "sm_90"] {
            assert_eq!(other(shown_as_it_is), None);
        }
    }

    #[test]
    fn a_subject_is_asked_once_for_what_is_known_of_it() {
        let calls = Arc::new(AtomicU64::new(0));
        let counted = Arc::clone(&calls);
        let subject = FnSubject::new("a", move |_: &Request<'_>| {
            counted.fetch_add(1, Ordering::Relaxed);
            Observation::new(Outcome::Accepted)
        });
        let tested = TestSubject::new(Box::new(subject));
        assert_eq!(tested.known_profile(), None);
        let profile = tested.profile().unwrap();
        let asked = calls.load(Ordering::Relaxed);
        assert!(asked > 0);
        assert_eq!(tested.known_profile(), Some(profile.clone()));
        assert_eq!((tested.profile().unwrap(), calls.load(Ordering::Relaxed)), (profile.clone(), asked));
        // The profile of a resumed campaign is not determined again, and a campaign without one does not
        // remove it.
        let later = TestSubject::new(Box::new(FnSubject::new("a", |_: &Request<'_>| panic!("it is known"))));
        later.know(Some(profile.clone()));
        later.know(None);
        assert_eq!(later.profile().unwrap(), profile);
    }

    #[test]
    fn what_a_subject_takes_is_what_it_says_or_anything() {
        let tested = |description: Description| {
            let subject = FnSubject::new("a", |_: &Request<'_>| Observation::new(Outcome::Accepted));
            TestSubject::new(Box::new(subject.described(description)))
        };
        let header = |version: &str, target: &str| Header {
            version: version.to_owned(),
            target: target.to_owned(),
            ..Header::default()
        };
        let rows = [
            (described("7.8", &["sm_80", "sm_90"]), "7.8", "sm_90", [true, true]),
            (described("7.8", &["sm_80", "sm_90"]), "7.9", "sm_90", [false, false]),
            (described("7.8", &["sm_80", "sm_90"]), "7.8", "sm_75", [false, true]),
            (described("7.8", &["sm_80", "sm_90"]), "7.9", "sm_75", [false, false]),
            (described("7.8", &[]), "7.0", "sm_35", [true, true]),
            (described("7.8", &[]), "8.0", "sm_35", [false, false]),
            (Description::default(), "9.9", "sm_200", [true, true]),
        ];
        for (description, version, target, [takes, takes_version]) in rows {
            let tested = tested(description);
            assert_eq!(tested.supports(&header(version, target)), takes, "{version} {target}");
            let text = format!(".version {version}\n.target {target}\n");
            let module = ptxsmith_syntax::parse(&text).unwrap();
            assert_eq!(tested.supports_version_of(&module), takes_version, "{version}");
        }
        let module = ptxsmith_syntax::parse(".global .s32 a;\n").unwrap();
        assert!(tested(described("7.8", &[])).supports_version_of(&module));
    }

    /// Records the messages while a long operation starts.
    #[derive(Clone, Default)]
    struct Waiting(Arc<Mutex<Vec<String>>>);

    impl Events for Waiting {
        fn note(&self, message: &str) {
            lock_of(&self.0).push(message.to_owned());
        }

        fn wait(&self) -> Box<dyn Progress> {
            Box::new(self.clone())
        }
    }

    impl Progress for Waiting {
        fn say(&self, message: String) {
            lock_of(&self.0).push(format!("says {message}"));
        }

        fn note(&self, message: &str) {
            lock_of(&self.0).push(format!("notes {message}"));
        }
    }

    #[test]
    fn subjects_are_opened_with_what_the_session_has() {
        let told = Waiting::default();
        let mut session = session();
        let workers = Workers { program: "/bin/worker".into(), args: vec!["work".to_owned()] };
        session.workers = Some(workers.clone());
        session.libcuda = Some("/lib/cuda".into());
        session.start = process::Start::Fork(Default::default());
        session.events = Box::new(told.clone());
        let cancel = session.cancel.clone();
        let times = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&times);
        let spec = SubjectSpec::custom("mine", move |options| {
            lock_of(&seen).push(options.limits.time);
            assert_eq!(options.limits.memory, Limits::default().memory);
            assert!(options.install);
            assert_eq!(options.workers.as_ref(), Some(&workers));
            assert_eq!(options.libcuda.as_deref(), Some("/lib/cuda".as_ref()));
            assert!(matches!(options.start, process::Start::Fork(_)));
            assert!(!options.cancel.is_cancelled());
            cancel.cancel();
            assert!(options.cancel.is_cancelled());
            (options.progress)("half of it");
            let subject = || FnSubject::new("mine", |_: &Request<'_>| Observation::new(Outcome::Accepted));
            Ok(vec![Box::new(subject()), Box::new(subject())])
        });
        let opened = open_subjects(&session, &[spec], Some(Duration::from_secs(77))).unwrap();
        assert_eq!(opened.len(), 1, "the second one is the same");
        assert_eq!(*lock_of(&times), [Duration::from_secs(77)]);
        let first = "says waiting for the first answer of mine";
        assert_eq!(*lock_of(&told.0), ["says half of it", "notes half of it", first, first]);
        let limits = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&limits);
        let spec = SubjectSpec::custom("mine", move |options| {
            lock_of(&seen).push(options.limits.time);
            Ok(Vec::new())
        });
        open_subjects(&session, &[spec], None).unwrap();
        assert_eq!(*lock_of(&limits), [Limits::default().time]);
    }

    #[test]
    fn one_that_is_not_available_is_told_with_what_to_do_about_it() {
        let failure = |session: &Session, name: &str, kind: UnavailableKind| {
            let spec =
                SubjectSpec::custom(name, move |_| Err(Unavailable { kind, reason: "no way".to_owned() }));
            open_subjects(session, &[spec], None).err().unwrap()
        };
        let (session, mut own) = (session(), session());
        let advice = "; without a network, name a ptxas that is here: --subject ptxas:/PATH";
        for (name, kind, more) in [
            ("ptxas@1", UnavailableKind::InstallFailed, advice),
            ("ptxas@1", UnavailableKind::NotFound, ""),
            ("mine", UnavailableKind::InstallFailed, ""),
            ("mine", UnavailableKind::NotFound, ""),
        ] {
            let Failure::BadInput(message) = failure(&session, name, kind) else { panic!("{name}") };
            assert_eq!(message, format!("{name} is not available: no way{more}"));
        }
        // A failure of this machine is not an error of the user.
        own.libcuda = Some("/no/such/libcuda.so".into());
        let driver = ptxsmith_subject::parse_spec("driver").unwrap();
        let failed = open_subjects(&own, &[driver], None).err().unwrap();
        let Failure::NoSubject(message) = failed else { panic!("{failed:?}") };
        assert!(message.starts_with("driver is not available: "), "{message}");
        session.cancel.cancel();
        let failed = failure(&session, "mine", UnavailableKind::NotFound);
        assert!(matches!(failed, Failure::Interrupted), "{failed:?}");
    }

    /// Set in the process without a disassembler.
    const WITHOUT: &str = "PTXSMITH_TEST_WITHOUT_DISASSEMBLER";

    #[test]
    fn where_no_disassembler_is_it_is_looked_for() {
        if std::env::var_os(WITHOUT).is_some() {
            // A stopped session downloads nothing, wherever the stop is noticed.
            let (mut session, told) = (session(), Waiting::default());
            session.events = Box::new(told.clone());
            session.cancel.cancel();
            let own = SubjectSpec::custom("own", |_| Ok(Vec::new()));
            assert!(ensure_disassembler(&session, &[own.clone(), own.clone()]).is_ok());
            assert!(lock_of(&told.0).is_empty(), "what answers for itself has nothing listed");
            match ensure_disassembler(&session, &[own, SubjectSpec::default()]) {
                Ok(()) => {
                    let told = lock_of(&told.0);
                    let note = told.last().unwrap();
                    assert!(note.starts_with("kernels will not be observed without a device: "), "{note}");
                }
                Err(failure) => assert!(matches!(failure, Failure::Interrupted), "{failure:?}"),
            }
            return;
        }
        let nothing = tempfile::tempdir().unwrap();
        let own = "subjects::tests::where_no_disassembler_is_it_is_looked_for";
        let output = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", own, "--test-threads=1"])
            .env(WITHOUT, "1")
            .env(ptxsmith_subject::toolchain::CACHE_VARIABLE, nothing.path())
            .env("PATH", nothing.path())
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
        assert!(String::from_utf8_lossy(&output.stdout).contains("1 passed"));
    }
}
