//! `ptxsmith suite`: writes a conformance suite that others can run without this program.

use ptxsmith_campaign::files::{make_directory, write_whole};
use ptxsmith_suite::{CaseFilter, Suite, SuiteOptions};

use super::CommandContext;
use crate::args;
use crate::console;
use crate::exit::{Exit, Failure};

/// Writes the suite into a new or empty directory. Files of an earlier suite would otherwise become part of
/// it.
pub fn run(context: &CommandContext, args: &args::SuiteArgs) -> Result<Exit, Failure> {
    make_directory(&args.out)?;
    let mut entries = std::fs::read_dir(&args.out).map_err(|error| Failure::Harness(error.into()))?;
    if entries.next().is_some() {
        let name = args.out.to_string_lossy();
        let name = console::line(&name);
        return Err(Failure::BadInput(format!("{name} is not empty; give another --out, or empty it")));
    }
    let filter = CaseFilter { target: args.target.clone(), max_ptx: args.max_ptx, only: args.only.clone() };
    let options = SuiteOptions { random: args.random, seed: context.seed, filter };
    let suite = Suite::build(options).map_err(|error| Failure::Harness(error.into()))?;
    if suite.cases.is_empty() {
        return Err(Failure::BadInput("no case is left; loosen --target, --max-ptx or --only".into()));
    }
    for file in suite.files() {
        if context.cancel.is_cancelled() {
            return Err(Failure::Interrupted);
        }
        let path = args.out.join(&file.path);
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(|error| Failure::Harness(error.into()))?;
        }
        write_whole(&path, file.contents.as_bytes())?;
    }
    context.console.print(&format!(
        "{} cases; {} says how to run them\n",
        suite.cases.len(),
        console::line(&args.out.join("README.md").to_string_lossy())
    ))?;
    Ok(Exit::Success)
}
