//! The command line: its commands, options and help texts.

mod campaign;
mod generate;
mod programs;
mod report;
mod tools;

use std::path::PathBuf;

use anstream::ColorChoice;
use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::describe::{
    CACHE, COMPARING_RELEASES, CUDA_HOME, JUDGED, LIBCUDA, NO_COLOR, PATH, REDUCING, SHARDS, TESTS, help,
};
use crate::work::{WorkArgs, idle};

pub use self::campaign::{CampaignArgs, DriftArgs, MergeArgs, Presentation, RunArgs};
pub use self::generate::{GenArgs, ProgramKind, SuiteArgs};
pub use self::programs::{
    BundleArgs, CheckArgs, EvalArgs, ExpectedValidity, LintArgs, LintFormat, ReduceArgs,
};
pub use self::report::{AtlasArgs, ExplainArgs, FullListing, HistoryArgs, ReportArgs};
pub use self::tools::{CompletionsArgs, LibraryWorkerArgs, SubjectsArgs, ToolchainCommand, WorkerCommand};

/// Tests implementations of PTX data declarations against what the specification says.
#[derive(Debug, Parser)]
#[command(
    name = "ptxsmith",
    version = version(),
    propagate_version = true,
    max_term_width = 100,
    after_help = STATUSES,
)]
pub struct Cli {
    /// Flags of every command.
    #[command(flatten)]
    pub global: GlobalArgs,
    /// The command.
    #[command(subcommand)]
    pub command: Command,
}

/// Returns the version of the program, with the commit if the build set `PTXSMITH_COMMIT`.
fn version() -> String {
    let commit = option_env!("PTXSMITH_COMMIT").filter(|commit| !commit.is_empty());
    let commit = commit.map(|commit| format!(" ({commit})")).unwrap_or_default();
    format!("{}{commit}", env!("CARGO_PKG_VERSION"))
}

const STATUSES: &str = "\
Exit status:
  0  everything compared conforms or is a known deviation; for other commands: done
  1  a new deviation, or a listed one that no longer reproduces; what --deny names
  2  bad usage or bad input
  3  nothing was compared, or a subject gives no valid answer or refuses nearly everything valid
  4  ptxsmith itself failed
  130, 143, 129  stopped by SIGINT, SIGTERM, SIGHUP; what was found until then is kept";

/// Flags of every command.
#[derive(Args, Debug)]
#[command(next_help_heading = "Options of every command")]
pub struct GlobalArgs {
    /// No progress and no notes, only results and errors
    #[arg(long, short, global = true, hide_short_help = true)]
    pub quiet: bool,
    /// When to color the output
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto", hide_short_help = true)]
    pub color: Color,
    /// File with named subjects and options for each command, besides ptxsmith.toml of a project
    #[arg(long, global = true, value_name = "FILE", hide_short_help = true)]
    pub config: Option<PathBuf>,
}

/// When to color.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Color {
    /// On a terminal, unless NO_COLOR is set
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

impl From<Color> for ColorChoice {
    fn from(color: Color) -> ColorChoice {
        match color {
            Color::Auto => ColorChoice::Auto,
            Color::Always => ColorChoice::Always,
            Color::Never => ColorChoice::Never,
        }
    }
}

/// The commands of the program.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Generate programs, show them to implementations, and report what differs from the specification
    #[command(after_long_help = help("\
Without --subject, ptxas is tested: release 13.5 if it is installed, else the one in CUDA_HOME,
CUDA_PATH or PATH, else release 13.5 is installed first. Findings are written as they are found,
so Ctrl-C loses none.

Examples:
  ptxsmith run
  ptxsmith run --time 10m --seed 7 --out night/
  ptxsmith run --subject ptxas@12.9 --subject ptxas@13.5 --cases 50000
  ptxsmith run --subject 'exec:my-assembler --observe {ptx}' --focus initializers
  ptxsmith run --exhaustive 2", JUDGED, &[CACHE, CUDA_HOME, PATH, LIBCUDA, SHARDS, NO_COLOR]))]
    Run(RunArgs),
    /// Check how an implementation compiles existing PTX files
    #[command(after_long_help = help("\
Examples:
  ptxsmith check kernel.ptx
  ptxsmith check corpus/ --subject ptxas@13.5
  ptxsmith check corpus/5.4.4/ --expectations
  clang -x cuda --cuda-device-only -S -o - a.cu | ptxsmith check -", JUDGED, TESTS))]
    Check(CheckArgs),
    /// Print what the specification says a PTX file holds
    #[command(after_long_help = "\
Exit status: 0 even if the specification refuses the file; 2 if it is not PTX.
With --expect: 0 if the answer is as expected, 1 if it differs, 3 if it is undecided.

Examples:
  ptxsmith eval module.ptx
  echo '.version 7.8 .target sm_80 .global .s64 a = -7 % 3;' | ptxsmith eval -
  ptxsmith eval module.ptx --json
  llc -mtriple nvptx64 kernel.ll -o - | ptxsmith eval - --expect accepted
  ptxsmith eval module.ptx --interpretation shift-count=modulo
  ptxsmith eval kernel.ptx --input 05000000_07000000")]
    Eval(EvalArgs),
    /// Warn about PTX that listed releases of ptxas compile incorrectly; does not need ptxas
    #[command(after_long_help = "\
Exit status: 0 no error; 1 if the specification refuses a file, or on a warning with --deny known; \
2 if not PTX.
`ptxsmith lsp` shows the same warnings in an editor (docs/guide/editors.md).

Examples:
  llc -mtriple nvptx64 kernel.ll -o - | ptxsmith lint -
  ptxsmith lint build/ --deny known --release 12.9 --release 13.5
  ptxsmith lint kernel.ptx --format sarif > lint.sarif")]
    Lint(LintArgs),
    /// Write generated PTX modules
    #[command(
        mut_arg("jobs", idle),
        mut_arg("libcuda", idle),
        mut_arg("start", idle),
        after_long_help = "\
Examples:
  ptxsmith gen --count 1
  ptxsmith gen --count 1000 --seed 7 --out modules/
  ptxsmith gen --first 25189 --count 1
  ptxsmith gen --count 10 --focus initializers
  ptxsmith gen --count 100000 --stats
  ptxsmith gen --grammar"
    )]
    Gen(GenArgs),
    /// Reduce a PTX file to a minimized reproducer of the same deviation
    #[command(mut_arg("seed", idle), after_long_help = help("\
Keeps the verdict on the subject and its cause: the known deviation that explains it, or the signal of a \
crash.
The file on disk is at any time the best so far, so Ctrl-C loses nothing.

Examples:
  ptxsmith reduce crash.ptx
  ptxsmith reduce kernel.ptx --subject ptxas@12.9 --expect wrong-value --out least.ptx
  ptxsmith reduce kernel.ptx --command ./interesting.sh
  ptxsmith reduce garbage.ptx --text --subject 'exec:my-assembler --observe {ptx}'", REDUCING, TESTS))]
    Reduce(ReduceArgs),
    /// Compare releases of ptxas on the corpus and on generated programs
    #[command(mut_arg("libcuda", idle), after_long_help = help("\
Examples:
  ptxsmith drift --from 12.0 --to 13.5
  ptxsmith drift --all --cases 20000 --out drift/", COMPARING_RELEASES, TESTS))]
    Drift(DriftArgs),
    /// Merge the shards of a campaign
    #[command(after_long_help = help("\
The result is byte for byte that of the undivided campaign. An error names each shard that is missing, \
doubled, unfinished,
or of another build, seed or subject.

Examples:
  ptxsmith run --cases 1000000 --shard 1/2 --out shard1/
  ptxsmith run --cases 1000000 --shard 2/2 --out shard2/
  ptxsmith merge shard1/ shard2/ --out result/", JUDGED, TESTS))]
    Merge(MergeArgs),
    /// Render the result of a campaign again: text, JSON, JUnit, SARIF, Markdown or HTML
    #[command(after_long_help = "\
The status is 0; with --against, it is 1 where something was added that no listed deviation explains.
`ptxsmith atlas DIR... --out DIR` renders several campaigns as static pages.

Examples:
  ptxsmith report ptxsmith-out/
  ptxsmith report night/ --format html --history history.db --out night.html
  ptxsmith report night/ --format markdown --finding quotient-overflow-crash
  ptxsmith report change/ --against main/ --format junit --out junit.xml")]
    Report(ReportArgs),
    /// Bundle findings for a bug report: program, script that reproduces it, text
    #[command(mut_arg("seed", idle), after_long_help = help("\
For each id a folder and a .tar.gz: the program, reproduce.sh, which needs nothing but the compiler (and \
python3 where values
are compared), and report.md. An id of a listed deviation (docs/deviations/) needs no campaign: it is shown \
to every
installed release of ptxas. Nothing is sent anywhere.

Examples:
  ptxsmith bundle octal-as-decimal --from night/ --out bundles/
  ptxsmith bundle incomplete-rows-packed quotient-overflow-crash --out bundles/
  sh bundles/incomplete-rows-packed/reproduce.sh /usr/local/cuda/bin/ptxas", &[], TESTS))]
    Bundle(BundleArgs),
    /// Render campaigns as static pages: clauses, forms and deviations by implementation, JSON beside each
    #[command(
        hide = true,
        after_long_help = "\
Addresses stay the same when the atlas is made again: clauses/CLAUSE.html#SUBJECT, forms/FORM.html#CELL,
deviations/ID.html. In a checkout `cargo xtask atlas` runs the campaigns too.

Examples:
  ptxsmith check suite/cases --by-case --subject ptxas@all --out campaign/
  ptxsmith atlas campaign/ --out atlas/
  ptxsmith atlas campaign/ places/ parsers/ --out atlas/ --replace"
    )]
    Atlas(AtlasArgs),
    /// Store campaigns in a database, and list new findings, first dates and incomplete runs
    #[command(after_long_help = "\
Examples:
  ptxsmith history history.db --add ptxsmith-out/
  ptxsmith history history.db --since 1d
  ptxsmith history history.db --finding quotient-overflow-crash")]
    History(HistoryArgs),
    /// Write a conformance suite that others can run without ptxsmith
    #[command(
        mut_arg("jobs", idle),
        mut_arg("libcuda", idle),
        mut_arg("start", idle),
        after_long_help = "\
The suite is the same on every machine: cases, a manifest with its schema, an index by clause, and a runner \
in Python.

Examples:
  ptxsmith suite --out suite/
  ptxsmith suite --out suite/ --random 1000 --seed 7
  ptxsmith suite --out old/ --target sm_35 --max-ptx 4.3 --only '^5.4.4/'
  python3 suite/run.py --ptxas /usr/local/cuda/bin/ptxas"
    )]
    Suite(SuiteArgs),
    /// List the implementations that can be tested: available or not, why, version
    #[command(mut_arg("jobs", idle), mut_arg("seed", idle), mut_arg("start", idle), after_long_help = help("\
Examples:
  ptxsmith subjects
  ptxsmith subjects --subject ptxas:/usr/local/cuda/bin/ptxas --json", &[], TESTS))]
    Subjects(SubjectsArgs),
    /// List, install or locate NVIDIA's releases of ptxas
    #[command(
        subcommand,
        after_long_help = help("\
Releases are installed from NVIDIA's public wheels with pip, into PTXSMITH_CACHE or the user's cache \
directory.

Examples:
  ptxsmith toolchain list
  ptxsmith toolchain install 13.5 12.9
  $(ptxsmith toolchain path 13.5) --version", &[], &[CACHE, PATH])
    )]
    Toolchain(ToolchainCommand),
    #[cfg(feature = "cuda")]
    /// Test compilers, and check sources, against the CUDA C++ rule on host const variables in device code
    #[command(subcommand, after_long_help = "Example:\n  ptxsmith cuda check kernel.cu")]
    Cuda(crate::commands::cuda::CudaCommand),
    #[cfg(feature = "cuda")]
    /// Test compilers that emit PTX: do initial values in the PTX match the source?
    #[command(subcommand, after_long_help = "Example:\n  ptxsmith emit run --subject nvcc@13.5")]
    Emit(crate::commands::emit::EmitCommand),
    /// Explain a name that reports and messages show: a listed deviation, a clause, an ambiguity
    #[command(after_long_help = "Examples:\n  ptxsmith explain incomplete-rows-packed\n  \
            ptxsmith explain 5.4.4/incomplete-inner\n  ptxsmith explain shift-count")]
    Explain(ExplainArgs),
    /// Serve an editor: warnings of lint while a file is written, values of eval under the pointer
    #[command(
        hide = true,
        after_long_help = "docs/guide/editors.md has the settings of editors.\n\nExample:\n  ptxsmith lsp"
    )]
    Lsp,
    /// Generate shell completions
    #[command(
        hide = true,
        after_long_help = "Example:\n  ptxsmith completions bash > \
            ~/.local/share/bash-completion/completions/ptxsmith"
    )]
    Completions(CompletionsArgs),
    /// Load a library and answer questions, one a line: what this program starts itself as
    #[command(subcommand, hide = true)]
    Worker(WorkerCommand),
}

impl Command {
    /// Returns the options of long-running work, or `None` if the command has none.
    pub fn work(&self) -> Option<&WorkArgs> {
        match self {
            Command::Run(args) => Some(&args.campaign.work),
            Command::Check(args) => Some(&args.campaign.work),
            Command::Reduce(args) => Some(&args.work),
            Command::Merge(args) => Some(&args.work),
            Command::Drift(args) => Some(&args.work),
            Command::Bundle(args) => Some(&args.work),
            Command::Gen(args) => Some(&args.work),
            Command::Suite(args) => Some(&args.work),
            Command::Subjects(args) => Some(&args.work),
            #[cfg(feature = "cuda")]
            Command::Cuda(args) => Some(args.work()),
            #[cfg(feature = "cuda")]
            Command::Emit(args) => Some(args.work()),
            Command::Worker(WorkerCommand::Driver { work, .. }) => Some(work),
            Command::Eval(_)
            | Command::Lint(_)
            | Command::Report(_)
            | Command::Explain(_)
            | Command::Atlas(_)
            | Command::History(_) => None,
            Command::Toolchain(_) | Command::Lsp | Command::Completions(_) | Command::Worker(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_definition_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn short_help_fits_one_screen_and_long_help_has_every_option() {
        for (name, most) in [("check", 24), ("eval", 24), ("lint", 24), ("reduce", 24), ("run", 40)] {
            let mut program = Cli::command().term_width(100);
            program.build();
            let command = program.find_subcommand_mut(name).unwrap();
            let (short, long) = (command.render_help().to_string(), command.render_long_help().to_string());
            assert!(short.lines().count() <= most, "{name}: {}\n{short}", short.lines().count());
            for arg in command.get_arguments().filter(|arg| !arg.is_hide_set()) {
                let Some(option) = arg.get_long() else { continue };
                assert!(long.contains(&format!("--{option}")), "{name} --{option}");
            }
        }
    }

    #[test]
    fn a_command_has_the_options_that_do_something_for_it() {
        let parse = |line: &str| Cli::try_parse_from(format!("ptxsmith {line}").split(' ')).map(drop);
        for line in ["completions bash --jobs 2", "eval a.ptx --seed 7", "toolchain list --libcuda /x"] {
            assert!(parse(line).is_err(), "{line}");
        }
        // Long-running commands accept all of these options, so that scripts can pass one set to every
        // command.
        for line in
            ["run --seed 7", "check a.ptx --jobs 2 --seed 1", "gen --count 1 --jobs 3", "-q eval a.ptx"]
        {
            assert!(parse(line).is_ok(), "{line}");
        }
        let mut program = Cli::command();
        let mut help = |name| program.find_subcommand_mut(name).unwrap().render_long_help().to_string();
        assert!(!help("suite").contains("--libcuda") && !help("lint").contains("--seed"));
        let run = help("run");
        for part in
            ["--seed", "--libcuda", "Exit status:", "130, 143, 129", "PTXSMITH_CACHE", "SLURM_ARRAY_TASK_ID"]
        {
            assert!(run.contains(part), "{part}");
        }
    }

    #[test]
    fn the_program_has_at_most_17_commands() {
        let program = Cli::command();
        let shown = program.get_subcommands().filter(|own| !own.is_hide_set());
        assert!(shown.count() <= 17);
    }

    #[test]
    fn every_command_has_an_example() {
        fn check(command: &clap::Command) {
            let shown = |command: &&clap::Command| command.get_name() != "help" && !command.is_hide_set();
            for command in command.get_subcommands().filter(shown) {
                let help = command.get_after_long_help().map(ToString::to_string).unwrap_or_default();
                assert!(help.contains("Example"), "{}", command.get_name());
                check(command);
            }
        }
        check(&Cli::command());
    }
}
