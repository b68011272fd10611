//! What an implementation makes of PTX files, as JSON, one line a file, in order:
//!
//! ```text
//! observe SUBJECT [--relocatable] FILE...
//! ```
//!
//! A refusal or a crash is an observation too. Exit status 1: there is no such subject, or a file cannot be
//! read.

use std::error::Error;
use std::process::ExitCode;

use ptxsmith_subject::{OpenOptions, OutputForm, Request, open, parse_spec};

fn main() -> ExitCode {
    match observe() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("observe: {error}");
            ExitCode::FAILURE
        }
    }
}

fn observe() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let spec = parse_spec(&args.next().ok_or("which subject?")?)?;
    let (options, files): (Vec<_>, Vec<_>) = args.partition(|arg| arg == "--relocatable");
    let form = if options.is_empty() { OutputForm::Executable } else { OutputForm::Relocatable };
    let subject = open(&spec, &OpenOptions::default())?.pop().ok_or("no subject")?;
    for file in files {
        let ptx = std::fs::read_to_string(&file).map_err(|error| format!("{file}: {error}"))?;
        let target = ptx
            .lines()
            .find_map(|line| line.trim().strip_prefix(".target"))
            .and_then(|targets| targets.split([',', ' ']).find(|word| !word.is_empty()))
            .unwrap_or("sm_80");
        println!("{}", serde_json::to_string(&subject.observe(&Request::new(&ptx, target).in_form(form))?)?);
    }
    Ok(())
}
