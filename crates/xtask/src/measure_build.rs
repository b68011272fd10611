//! `measure-build`: measures a release build from scratch in its own folder: its time, processor time and size, and the
//! size of the program.
//!
//! Other work on the machine affects the time but not the processor time. The result therefore includes the time only
//! if the build had nine tenths of the cores. Packages are fetched before the measurement starts.

use std::fs;
use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result};
use serde_json::json;

use crate::tools::{self, command};

const FIGURES: &str = "docs/reference/build.json";

pub fn run(render: bool) -> Result<u8> {
    if !render {
        tools::run(&mut command("cargo", ["fetch", "--quiet", "--locked"]))?;
        let target = tempfile::tempdir()?;
        let (began, before) = (Instant::now(), tools::used()?);
        let words = ["build", "--release", "--locked", "--offline", "--quiet", "-p", "ptxsmith"];
        tools::run(command("cargo", words).env("CARGO_TARGET_DIR", target.path()))?;
        let (wall, processor) = (began.elapsed().as_secs_f64(), tools::used()? - before);
        let size = fs::metadata(target.path().join("release/ptxsmith"))?.len();
        let all = walkdir::WalkDir::new(target.path())
            .into_iter()
            .flatten()
            .filter_map(|entry| entry.metadata().ok());
        let figures = json!({
            "measured": tools::today(), "cores": tools::cores(), "seconds": wall.round() as u64,
            "processor_seconds": processor.round() as u64, "program_bytes": size,
            "target_kib": all.map(|metadata| metadata.len()).sum::<u64>() >> 10,
        });
        fs::write(FIGURES, serde_json::to_string_pretty(&figures)? + "\n")?;
    }
    let figures = tools::json(Path::new(FIGURES))?;
    let of = |key: &str| figures[key].as_u64().with_context(|| format!("no {key}"));
    let minutes = |seconds: u64| format!("{} min {:02} s", seconds / 60, seconds % 60);
    let (cores, seconds, processor) = (of("cores")?, of("seconds")?, of("processor_seconds")?);
    let wall = match processor * 10 > 9 * cores * seconds {
        true => format!("{} on {cores} cores", minutes(seconds)),
        false => "on a machine that did other work too, so the time is not told".to_owned(),
    };
    let text = format!(
        "The first build takes {} of processor time and {:.0} MB in `target/`; the program has {:.0} MB\n(measured {}, {wall}).\n",
        minutes(processor),
        of("target_kib")? as f64 / 1024.0,
        of("program_bytes")? as f64 / 1e6,
        figures["measured"].as_str().unwrap_or_default()
    );
    let readme = Path::new("README.md");
    fs::write(readme, tools::rendered(readme, "<!-- build: begin -->\n", "<!-- build: end -->", &text)?)?;
    Ok(0)
}
