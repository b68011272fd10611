//! Arguments of commands about installations and ptxsmith itself: `subjects`, `toolchain`, `completions`,
//! `worker`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use ptxsmith_subject::SubjectSpec;
use ptxsmith_subject::toolchain::{Installable, Release};

use crate::values::subject;
use crate::work::WorkArgs;

/// `subjects`
#[derive(Args, Debug)]
pub struct SubjectsArgs {
    /// Look at this one; may be repeated [default: every form, and every installed release]
    #[arg(long = "subject", value_name = "SUBJECT", value_parser = subject)]
    pub subjects: Vec<SubjectSpec>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// Flags of long work.
    #[command(flatten)]
    pub work: WorkArgs,
}

/// `completions`
#[derive(Args, Debug)]
pub struct CompletionsArgs {
    /// The shell
    pub shell: clap_complete::Shell,
}

/// A worker that loads a library.
#[derive(Args, Debug)]
pub struct LibraryWorkerArgs {
    /// The library
    pub library: PathBuf,
    /// Print its description instead
    #[arg(long)]
    pub describe: bool,
}

/// `worker`
#[derive(Debug, Subcommand)]
pub enum WorkerCommand {
    /// NVIDIA's nvJitLink
    Nvjitlink(LibraryWorkerArgs),
    /// NVIDIA's PTX compiler, as the driver's JIT compiler library has it
    Ptxjit(LibraryWorkerArgs),
    /// NVRTC: compiles one source
    Nvrtc {
        /// The library
        library: PathBuf,
        /// The source
        source: PathBuf,
        /// Where the PTX goes
        ptx: PathBuf,
        /// Options of NVRTC
        #[arg(last = true)]
        options: Vec<String>,
    },
    /// The CUDA driver
    Driver {
        /// Print its description instead, and whether there is a device
        #[arg(long)]
        describe: bool,
        /// Flags of long work.
        #[command(flatten)]
        work: WorkArgs,
    },
}

/// `toolchain`
#[derive(Debug, Subcommand)]
pub enum ToolchainCommand {
    /// List all tools that can be installed, and the paths of the installed ones
    #[command(after_long_help = "Example:\n  ptxsmith toolchain list")]
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Install releases of ptxas, and other tools
    #[command(after_long_help = "Example:\n  ptxsmith toolchain install 13.5 12.9.41 nvjitlink@13.5 \
            ptxjit@535.261.03 cuobjdump")]
    Install {
        /// 13.5 for the newest ptxas of a minor release, a full version such as 13.0.48, nvjitlink@RELEASE,
        /// nvlink@RELEASE, ptxjit@VERSION (of a driver), or cuobjdump
        #[arg(required = true, value_name = "RELEASE", value_parser = Installable::find)]
        releases: Vec<Installable>,
        /// Reinstall tools with files that changed after the installation
        #[arg(long)]
        repair: bool,
    },
    /// Compare the installed files with the original ones, byte by byte. Before each use only size and time
    /// are compared
    #[command(after_long_help = "Example:\n  ptxsmith toolchain verify 13.5")]
    Verify {
        /// As install takes them [default: all that is installed]
        #[arg(value_name = "RELEASE", value_parser = Installable::find)]
        releases: Vec<Installable>,
    },
    /// Print the path of an installed release's ptxas
    #[command(after_long_help = "Example:\n  ptxsmith toolchain path 13.5")]
    Path {
        /// 13.5 for the newest of a minor release, or a full version such as 13.0.48
        #[arg(value_name = "RELEASE", value_parser = Release::find)]
        release: &'static Release,
    },
}
