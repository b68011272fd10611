//! LLVM's own tests of its PTX back end: downloads Debian's source package, and extracts the `llc` commands
//! of the RUN lines.

use std::fs;
use std::path::Path;

use anyhow::Result;
use regex_lite::Regex;

use crate::tools::{self, command};

/// The release of `llc`, whose tests are in the source package of version `VERSION`.
pub const RELEASE: u32 = 19;
const VERSION: &str = "19.1.7";
const POOL: &str = "https://deb.debian.org/debian/pool/main/l";

/// Options with which `llc` prints no PTX.
const NO_PTX: [&str; 5] = ["-stop-", "-filetype=null", "--filetype=null", "-run-pass", "-print-"];

/// Downloads the source package (160 MB) and unpacks the tests into a folder.
pub fn install(folder: &Path) -> Result<()> {
    fs::create_dir_all(folder)?;
    let archive = folder.join("source.tar.xz");
    let address = format!("{POOL}/llvm-toolchain-{RELEASE}/llvm-toolchain-{RELEASE}_{VERSION}.orig.tar.xz");
    tools::stdout_of(command("/usr/lib/apt/apt-helper", ["download-file", &address]).arg(&archive))?;
    let tests = ["--wildcards", "*/llvm/test/*/NVPTX/*"];
    tools::stdout_of(
        command("tar", ["--extract", "--directory"]).arg(folder).arg("--file").arg(&archive).args(tests),
    )?;
    Ok(fs::remove_file(archive)?)
}

/// Returns the commands of the tests, each with the name of its output file.
pub fn commands(folder: &Path) -> Vec<(String, Vec<Vec<String>>)> {
    let files = walkdir::WalkDir::new(folder).sort_by_file_name().into_iter().flatten();
    let tests = files
        .map(walkdir::DirEntry::into_path)
        .filter(|path| path.extension().is_some_and(|end| end == "ll"));
    tests.flat_map(|test| commands_of(&test)).collect()
}

/// Whether an option makes `llc` print no PTX.
fn prevents_ptx(option: &str) -> bool {
    NO_PTX.iter().any(|prefix| option.starts_with(prefix))
}

/// Returns the commands of the RUN lines of a test.
fn commands_of(test: &Path) -> Vec<(String, Vec<Vec<String>>)> {
    let text = String::from_utf8_lossy(&fs::read(test).unwrap_or_default()).into_owned();
    let continued = Regex::new(r"\\\n; *RUN:").expect("a regular expression");
    let text = continued.replace_all(&text, " ");
    let run = Regex::new(r"RUN:\s*(?:%if[^{\n]*%\{)?\s*llc(\s[^|>\n]*)").expect("a regular expression");
    let folder = test.parent().and_then(Path::parent).and_then(Path::file_name).unwrap_or_default();
    let stem =
        format!("{}-{}", folder.to_string_lossy(), test.file_stem().unwrap_or_default().to_string_lossy());
    let mut commands = Vec::new();
    for captures in run.captures_iter(&text) {
        let line = captures[1]
            .replace("%s", &test.to_string_lossy())
            .replace("-o -", "")
            .replace("%}", "")
            .replace('<', " ");
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        if words.iter().all(|word| !word.contains('%') && !prevents_ptx(word)) {
            let llc = [vec![format!("llc-{RELEASE}")], words, vec!["-o".to_owned(), "-".to_owned()]].concat();
            commands.push((format!("{stem}-{}", commands.len() + 1), vec![llc]));
        }
    }
    commands
}
