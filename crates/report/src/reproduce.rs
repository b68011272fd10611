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
    /// A command that prints an observation. If it serves many modules, it reads requests from its standard input.
    Command {
        /// The command line as the user wrote it.
        line: String,
        /// Whether it is a `serve:` subject.
        serves: bool,
    },
    /// An implementation that a shell cannot run: a library or a driver.
    Other,
}

impl Runner {
    /// Returns the runner of a subject, by the subject's id.
    pub fn of(subject: &str) -> Runner {
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
    Dies(Option<i32>),
    /// The implementation writes malformed output.
    Malformed,
    /// The implementation does not terminate or exhausts the memory.
    Exhausts,
    /// The implementation accepts the program.
    Accepts,
    /// The implementation rejects the program.
    Rejects,
    /// Variables have the observed contents.
    Holds,
    /// Kernels have the observed output.
    Leaves,
    /// A single run does not show it.
    Varies,
}

impl Claim {
    /// Returns the claim of a finding.
    pub fn of(finding: &Finding) -> Claim {
        let observed = finding.example().observed;
        match observed.outcome {
            _ if finding.class == Class::Inconsistent => Claim::Varies,
            Outcome::Crashed if is_malformed(observed) => Claim::Malformed,
            Outcome::Crashed if observed.reason.as_deref() == Some(OUT_OF_MEMORY) => Claim::Exhausts,
            Outcome::Crashed => Claim::Dies(observed.signal),
            Outcome::TimedOut => Claim::Exhausts,
            Outcome::Refused | Outcome::Unsupported => Claim::Rejects,
            Outcome::Accepted if finding.class == Class::AcceptsInvalid => Claim::Accepts,
            Outcome::Accepted if finding.example().variable.is_none() && has_kernels(finding) => {
                Claim::Leaves
            }
            Outcome::Accepted => Claim::Holds,
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
pub struct Compiled {
    /// The target of the program.
    pub target: String,
    /// Whether only relocatable output shows the deviation.
    pub relocatable: bool,
    /// Whether the program declares 32-bit addresses.
    narrow: bool,
}

impl Compiled {
    /// Returns the properties of the program in a finding's example.
    pub fn of(finding: &Finding) -> Compiled {
        let module: Module = parse(finding.example().program).unwrap_or_default();
        let target = module.targets().find(|target| target.starts_with("sm_")).unwrap_or("sm_80").to_owned();
        let usual =
            Claim::of(finding) == Claim::Leaves || OutputForm::showing(&module) == OutputForm::Relocatable;
        let named = finding.example().expected.form;
        let relocatable = named.map_or(usual, |form| form == OutputForm::Relocatable);
        Compiled { target, relocatable, narrow: module.address_size() == Some(32) }
    }

    /// Returns the command that compiles `NAME.ptx`.
    pub fn command(&self, options: &[String], name: &str) -> String {
        let mut words = vec!["ptxas".to_owned(), format!("-arch={}", self.target)];
        words.extend(options.iter().cloned());
        if self.narrow && !options.iter().any(|option| option.starts_with("-m")) {
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
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./=+,@%:".contains(c);
    match !text.is_empty() && text.chars().all(is_plain) {
        true => text.to_owned(),
        false => shell_words::quote(text).into_owned(),
    }
}

/// Returns the command line of an `exec:` subject for a file. The path replaces `{ptx}`, or is appended.
pub fn command_for(line: &str, file: &str) -> String {
    const PLACEHOLDER: &str = "{ptx}";
    if line.contains(PLACEHOLDER) { line.replace(PLACEHOLDER, file) } else { format!("{line} {file}") }
}

/// Returns the request that a `serve:` subject receives for a finding's program.
pub fn request_of(finding: &Finding) -> String {
    let target = Compiled::of(finding).target;
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

/// Returns the commands, one per line, that reproduce a finding with the program in `NAME.ptx`; `None` if a shell cannot.
pub fn commands(finding: &Finding, name: &str) -> Option<Vec<String>> {
    let subject = finding.subjects.first()?;
    let compiled = Compiled::of(finding);
    match Runner::of(subject) {
        Runner::Ptxas(options) => {
            let compile = compiled.command(&options, name);
            let mut lines = vec![match Claim::of(finding) {
                Claim::Exhausts => format!("(ulimit -t {SECONDS}; ulimit -v {MEMORY}; {compile})"),
                _ => compile,
            }];
            lines.extend(match Claim::of(finding) {
                Claim::Dies(Some(signal)) => {
                    Some(format!("echo $?  # {} = 128 + signal {signal}", 128 + signal))
                }
                Claim::Dies(None) | Claim::Accepts | Claim::Rejects => Some("echo $?".to_owned()),
                Claim::Exhausts => {
                    Some("echo $?  # 137 or 152: no end in that time; else it tells of the memory".to_owned())
                }
                Claim::Holds => {
                    let section = section_of(finding);
                    let layout = finding.class == Class::WrongLayout;
                    Some(if layout {
                        format!("readelf -sSW {name}.cubin")
                    } else {
                        format!("readelf -rW --hex-dump={section} {name}.cubin  # or cuobjdump -elf")
                    })
                }
                Claim::Malformed => Some(format!("readelf -aW {name}.cubin")),
                Claim::Leaves => Some(format!("nvdisasm -c {name}.cubin")),
                Claim::Varies => None,
            });
            Some(lines)
        }
        Runner::Command { line, serves: false } => Some(vec![command_for(&line, &format!("{name}.ptx"))]),
        Runner::Command { line, serves: true } => {
            Some(vec![format!("printf '%s\\n' {} | {line}", shell_words::quote(&request_of(finding)))])
        }
        Runner::Other => None,
    }
}

/// Returns one shell command, without ptxsmith, that writes the program and compiles it. A long program is read from the finding's file in
/// the folder of the report.
pub fn command(finding: &Finding) -> Option<String> {
    let program = finding.example().program;
    let is_served = matches!(Runner::of(finding.subjects.first()?), Runner::Command { serves: true, .. });
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
        let (subjects, program) = (vec![subject.to_owned()], program.to_owned());
        Finding { subjects, program, observed, class: Class::Crash, ..Finding::default() }
    }

    fn dies() -> Observation {
        Observation { signal: Some(8), ..Observation::new(Outcome::Crashed) }
    }

    #[test]
    fn a_crash_is_shown_by_the_compiler_alone() {
        let program = ".version 7.7\n.target sm_75, debug\n.global .u64 x = 1 / 0;\n";
        let shown = command(&finding("ptxas@13.5 -O0", program, dies())).unwrap();
        let expected = format!(
            "cat > x.ptx <<'END'\n{program}END\nptxas -arch=sm_75 -O0 x.ptx -o x.cubin\necho $?  # 136 = 128 + signal 8"
        );
        assert_eq!(shown, expected);
    }

    #[test]
    fn a_line_of_the_program_does_not_end_it() {
        let shown = command(&finding("ptxas@13.5", "END\n", dies())).unwrap();
        assert!(shown.starts_with("cat > x.ptx <<'END_'\nEND\nEND_\n"), "{shown}");
    }

    #[test]
    fn commands_get_the_file_or_the_request_and_libraries_have_none() {
        let of = |subject: &str| command(&finding(subject, ".version 7.7\n", dies()));
        assert!(of("exec:toy --in {ptx} -v").unwrap().ends_with("\ntoy --in x.ptx -v"));
        assert!(of("exec:toy").unwrap().ends_with("\ntoy x.ptx"));
        assert!(of("serve:toy").unwrap().starts_with("printf '%s\\n' '{\"id\":1,"));
        assert_eq!((of("nvjitlink@13.5"), of("driver")), (None, None));
    }

    #[test]
    fn a_long_program_is_taken_from_its_file() {
        let mut long = finding("ptxas@13.5", &"// a comment\n".repeat(1_000), dies());
        assert_eq!(command(&long), None);
        long.file = Some("findings/a.ptx".to_owned());
        assert!(
            command(&long).unwrap().starts_with("ptxas -arch=sm_80 findings/a.ptx -o findings/a.cubin\n")
        );
    }
}
