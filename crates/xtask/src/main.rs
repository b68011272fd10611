//! `cargo xtask`: measurements and checks for CI and contributors, in addition to the tests. Each task needs
//! third-party tools, much time, or both.
//!
//! Exit status: 0 passed, 1 failed, 3 not tested because something is missing.

mod atlas;
mod attack;
mod browser;
mod cuda_releases;
mod emitted;
mod emitters;
mod ffi;
mod headers;
mod linkages;
mod llvm_tests;
mod measure_build;
mod planted;
mod readings;
mod same_reports;
mod soak;
mod sweep;
mod tests;
mod tools;

use std::process::ExitCode;

use clap::Parser;

/// Runs the checks and measurements of CI and contributors of ptxsmith.
#[derive(Parser)]
#[command(name = "cargo xtask", max_term_width = 100)]
enum XtaskCommand {
    /// Render the results of all available implementations for all clauses and forms as static pages
    Atlas(atlas::AtlasArguments),
    /// Act as a hostile user, project, folder or implementation, and count the results
    Attack(attack::AttackArguments),
    /// Drive the pages of reports and atlases in Chromium
    BrowserTest(browser::BrowserArguments),
    /// Judge NVIDIA's public headers with `cuda check`; renders the times in docs/guide/cuda.md
    CheckCudaHeaders(headers::HeadersArguments),
    /// Judge the PTX that compilers print for the sources in corpus/emitters/; renders
    /// docs/reference/emitted.md
    CheckEmitted(emitted::EmittedArguments),
    /// Compare initial values that LLVM prints with its own object files; renders docs/reference/emitters.md
    CheckEmitters(emitters::EmittersArguments),
    /// Compare both readers of cubins on thousands of cubins
    CompareReaders {
        /// The number of cubins
        #[arg(default_value = "10000")]
        count: u32,
    },
    /// Measure which compiler releases follow the rule on host const variables; renders
    /// docs/reference/cuda-releases.md
    CudaReleases(cuda_releases::CudaReleasesArguments),
    /// Check every CUDA source below folders with `cuda check`; counts those analysed whole, and why others are not
    CudaSweep(sweep::SweepArguments),
    /// Run the packages that call C under valgrind
    FfiCheck,
    /// Measure which linkages can be linked with each other, by linker; renders docs/reference/linkages.md
    Linkages {
        /// Write nothing; fail if the table differs
        #[arg(long)]
        check: bool,
    },
    /// Measure the first build; renders docs/reference/build.json and the sentence in README.md
    MeasureBuild {
        /// Only render the sentence again
        #[arg(long)]
        render: bool,
    },
    /// Plant faults into an implementation and judge the findings of `run`
    Planted(planted::PlantedArguments),
    /// Measure which interpretations each release of ptxas follows; renders docs/reference/readings.md
    Readings {
        /// Write nothing; fail if the table differs
        #[arg(long)]
        check: bool,
    },
    /// Measure how each release of ptxas encodes addresses; renders docs/reference/relocations.md
    Relocations {
        /// Write nothing; fail if the table differs
        #[arg(long)]
        check: bool,
    },
    /// Check that two builds generate the same programs and write the same reports
    SameReports(same_reports::SameReportsArguments),
    /// Check that a program that compiles many modules does not grow and leaves nothing behind
    Soak {
        /// The program and its arguments [default: a million modules through forks of one ptxas]
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        command: Vec<String>,
    },
    /// Run the tests of the workspace, as many programs at a time as there are cores
    Test {
        /// Judge everything there is where tests take a sample otherwise
        #[arg(long)]
        whole: bool,
    },
    /// Build without a working C compiler
    WithoutCc,
}

fn main() -> ExitCode {
    match XtaskCommand::parse().run() {
        Ok(status) => ExitCode::from(status),
        Err(error) => {
            eprintln!("cargo xtask: {error:#}");
            ExitCode::from(1)
        }
    }
}

impl XtaskCommand {
    /// Runs the command in the root of the checkout, and returns its exit status.
    fn run(self) -> anyhow::Result<u8> {
        std::env::set_current_dir(tools::root())?;
        match self {
            XtaskCommand::Atlas(arguments) => atlas::run(arguments),
            XtaskCommand::Attack(arguments) => attack::run(&arguments),
            XtaskCommand::BrowserTest(arguments) => browser::run(&arguments),
            XtaskCommand::CheckCudaHeaders(arguments) => headers::run(&arguments),
            XtaskCommand::CheckEmitted(arguments) => emitted::run(&arguments),
            XtaskCommand::CheckEmitters(arguments) => emitters::run(&arguments),
            XtaskCommand::CompareReaders { count } => ffi::compare_readers(count),
            XtaskCommand::CudaReleases(arguments) => cuda_releases::run(&arguments),
            XtaskCommand::CudaSweep(arguments) => sweep::run(&arguments),
            XtaskCommand::FfiCheck => ffi::check(),
            XtaskCommand::Linkages { check } => linkages::run(check),
            XtaskCommand::MeasureBuild { render } => measure_build::run(render),
            XtaskCommand::Planted(arguments) => planted::run(&arguments),
            XtaskCommand::Readings { check } => readings::readings(check),
            XtaskCommand::Relocations { check } => readings::relocations(check),
            XtaskCommand::SameReports(arguments) => same_reports::run(arguments),
            XtaskCommand::Soak { command } => soak::run(&command),
            XtaskCommand::Test { whole } => tests::run(whole),
            XtaskCommand::WithoutCc => ffi::without_cc(),
        }
    }
}
