//! `atlas`: runs campaigns with every available implementation over the suite, generated programs, and the
//! tables of forms and contexts, and renders static pages of all results. A campaign with an existing result
//! is not run again.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use serde_json::Value;

use crate::emitters;
use crate::tools::{self, command, list, text};

/// The implementations and programs of an atlas, and its folder.
#[derive(clap::Args)]
pub struct AtlasArguments {
    /// The folder of the pages; an atlas in it is replaced
    #[arg(long, default_value = "atlas", value_parser = tools::path)]
    out: PathBuf,
    /// The folder of the suite and the campaigns, which are kept [default: OUT.work]
    #[arg(long, value_parser = tools::path)]
    work: Option<PathBuf>,
    /// The number of generated cases for the releases, in addition to the suite
    #[arg(long, default_value = "2000")]
    cases: u64,
    /// The number of cells of the tables of forms and places
    #[arg(long, default_value = "2000")]
    places: u64,
    /// How many programs of several modules the installed linkers are shown
    #[arg(long, default_value = "500")]
    linked: u64,
    /// An implementation, instead of every installed ptxas, nvJitLink and compiler of a driver; may be
    /// repeated
    #[arg(long = "subject", value_name = "SUBJECT")]
    subjects: Vec<String>,
    /// The versions of Debian's LLVM that print globals [default: 14 and 19, if installed]; "" for none
    #[arg(long, value_name = "VERSIONS")]
    llvm: Option<String>,
    /// The folder of the programs of docs/examples/parser
    #[arg(long, value_name = "DIR", value_parser = tools::path)]
    parsers: Option<PathBuf>,
}

pub fn run(arguments: AtlasArguments) -> Result<u8> {
    let work =
        arguments.work.clone().unwrap_or_else(|| PathBuf::from(format!("{}.work", arguments.out.display())));
    fs::create_dir_all(&work)?;
    let atlas = AtlasBuilder { ptxsmith: tools::ptxsmith(true)?, work };
    let tools = tools::stdout_of(&mut command(&atlas.ptxsmith, ["toolchain", "list", "--json"]))?;
    let tools: Value = serde_json::from_str(&tools)?;
    let releases = if arguments.subjects.is_empty() { installed(&tools) } else { arguments.subjects.clone() };
    let others = atlas.other_subjects(&tools, arguments.parsers.as_deref())?;
    if !atlas.work.join("suite/manifest.json").exists() {
        tools::stdout_of(
            command(&atlas.ptxsmith, ["suite", "--quiet", "--out"]).arg(atlas.work.join("suite")),
        )?;
    }
    let suite = ["check", "suite/cases", "--by-case"];
    let mut campaigns =
        vec![atlas.campaign("releases", &suite, &releases)?, atlas.campaign("others", &suite, &others)?];
    if arguments.cases > 0 {
        let words = ["run", "--reduce", "0s", "--cases", &arguments.cases.to_string()];
        campaigns.push(atlas.campaign("generated", &words, &releases)?);
    }
    if arguments.places > 0 {
        let words = [
            "run",
            "--reduce",
            "0s",
            "--focus",
            "places",
            "--by-case",
            "--cases",
            &arguments.places.to_string(),
        ];
        campaigns.push(atlas.campaign("places", &words, &releases)?);
    }
    let linkers: Vec<String> = installed_tools(&tools, &["nvlink@", "nvjitlink@"]).collect();
    if arguments.linked > 0 && !linkers.is_empty() {
        let words = ["run", "--reduce", "0s", "--focus", "linking", "--cases", &arguments.linked.to_string()];
        campaigns.push(atlas.campaign("linked", &words, &linkers)?);
    }
    let llvm: Vec<u32> = match &arguments.llvm {
        Some(given) => given.split_whitespace().map(str::parse).collect::<std::result::Result<_, _>>()?,
        None => {
            let versions = [14, 19].into_iter();
            versions.filter(|version| which::which(format!("llc-{version}")).is_ok()).collect()
        }
    };
    if !llvm.is_empty() {
        campaigns.push(atlas.work.join("llvm"));
        emitters::report(&atlas.ptxsmith, &llvm, &atlas.work.join("llvm"))?;
    }
    tools::run(command(&atlas.ptxsmith, ["atlas", "--replace", "--out"]).arg(arguments.out).args(campaigns))?;
    Ok(0)
}

/// Returns every installed ptxas, nvJitLink and driver compiler.
fn installed(tools: &Value) -> Vec<String> {
    let libraries = installed_tools(tools, &["nvjitlink@", "ptxjit@"]);
    std::iter::once("ptxas@all".to_owned()).chain(libraries).collect()
}

/// Returns the installed tools whose name begins with one of these prefixes.
fn installed_tools<'t>(tools: &'t Value, prefixes: &'t [&str]) -> impl Iterator<Item = String> + 't {
    let installed = list(&tools["tools"]).iter().filter(|tool| tool["path"].is_string());
    let names = installed.map(|tool| text(tool, "name"));
    names.filter(|name| prefixes.iter().any(|prefix| name.starts_with(prefix))).map(str::to_owned)
}

/// Runs the campaigns of an atlas into the folder `work`.
struct AtlasBuilder {
    ptxsmith: PathBuf,
    work: PathBuf,
}

impl AtlasBuilder {
    /// Returns the adapters of docs/examples that can be run on this machine.
    fn other_subjects(&self, tools: &Value, parsers: Option<&Path>) -> Result<Vec<String>> {
        let toy = tools::root().join("docs/examples/toy_subject.py");
        let mut others = vec![format!("serve:python3 {}", toy.display())];
        for name in ["ptx-syntax", "singe-ptx"] {
            let program =
                parsers.map(|folder| folder.join(format!("{name}-subject"))).filter(|path| path.exists());
            match program {
                Some(program) => others.push(format!("serve:{}", program.display())),
                None => eprintln!(
                    "left out: {name}; build docs/examples/parser, and name the folder of its programs with --parsers"
                ),
            }
        }
        let nvjitlink = list(&tools["tools"]).iter().find(|tool| text(tool, "name") == "nvjitlink@13.5");
        match nvjitlink.map(|tool| text(tool, "path")) {
            Some(library) if !library.is_empty() && which::which("cc").is_ok() => {
                let program = self.work.join("nvjitlink-subject");
                let source = "docs/examples/c/nvjitlink_subject.c";
                tools::stdout_of(command("cc", ["-O2", "-o"]).arg(&program).args([source, "-ldl"]))?;
                others.push(format!("serve:{} {library}", program.display()));
            }
            _ => eprintln!("left out: docs/examples/c; it needs cc and nvjitlink@13.5"),
        }
        Ok(others)
    }

    /// Runs a campaign into its own folder, unless that folder contains a finished campaign.
    fn campaign(&self, name: &str, words: &[&str], subjects: &[String]) -> Result<PathBuf> {
        let folder = self.work.join(name);
        if tools::json(&folder.join("manifest.json")).is_ok_and(|manifest| manifest["ended"].is_string()) {
            return Ok(folder);
        }
        eprintln!("{name}");
        let subjects = subjects.iter().flat_map(|subject| ["--subject", subject]);
        let mut campaign = command(&self.ptxsmith, words.iter().copied().chain(subjects));
        let output =
            tools::output_of(campaign.args(["--quiet", "--replace", "--out", name]).current_dir(&self.work))?;
        // 1 means that something deviates, 3 that nothing was compared. Both are valid results.
        if !matches!(tools::exit_status(&output), 0 | 1 | 3) {
            bail!(
                "{name}: status {}: {}",
                tools::exit_status(&output),
                String::from_utf8_lossy(&output.stderr)
            );
        }
        Ok(folder)
    }
}
