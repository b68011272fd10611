//! The compilers that are checked, and the commands with which they print PTX.

use std::fs;
use std::path::{Path, PathBuf};

use crate::llvm_tests;

/// Stands for the output file in the command of a compiler that cannot print to standard output.
pub const OUT: &str = "{out}";

/// Each clang with a PTX version and the target architectures. The version is explicit because clang's
/// default is not always the newest version that it supports.
pub const CLANGS: [(u32, &str, [&str; 3]); 6] = [
    (13, "72", ["60", "75", "86"]),
    (14, "75", ["52", "75", "86"]),
    (15, "75", ["70", "80", "86"]),
    (16, "78", ["70", "80", "90"]),
    (19, "85", ["75", "80", "90a"]),
    (22, "88", ["75", "90", "100a"]),
];
const FLAVOURS: [(&str, &[&str]); 3] = [(".O2", &["-O2"]), (".O0", &["-O0"]), (".g", &["-O1", "-g"])];
pub const LLCS: [u32; 4] = [14, 16, 19, 22];
pub const NVCCS: [&str; 2] = ["13.0.88", "13.5.37"];
const NVCC_FLAVOURS: [(&str, &str); 5] = [
    ("sm_75.lineinfo", "-lineinfo"),
    ("sm_80.debug", "-g -G"),
    ("sm_90.rdc", "-rdc=true -lineinfo"),
    ("sm_100", ""),
    ("sm_120.rdc.debug", "-rdc=true -G"),
];
pub const NVRTCS: [(&str, &str); 5] = [
    ("11.8", "nvidia-cuda-nvrtc-cu11==11.8.89"),
    ("12.0", "nvidia-cuda-nvrtc-cu12==12.0.76"),
    ("12.9", "nvidia-cuda-nvrtc-cu12==12.9.86"),
    ("13.0", "nvidia-cuda-nvrtc==13.0.88"),
    ("13.5", "nvidia-cuda-nvrtc==13.5.37"),
];
/// The options of NVRTC, read by corpus/emitters/python/nvrtc.py.
const NVRTC_OPTIONS: &str = r#"{".sm_75.lineinfo": ["-arch=compute_75", "-lineinfo"], ".sm_80.rdc": ["-arch=compute_80", "-rdc=true"],
 ".sm_90.debug": ["-arch=compute_90", "-G"], ".sm_90": ["-arch=compute_90", "-use_fast_math"]}"#;
/// The folder of LLVM's own tests.
pub const LLVM_TESTS: &str = "llvm-tests";
/// Packages that compile kernels of corpus/emitters/python.
pub const ENVIRONMENTS: [(&str, &str, &str); 3] = [
    ("Triton 3.9", "triton", "triton==3.9.0"),
    ("numba-cuda 0.30", "numba", "numba-cuda[cu13]==0.30.4"),
    ("Warp 1.19", "warp", "warp-lang==1.19.0"),
];

pub fn minor(release: &str) -> &str {
    release.rsplit_once('.').map_or(release, |(minor, _)| minor)
}

/// A version of a compiler, and how it is run.
pub struct PtxProducer {
    pub name: String,
    pub recipe: Recipe,
}

pub enum Recipe {
    /// Commands for each file.
    Files(FileCommands),
    /// A program of corpus/emitters/python. It writes many files into a folder and prints the ones that
    /// failed.
    Script(Vec<String>, Vec<(String, String)>),
    /// The compiler is not installed.
    Missing,
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

fn sources(folder: &str, extension: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(Path::new("corpus/emitters").join(folder)).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|other| other == extension));
    paths.sort();
    paths
}

fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

fn feature(ptx: &str) -> Vec<String> {
    words(&["-Xclang", "-target-feature", "-Xclang", &format!("+ptx{ptx}")])
}

fn clang_cuda(version: u32, ptx: &str, architecture: &str, source: &Path, options: &[&str]) -> Vec<String> {
    let first = words(&[&format!("clang-{version}"), "-x", "cuda", "-std=c++17", "--cuda-device-only"]);
    let then = words(&[&format!("--cuda-gpu-arch=sm_{architecture}"), "-nocudainc", "-nocudalib"]);
    [first, then, feature(ptx), words(options), words(&[&source.to_string_lossy()])].concat()
}

pub fn producers(cache: &Path) -> Vec<PtxProducer> {
    let cuda = sources("cuda", "cu");
    let llvm = sources("llc", "ll");
    let mut producers = Vec::new();
    for (version, ptx, architectures) in CLANGS {
        let files = clang_files(version, ptx, architectures, &cuda);
        producers.push(PtxProducer { name: format!("clang {version}"), recipe: Recipe::Files(files) });
    }
    producers.push(PtxProducer { name: "clang, OpenCL C".to_owned(), recipe: Recipe::Files(opencl_files()) });
    for version in LLCS {
        let files = llc_files(version, &cuda, &llvm);
        producers.push(PtxProducer { name: format!("llc {version}"), recipe: Recipe::Files(files) });
    }
    let tests = llvm_tests::commands(&cache.join(LLVM_TESTS));
    let name = format!("llc {}, LLVM's own tests", llvm_tests::RELEASE);
    producers.push(PtxProducer { name, recipe: Recipe::Files(tests) });
    for release in NVCCS.map(minor) {
        let files = nvcc_files(&cache.join(format!("nvcc-{release}/nvidia/cu13/bin/nvcc")), &cuda);
        producers.push(PtxProducer { name: format!("nvcc {release}"), recipe: Recipe::Files(files) });
    }
    for (release, _) in NVRTCS {
        let recipe = nvrtc(&cache.join(format!("nvrtc-{release}"))).unwrap_or(Recipe::Missing);
        producers.push(PtxProducer { name: format!("NVRTC {release}"), recipe });
    }
    for (name, folder, _) in ENVIRONMENTS {
        let python = cache.join(folder).join("bin/python").to_string_lossy().into_owned();
        let recipe =
            Recipe::Script(vec![python, format!("corpus/emitters/python/{folder}_kernels.py")], Vec::new());
        producers.push(PtxProducer { name: name.to_owned(), recipe });
    }
    producers
}

/// The commands for each file, with the name of the file. If there are two, the second reads the output of
/// the first.
pub type FileCommands = Vec<(String, Vec<Vec<String>>)>;

fn clang_files(version: u32, ptx: &str, architectures: [&str; 3], cuda: &[PathBuf]) -> FileCommands {
    let mut files = Vec::new();
    for (architecture, (flavour, options)) in architectures.iter().zip(FLAVOURS) {
        for source in cuda {
            let options = [options, &["-S", "-o", "-"]].concat();
            let name = format!("{}.sm_{architecture}{flavour}", stem(source));
            files.push((name, vec![clang_cuda(version, ptx, architecture, source, &options)]));
        }
    }
    files
}

fn opencl_files() -> FileCommands {
    let mut files = Vec::new();
    for (version, ..) in CLANGS {
        for (bits, target) in [("", "nvptx64"), (".32", "nvptx")] {
            for source in sources("opencl", "cl") {
                let first = [&*format!("clang-{version}"), "-x", "cl", "-cl-std=CL1.2", "-target"];
                let target = format!("{target}-unknown-nvcl");
                let then =
                    ["-Xclang", "-finclude-default-header", "-Xclang", "-target-cpu", "-Xclang", "sm_75"];
                let last = words(&["-O2", "-S", "-o", "-", &source.to_string_lossy()]);
                let line = [words(&first), vec![target], words(&then), feature("63"), last].concat();
                files.push((format!("{}.clang-{version}{bits}", stem(&source)), vec![line]));
            }
        }
    }
    files
}

fn nvcc_files(nvcc: &Path, cuda: &[PathBuf]) -> FileCommands {
    let headers = sources("nvcc", "cu");
    let mut files = Vec::new();
    for (name, options) in NVCC_FLAVOURS {
        let architecture = format!("-arch={}", name.split('.').next().unwrap_or_default());
        for source in cuda.iter().chain(headers.iter().filter(|_| !name.contains("75"))) {
            let first = words(&[&nvcc.to_string_lossy(), "-w", "-ptx", "-std=c++17", &architecture]);
            let options = options.split_whitespace().map(str::to_owned).collect();
            let line = [first, options, words(&["-o", OUT, &source.to_string_lossy()])].concat();
            files.push((format!("{}.{name}", stem(source)), vec![line]));
        }
    }
    files
}

/// Returns commands for the IR that clang makes of the CUDA sources, and for hand-written IR as other front
/// ends produce it, with varying architectures and PTX versions.
fn llc_files(version: u32, cuda: &[PathBuf], llvm: &[PathBuf]) -> FileCommands {
    let ptx_of_clang = CLANGS.iter().find(|(clang, ..)| *clang == version).map_or("75", |(_, ptx, _)| ptx);
    let mut files = Vec::new();
    for source in cuda {
        let front = clang_cuda(version, ptx_of_clang, "75", source, &["-O1", "-S", "-emit-llvm", "-o", "-"]);
        for (architecture, ptx) in [("75", "63"), ("80", "70")] {
            let name = format!("{}.sm_{architecture}", stem(source));
            files.push((name, vec![front.clone(), llc_command(version, architecture, ptx)]));
        }
    }
    // Older versions use typed pointers.
    for source in llvm.iter().filter(|_| version > 15) {
        for (architecture, ptx) in [("75", "63"), ("90", "78")] {
            let line =
                [llc_command(version, architecture, ptx), words(&[&source.to_string_lossy()])].concat();
            files.push((format!("{}.sm_{architecture}", stem(source)), vec![line]));
        }
    }
    files
}

fn llc_command(version: u32, architecture: &str, ptx: &str) -> Vec<String> {
    let cpu = format!("-mcpu=sm_{architecture}");
    let attributes = format!("-mattr=+ptx{ptx}");
    words(&[&format!("llc-{version}"), &cpu, &attributes, "-o", "-"])
}

fn nvrtc(folder: &Path) -> Option<Recipe> {
    let files = walkdir::WalkDir::new(folder.join("nvidia")).max_depth(4).into_iter().flatten();
    let library = files.map(walkdir::DirEntry::into_path).find(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("libnvrtc.so.") && !name.contains(".alt.")
    })?;
    let place = library.parent()?.to_string_lossy().into_owned();
    let line = words(&["python3", "corpus/emitters/python/nvrtc.py", &library.to_string_lossy()]);
    let options = ("NVRTC_OPTIONS".to_owned(), NVRTC_OPTIONS.to_owned());
    Some(Recipe::Script(line, vec![("LD_LIBRARY_PATH".to_owned(), place), options]))
}
