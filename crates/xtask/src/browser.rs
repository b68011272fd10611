//! `browser-test`: opens the page of a campaign and an atlas in a real Chromium, driven by Playwright
//! (crates/xtask/browser). The pages must load without console messages, be small, and allow filtering, opening and
//! copying by mouse and by keyboard, in dark and light mode and on a phone. axe must report no serious or moderate
//! problems.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, bail};

use crate::tools::{self, NOT_TESTED, command};

const CAMPAIGN: &str = "crates/report/tests/campaign";

/// Which pages are looked at.
#[derive(clap::Args)]
pub struct Arguments {
    /// A page [default: that of crates/report/tests/campaign, whose texts are out for harm, and an atlas of a part of the corpus]
    #[arg(value_name = "PAGE.html", value_parser = tools::path, conflicts_with = "atlas")]
    page: Option<PathBuf>,
    /// The folder of an atlas
    #[arg(long, value_name = "DIR", value_parser = tools::path)]
    atlas: Option<PathBuf>,
    /// Where screenshots go
    #[arg(long, value_name = "DIR", value_parser = tools::path)]
    images: Option<PathBuf>,
}

pub fn run(arguments: &Arguments) -> Result<u8> {
    let named = std::env::var_os("CHROMIUM").map(PathBuf::from);
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let Some(chromium) = named.or_else(|| names.into_iter().find_map(|name| which::which(name).ok())) else {
        eprintln!("NOT TESTED: no Chromium; install it (Debian: apt-get install chromium) or set CHROMIUM");
        return Ok(NOT_TESTED);
    };
    let environment = tools::target().join("browser-test");
    let python = environment.join("bin/python");
    if tools::said(&mut command(&python, ["-c", "import playwright, axe_playwright_python"])).is_err() {
        let venv = || tools::said(command("python3", ["-m", "venv"]).arg(&environment));
        let packages = ["playwright==1.65.2", "axe-playwright-python==0.1.8"];
        let pip = || tools::said(command(environment.join("bin/pip"), ["install", "--quiet"]).args(packages));
        if venv().and_then(|_| pip()).is_err() {
            eprintln!("NOT TESTED: Playwright cannot be installed");
            return Ok(NOT_TESTED);
        }
    }
    let look = |program: &str, page: &Path| {
        let mut look = command(&python, [format!("crates/xtask/browser/{program}.py")]);
        tools::run(look.arg(page).args(&arguments.images).env("CHROMIUM", &chromium))
    };
    match (&arguments.page, &arguments.atlas) {
        (Some(page), _) => look("report", page)?,
        (None, Some(atlas)) => look("atlas", atlas)?,
        (None, None) => {
            let work = tempfile::tempdir()?;
            let (page, atlas) = made(work.path())?;
            look("atlas", &atlas)?;
            look("report", &page)?;
        }
    }
    Ok(0)
}

/// Creates a campaign page and an atlas to test.
fn made(work: &Path) -> Result<(PathBuf, PathBuf)> {
    let ptxsmith = tools::ptxsmith(false)?;
    let say = |command: &mut Command| tools::said(command).map(|_| ());
    let [history, page, campaign, atlas] =
        ["history.db", "report.html", "campaign", "atlas"].map(|name| work.join(name));
    say(command(&ptxsmith, ["history"]).arg(&history).args(["--quiet", "--add", CAMPAIGN]))?;
    let mut report = command(&ptxsmith, ["report", CAMPAIGN, "--format", "html", "--history"]);
    say(report.arg(&history).arg("--out").arg(&page))?;
    // Combine the programs of one campaign with the findings of the other.
    let subject = "serve:python3 docs/examples/toy_subject.py";
    let words =
        ["check", "corpus/4.5.1", "corpus/5.4.3", "--by-case", "--quiet", "--subject", subject, "--out"];
    let checked = tools::answer(command(&ptxsmith, words).arg(&campaign))?;
    if !matches!(tools::status(&checked), 0 | 1) {
        bail!("ptxsmith check: {}", String::from_utf8_lossy(&checked.stderr));
    }
    say(command(&ptxsmith, ["atlas"]).arg(&campaign).args([CAMPAIGN, "--out"]).arg(&atlas))?;
    Ok((page, atlas))
}
