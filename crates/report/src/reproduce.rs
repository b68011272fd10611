//! Builds commands of the implementation that reproduce a finding without ptxsmith.

use ptxsmith_model::Class;
use ptxsmith_subject::{OUT_OF_MEMORY, Observation, Outcome, OutputForm};
use ptxsmith_syntax::{Module, parse};

use crate::Finding;

/// The maximum size in bytes of a program that is included in the command itself.
const MOST_BYTES: usize = 4_000;

/// The limit on processor time in seconds, for a compiler that does not terminate.
pub const SECONDS: u32 = 10;
/// The memory limit in KiB.
pub const MEMORY: u32 = 4 << 20;

/// The way in which an implementation is run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Runner {
    /// A ptxas, with its own options.
    Ptxas(Vec<String>),
    /// A command that prints an observation. If it serves many modules, it reads requests from its standard
    /// input.
    Command {
        /// The command line as the user wrote it.
        line: String,
        /// Whether it is a `serve:` subject.
        serves: bool,
    },
    /// An implementation that a shell cannot run: a library or a driver. It has no command; a bundle has a script
    /// for ptxas instead.
    Other,
}

impl Runner {
    /// Returns the runner of a subject, by the subject's id.
    pub fn for_subject(subject: &str) -> Runner {
        for (form, serves) in [("exec:", false), ("serve:", true)] {
            if let Some(line) = subject.strip_prefix(form) {
                return Runner::Command { line: line.to_owned(), serves };
            }
        }
        let (name, options) = subject.split_once(' ').unwrap_or((subject, ""));
        match name.split(['@', ':']).next() {
            Some("ptxas") => Runner::Ptxas(options.split_whitespace().map(str::to_owned).collect()),
            _ => Runner::Other,
        }
    }
}

/// The effect that a reproducing run has to show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Claim {
    /// The implementation crashes, with this signal if one was observed.
    Crashes(Option<i32>),
    /// The implementation writes malformed output.
    Malformed,
    /// The implementation does not terminate or exhausts the memory.
    ExceedsLimits,
    /// The implementation accepts the program.
    Accepts,
    /// The implementation rejects the program.
    Rejects,
    /// Variables have the observed contents.
    VariableContents,
    /// Kernels have the observed output.
    KernelOutput,
    /// A single run does not show it.
    Varies,
}

impl Claim {
    /// Returns the claim of a finding.
    pub fn for_finding(finding: &Finding) -> Claim {
        let observed = finding.example().observed;
        match observed.outcome {
            _ if finding.class == Class::Inconsistent => Claim::Varies,
            Outcome::Crashed if is_malformed(observed) => Claim::Malformed,
            Outcome::Crashed if observed.reason.as_deref() == Some(OUT_OF_MEMORY) => Claim::ExceedsLimits,
            Outcome::Crashed => Claim::Crashes(observed.signal),
            Outcome::TimedOut => Claim::ExceedsLimits,
            Outcome::Refused | Outcome::Unsupported => Claim::Rejects,
            Outcome::Accepted if finding.class == Class::AcceptsInvalid => Claim::Accepts,
            Outcome::Accepted if finding.example().variable.is_none() && has_kernels(finding) => {
                Claim::KernelOutput
            }
            Outcome::Accepted => Claim::VariableContents,
            Outcome::Unavailable => Claim::Varies,
        }
    }
}

/// Whether the subject wrote unreadable output without reporting an error.
pub(crate) fn is_malformed(observed: &Observation) -> bool {
    let reason = observed.reason.as_deref().unwrap_or_default();
    observed.outcome == Outcome::Crashed
        && observed.signal.is_none()
        && reason.starts_with("exit status 0, but")
}

fn has_kernels(finding: &Finding) -> bool {
    finding.example().program.contains(".entry")
}

/// The properties of a finding's program that determine how it is compiled.
#[derive(Clone, Debug)]
pub struct CompileSettings {
    /// The target of the program.
    pub target: String,
    /// Whether only relocatable output shows the deviation.
    pub relocatable: bool,
    has_32_bit_addresses: bool,
}

impl CompileSettings {
    /// Returns the properties of the program in a finding's example.
    pub fn for_finding(finding: &Finding) -> CompileSettings {
        let module: Module = parse(finding.example().program).unwrap_or_default();
        let target = module.targets().find(|target| target.starts_with("sm_")).unwrap_or("sm_80").to_owned();
        let form = finding.example().expected.form.unwrap_or_else(|| match Claim::for_finding(finding) {
            Claim::KernelOutput => OutputForm::Relocatable,
            _ => OutputForm::showing(&module),
        });
        CompileSettings {
            target,
            relocatable: form == OutputForm::Relocatable,
            has_32_bit_addresses: module.address_size() == Some(32),
        }
    }

    /// Returns the command that compiles `NAME.ptx`.
    pub fn command(&self, options: &[String], name: &str) -> String {
        let mut words = vec!["ptxas".to_owned(), format!("-arch={}", self.target)];
        words.extend(options.iter().cloned());
        if self.has_32_bit_addresses && !options.iter().any(|option| option.starts_with("-m")) {
            words.push("-m32".to_owned());
        }
        if self.relocatable {
            words.push("-c".to_owned());
        }
        words.extend([format!("{name}.ptx"), "-o".to_owned(), format!("{name}.cubin")]);
        words.iter().map(|text| word(text)).collect::<Vec<_>>().join(" ")
    }
}

/// Formats a text as one word of a shell command, quoted if necessary.
pub(crate) fn word(text: &str) -> String {
    if !text.is_empty() && text.chars().all(is_plain) {
        text.to_owned()
    } else {
        shell_words::quote(text).into_owned()
    }
}

/// Whether a character needs no quotes in a shell command.
fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || "-_./=+,@%:".contains(c)
}

/// Returns the command line of an `exec:` subject for a file. The path replaces `{ptx}`, or is appended.
pub fn command_for(line: &str, file: &str) -> String {
    const PLACEHOLDER: &str = "{ptx}";
    if line.contains(PLACEHOLDER) { line.replace(PLACEHOLDER, file) } else { format!("{line} {file}") }
}

/// Returns the request that a `serve:` subject receives for a finding's program.
pub fn serve_request(finding: &Finding) -> String {
    let target = CompileSettings::for_finding(finding).target;
    serde_json::json!({"id": 1, "ptx": finding.example().program, "target": target, "read": []}).to_string()
}

/// Returns the section of a cubin that contains the variable which shows a finding.
fn section_of(finding: &Finding) -> &'static str {
    let example = finding.example();
    let variable = example.variable.and_then(|name| example.expected.variable(name));
    match variable.and_then(|variable| variable.space.as_deref()) {
        Some("const") => ".nv.constant3",
        _ => ".nv.global.init",
    }
}

/// Returns the commands, one per line, that reproduce a finding with the program in `NAME.ptx`; `None` if a
/// shell cannot.
pub fn commands(finding: &Finding, name: &str) -> Option<Vec<String>> {
    match Runner::for_subject(finding.subjects.first()?) {
        Runner::Ptxas(options) => {
            let compile = CompileSettings::for_finding(finding).command(&options, name);
            let compile = match Claim::for_finding(finding) {
                Claim::ExceedsLimits => format!("(ulimit -t {SECONDS}; ulimit -v {MEMORY}; {compile})"),
                _ => compile,
            };
            Some([compile].into_iter().chain(inspection(finding, name)).collect())
        }
        Runner::Command { line, serves: false } => Some(vec![command_for(&line, &format!("{name}.ptx"))]),
        Runner::Command { line, serves: true } => {
            Some(vec![format!("printf '%s\\n' {} | {line}", shell_words::quote(&serve_request(finding)))])
        }
        Runner::Other => None,
    }
}

/// Returns the command that shows the deviation after `NAME.ptx` was compiled; `None` if a single run cannot
/// show it.
fn inspection(finding: &Finding, name: &str) -> Option<String> {
    match Claim::for_finding(finding) {
        Claim::Crashes(Some(signal)) => Some(format!("echo $?  # {} = 128 + signal {signal}", 128 + signal)),
        Claim::Crashes(None) | Claim::Accepts | Claim::Rejects => Some("echo $?".to_owned()),
        Claim::ExceedsLimits => {
            Some("echo $?  # 137 or 152: no end in that time; else it tells of the memory".to_owned())
        }
        Claim::VariableContents if finding.class == Class::WrongLayout => {
            Some(format!("readelf -sSW {name}.cubin"))
        }
        Claim::VariableContents => {
            let section = section_of(finding);
            Some(format!("readelf -rW --hex-dump={section} {name}.cubin  # or cuobjdump -elf"))
        }
        Claim::Malformed => Some(format!("readelf -aW {name}.cubin")),
        Claim::KernelOutput => Some(format!("nvdisasm -c {name}.cubin")),
        Claim::Varies => None,
    }
}

/// Returns one shell command, without ptxsmith, that writes the program and compiles it. A long program is
/// read from the finding's file in the folder of the report.
pub fn command(finding: &Finding) -> Option<String> {
    let program = finding.example().program;
    let is_served =
        matches!(Runner::for_subject(finding.subjects.first()?), Runner::Command { serves: true, .. });
    if is_served || program.is_empty() {
        return commands(finding, "x").map(|lines| lines.join("\n"));
    }
    if program.len() > MOST_BYTES {
        let file = finding.file.as_deref()?;
        let name = file.strip_suffix(".ptx").unwrap_or(file);
        return commands(finding, name).map(|lines| lines.join("\n"));
    }
    let mut end = "END".to_owned();
    while program.lines().any(|line| line == end) {
        end.push('_');
    }
    let newline = if program.ends_with('\n') { "" } else { "\n" };
    let lines = commands(finding, "x")?.join("\n");
    Some(format!("cat > x.ptx <<'{end}'\n{program}{newline}{end}\n{lines}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(subject: &str, program: &str, observed: Observation) -> Finding {
        let subjects = vec![subject.to_owned()];
        let program = program.to_owned();
        Finding { subjects, program, observed, class: Class::Crash, ..Finding::default() }
    }

    fn crashed() -> Observation {
        Observation { signal: Some(8), ..Observation::new(Outcome::Crashed) }
    }

    #[test]
    fn the_compiler_alone_reproduces_a_crash() {
        let program = ".version 7.7\n.target sm_75, debug\n.global .u64 x = 1 / 0;\n";
        let shown = command(&finding("ptxas@13.5 -O0", program, crashed())).unwrap();
        let expected = format!(
            "cat > x.ptx <<'END'\n{program}END\nptxas -arch=sm_75 -O0 x.ptx -o x.cubin\necho $?  # 136 = 128 + signal 8"
        );
        assert_eq!(shown, expected);
    }

    #[test]
    fn a_line_of_the_program_does_not_end_it() {
        let shown = command(&finding("ptxas@13.5", "END\n", crashed())).unwrap();
        assert!(shown.starts_with("cat > x.ptx <<'END_'\nEND\nEND_\n"), "{shown}");
    }

    #[test]
    fn commands_get_the_file_or_the_request_and_libraries_have_none() {
        let command_for = |subject: &str| command(&finding(subject, ".version 7.7\n", crashed()));
        assert!(command_for("exec:toy --in {ptx} -v").unwrap().ends_with("\ntoy --in x.ptx -v"));
        assert!(command_for("exec:toy").unwrap().ends_with("\ntoy x.ptx"));
        assert!(command_for("serve:toy").unwrap().starts_with("printf '%s\\n' '{\"id\":1,"));
        assert_eq!((command_for("nvjitlink@13.5"), command_for("driver")), (None, None));
    }

    #[test]
    fn a_long_program_is_read_from_its_file() {
        let mut long = finding("ptxas@13.5", &"// a comment\n".repeat(1_000), crashed());
        assert_eq!(command(&long), None);
        long.file = Some("findings/a.ptx".to_owned());
        assert!(
            command(&long).unwrap().starts_with("ptxas -arch=sm_80 findings/a.ptx -o findings/a.cubin\n")
        );
    }
}
