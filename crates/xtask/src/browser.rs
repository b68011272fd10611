//! `browser-test`: opens the page of a campaign and an atlas in a real Chromium, driven by Playwright
//! (crates/xtask/browser). The pages must load without console messages, be small, and allow filtering,
//! opening and copying by mouse and by keyboard, in dark and light mode and on a phone. axe must report no
//! serious or moderate problems.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

use crate::tools::{self, NOT_TESTED, command};

const CAMPAIGN: &str = "crates/report/tests/campaign";

/// The pages to test.
#[derive(clap::Args)]
pub struct BrowserArguments {
    /// A page [default: that of crates/report/tests/campaign, with hostile texts, and an atlas of a part of
    /// the corpus]
    #[arg(value_name = "PAGE.html", value_parser = tools::path, conflicts_with = "atlas")]
    page: Option<PathBuf>,
    /// The folder of an atlas
    #[arg(long, value_name = "DIR", value_parser = tools::path)]
    atlas: Option<PathBuf>,
    /// The folder for screenshots
    #[arg(long, value_name = "DIR", value_parser = tools::path)]
    images: Option<PathBuf>,
}

pub fn run(arguments: &BrowserArguments) -> Result<u8> {
    let Some(chromium) = chromium() else {
        eprintln!("NOT TESTED: no Chromium; install it (Debian: apt-get install chromium) or set CHROMIUM");
        return Ok(NOT_TESTED);
    };
    let environment = tools::target().join("browser-test");
    let browser =
        Browser { chromium, python: environment.join("bin/python"), images: arguments.images.clone() };
    if !browser.has_playwright() && install_playwright(&environment).is_err() {
        eprintln!("NOT TESTED: Playwright cannot be installed");
        return Ok(NOT_TESTED);
    }
    match (&arguments.page, &arguments.atlas) {
        (Some(page), _) => browser.test("report", page)?,
        (None, Some(atlas)) => browser.test("atlas", atlas)?,
        (None, None) => {
            let work = tempfile::tempdir()?;
            let (page, atlas) = create_pages(work.path())?;
            browser.test("atlas", &atlas)?;
            browser.test("report", &page)?;
        }
    }
    Ok(0)
}

/// Returns the Chromium that `CHROMIUM` names, or else one in PATH.
fn chromium() -> Option<PathBuf> {
    if let Some(path) = std::env::var_os("CHROMIUM") {
        return Some(PathBuf::from(path));
    }
    let names = ["chromium", "chromium-browser", "google-chrome"];
    names.into_iter().find_map(|name| which::which(name).ok())
}

fn install_playwright(environment: &Path) -> Result<()> {
    tools::create_venv(environment)?;
    let packages = ["playwright==1.65.2", "axe-playwright-python==0.1.8"];
    tools::stdout_of(command(environment.join("bin/pip"), ["install", "--quiet"]).args(packages))?;
    Ok(())
}

/// A Chromium, and the Python that drives it.
struct Browser {
    chromium: PathBuf,
    python: PathBuf,
    images: Option<PathBuf>,
}

impl Browser {
    fn has_playwright(&self) -> bool {
        let imports = ["-c", "import playwright, axe_playwright_python"];
        tools::stdout_of(&mut command(&self.python, imports)).is_ok()
    }

    /// Tests a page with a program of crates/xtask/browser.
    fn test(&self, program: &str, page: &Path) -> Result<()> {
        let mut test = command(&self.python, [format!("crates/xtask/browser/{program}.py")]);
        tools::run(test.arg(page).args(&self.images).env("CHROMIUM", &self.chromium))
    }
}

/// Creates a campaign page and an atlas to test.
fn create_pages(work: &Path) -> Result<(PathBuf, PathBuf)> {
    let ptxsmith = tools::ptxsmith(false)?;
    let [history, page, campaign, atlas] =
        ["history.db", "report.html", "campaign", "atlas"].map(|name| work.join(name));
    tools::stdout_of(command(&ptxsmith, ["history"]).arg(&history).args(["--quiet", "--add", CAMPAIGN]))?;
    let mut report = command(&ptxsmith, ["report", CAMPAIGN, "--format", "html", "--history"]);
    tools::stdout_of(report.arg(&history).arg("--out").arg(&page))?;
    // Combine the programs of this campaign with the findings of the other.
    let subject = "serve:python3 docs/examples/toy_subject.py";
    let words =
        ["check", "corpus/4.5.1", "corpus/5.4.3", "--by-case", "--quiet", "--subject", subject, "--out"];
    let checked = tools::output_of(command(&ptxsmith, words).arg(&campaign))?;
    if !matches!(tools::exit_status(&checked), 0 | 1) {
        bail!("ptxsmith check: {}", String::from_utf8_lossy(&checked.stderr));
    }
    tools::stdout_of(command(&ptxsmith, ["atlas"]).arg(&campaign).args([CAMPAIGN, "--out"]).arg(&atlas))?;
    Ok((page, atlas))
}
