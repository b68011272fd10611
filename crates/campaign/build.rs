//! Identifies the source of this build, so that results of different builds are not mixed.

use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

/// The packages with an influence on the findings of a campaign.
const PACKAGES: [&str; 6] =
    ["crates/syntax", "gen", "oracle", "crates/subject", "crates/diff", "crates/campaign"];

fn main() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files = Vec::new();
    for package in PACKAGES {
        let folder = root.join(package).join("src");
        println!("cargo::rerun-if-changed={}", folder.display());
        sources(&folder, &mut files);
    }
    files.sort();
    let mut hash = Sha256::new();
    for file in &files {
        let name = file.strip_prefix(&root).unwrap_or(file).to_string_lossy().replace('\\', "/");
        hash.update(name.as_bytes());
        hash.update(std::fs::read(file).unwrap_or_default());
    }
    let hash: String = hash.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    println!("cargo::rustc-env=PTXSMITH_BUILD={hash}");
}

fn sources(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => sources(&path, into),
            Ok(_) if path.extension().is_some_and(|extension| extension == "rs") => into.push(path),
            _ => {}
        }
    }
}
