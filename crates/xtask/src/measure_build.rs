//! `measure-build`: measures a release build from scratch in its own folder: its time, processor time and
//! size, and the size of the program.
//!
//! Other work on the machine affects the time but not the processor time. The result therefore includes the
//! time only if the build had nine tenths of the cores. Packages are fetched before the measurement starts.

use std::fs;
use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result};
use serde_json::{Value, json};

use crate::tools::{self, command};

const FIGURES: &str = "docs/reference/build.json";

pub fn run(render: bool) -> Result<u8> {
    if !render {
        tools::run(&mut command("cargo", ["fetch", "--quiet", "--locked"]))?;
        let target = tempfile::tempdir()?;
        let began = Instant::now();
        let before = tools::child_processor_seconds()?;
        let words = ["build", "--release", "--locked", "--offline", "--quiet", "-p", "ptxsmith"];
        tools::run(command("cargo", words).env("CARGO_TARGET_DIR", target.path()))?;
        let wall = began.elapsed().as_secs_f64();
        let processor = tools::child_processor_seconds()? - before;
        let size = fs::metadata(target.path().join("release/ptxsmith"))?.len();
        let entries = walkdir::WalkDir::new(target.path()).into_iter().flatten();
        let sizes = entries.filter_map(|entry| entry.metadata().ok()).map(|metadata| metadata.len());
        let figures = json!({
            "measured": tools::today(), "cores": tools::cores(), "seconds": wall.round() as u64,
            "processor_seconds": processor.round() as u64, "program_bytes": size,
            "target_kib": sizes.sum::<u64>() >> 10,
        });
        fs::write(FIGURES, serde_json::to_string_pretty(&figures)? + "\n")?;
    }
    let figures = tools::json(Path::new(FIGURES))?;
    let cores = figure(&figures, "cores")?;
    let seconds = figure(&figures, "seconds")?;
    let processor = figure(&figures, "processor_seconds")?;
    let wall = if processor * 10 > 9 * cores * seconds {
        format!("{} on {cores} cores", minutes(seconds))
    } else {
        "on a machine that did other work too, so the time is not told".to_owned()
    };
    let text = format!(
        "The first build takes {} of processor time and {:.0} MB in `target/`; the program has {:.0} MB\n(measured {}, {wall}).\n",
        minutes(processor),
        figure(&figures, "target_kib")? as f64 / 1024.0,
        figure(&figures, "program_bytes")? as f64 / 1e6,
        figures["measured"].as_str().unwrap_or_default()
    );
    let readme = Path::new("README.md");
    fs::write(readme, tools::rendered(readme, "<!-- build: begin -->\n", "<!-- build: end -->", &text)?)?;
    Ok(0)
}

fn figure(figures: &Value, key: &str) -> Result<u64> {
    figures[key].as_u64().with_context(|| format!("no {key}"))
}

fn minutes(seconds: u64) -> String {
    format!("{} min {:02} s", seconds / 60, seconds % 60)
}
