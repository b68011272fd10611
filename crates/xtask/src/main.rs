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
mod tests;
mod tools;

use std::process::ExitCode;

use clap::Parser;

/// What CI and contributors of ptxsmith run.
#[derive(Parser)]
#[command(name = "cargo xtask", max_term_width = 100)]
enum Task {
    /// Pages of what every implementation that is here makes of every clause and form
    Atlas(atlas::Arguments),
    /// Do what a hostile user, project, folder or implementation does, and count what happens
    Attack(attack::Arguments),
    /// Drive the pages of reports and atlases in Chromium
    BrowserTest(browser::Arguments),
    /// Judge NVIDIA's public headers with `cuda check`; renders the times in docs/guide/cuda.md
    CheckCudaHeaders(headers::Arguments),
    /// Judge the PTX that compilers print for the sources in corpus/emitters/; renders docs/reference/emitted.md
    CheckEmitted(emitted::Arguments),
    /// Compare initial values that LLVM prints with its own object files; renders docs/reference/emitters.md
    CheckEmitters(emitters::Arguments),
    /// Compare both readers of cubins on thousands of cubins
    CompareReaders {
        /// How many cubins
        #[arg(default_value = "10000")]
        count: u32,
    },
    /// Who follows the rule on host const variables, by compiler release; renders docs/reference/cuda-releases.md
    CudaReleases(cuda_releases::Arguments),
    /// Run the packages that call C under valgrind
    FfiCheck,
    /// Which linkage links with which, by linker; renders docs/reference/linkages.md
    Linkages {
        /// Write nothing; fail where the table is another
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
    Planted(planted::Arguments),
    /// Which answers to open questions each release of ptxas follows; renders docs/reference/readings.md
    Readings {
        /// Write nothing; fail where the table is another
        #[arg(long)]
        check: bool,
    },
    /// How each release of ptxas encodes addresses; renders docs/reference/relocations.md
    Relocations {
        /// Write nothing; fail where the table is another
        #[arg(long)]
        check: bool,
    },
    /// Whether two builds make the same programs and write the same reports
    SameReports(same_reports::Arguments),
    /// Whether a program that shows many modules grows or leaves anything behind
    Soak {
        /// The program and its arguments [default: a million modules through forks of one ptxas]
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        command: Vec<String>,
    },
    /// Run the tests of the workspace, as many programs at a time as there are cores
    Test,
    /// Build on a machine whose C compiler does not run
    WithoutCc,
}

fn main() -> ExitCode {
    let task = Task::parse();
    let done =
        std::env::set_current_dir(tools::root()).map_err(anyhow::Error::from).and_then(|()| match task {
            Task::Atlas(arguments) => atlas::run(arguments),
            Task::Attack(arguments) => attack::run(&arguments),
            Task::BrowserTest(arguments) => browser::run(&arguments),
            Task::CheckCudaHeaders(arguments) => headers::run(&arguments),
            Task::CheckEmitted(arguments) => emitted::run(&arguments),
            Task::CheckEmitters(arguments) => emitters::run(&arguments),
            Task::CompareReaders { count } => ffi::compare_readers(count),
            Task::CudaReleases(arguments) => cuda_releases::run(&arguments),
            Task::FfiCheck => ffi::check(),
            Task::Linkages { check } => linkages::run(check),
            Task::MeasureBuild { render } => measure_build::run(render),
            Task::Planted(arguments) => planted::run(&arguments),
            Task::Readings { check } => readings::readings(check),
            Task::Relocations { check } => readings::relocations(check),
            Task::SameReports(arguments) => same_reports::run(arguments),
            Task::Soak { command } => soak::run(&command),
            Task::Test => tests::run(),
            Task::WithoutCc => ffi::without_cc(),
        });
    match done {
        Ok(status) => ExitCode::from(status),
        Err(error) => {
            eprintln!("cargo xtask: {error:#}");
            ExitCode::from(1)
        }
    }
}
