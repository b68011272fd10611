//! Compiles the pages of the listed deviations into the package, for bug reports. `deviations` is a symbolic
//! link to the repository's `docs/`. `cargo package` follows it, because everything that a package needs must
//! be in its own folder.

use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    println!("cargo:rerun-if-changed=deviations");
    let folder = Path::new(&env::var("CARGO_MANIFEST_DIR").unwrap_or_default()).join("deviations");
    let mut pages: Vec<_> =
        fs::read_dir(&folder)?.map(|entry| Ok(entry?.path())).collect::<io::Result<_>>()?;
    pages.sort();
    let mut table = String::from("const PAGES: &[(&str, &str)] = &[\n");
    for page in pages.iter().filter(|page| page.extension().is_some_and(|extension| extension == "md")) {
        println!("cargo:rerun-if-changed={}", page.display());
        let id = page.file_stem().unwrap_or_default().to_string_lossy();
        let _ = writeln!(table, "    ({id:?}, include_str!({:?})),", page.display().to_string());
    }
    table.push_str("];\n");
    fs::write(Path::new(&env::var("OUT_DIR").unwrap_or_default()).join("pages.rs"), table)
}
