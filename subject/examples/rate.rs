//! How many modules a second an implementation answers: `rate SUBJECT [MODULES]`.
//!
//! Each module is another one, of one variable, asked for one after the other. Like ptxsmith, it starts itself again as the
//! worker that loads a library.

use std::error::Error;
use std::io;
use std::path::Path;
use std::time::Instant;

use ptxsmith_subject::worker::Workers;
use ptxsmith_subject::{OpenOptions, Outcome, Request, library, open, parse_spec};

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match args[..] {
        ["worker", kind, path, ref describe @ ..] => work(kind, Path::new(path), !describe.is_empty()),
        [spec] => measure(spec, 2_000),
        [spec, count] => measure(spec, count.parse()?),
        _ => Err("write SUBJECT [MODULES]".into()),
    }
}

fn work(kind: &str, path: &Path, describe: bool) -> Result<(), Box<dyn Error>> {
    let kind = match kind {
        "nvjitlink" => library::Kind::NvJitLink,
        "ptxjit" => library::Kind::PtxCompiler,
        _ => return Err(format!("no worker of kind {kind}").into()),
    };
    match describe {
        true => library::describe(kind, path, io::stdout().lock())?,
        false => library::work(kind, path, io::stdin().lock(), io::stdout().lock())?,
    }
    Ok(())
}

fn measure(spec: &str, count: u32) -> Result<(), Box<dyn Error>> {
    let workers = Workers { program: std::env::current_exe()?, args: vec!["worker".to_owned()] };
    let options = OpenOptions { workers: Some(workers), ..OpenOptions::default() };
    for subject in open(&parse_spec(spec)?, &options)? {
        let text = |index: u32| {
            format!(".version 7.4\n.target sm_80\n.address_size 64\n.global .u32 x{index} = {index};\n")
        };
        // The first one starts the process.
        subject.observe(&Request::new(&text(0), "sm_80"))?;
        let started = Instant::now();
        for index in 1..=count {
            let text = text(index);
            let observation = subject.observe(&Request::new(&text, "sm_80"))?;
            let bytes =
                observation.variables.get(&format!("x{index}")).and_then(|variable| variable.bytes.clone());
            if observation.outcome != Outcome::Accepted || bytes != Some(index.to_le_bytes().to_vec()) {
                return Err(format!("module {index}: {observation:?}").into());
            }
        }
        let seconds = started.elapsed().as_secs_f64();
        println!(
            "{}: {count} modules in {seconds:.2} s: {:.0} a second",
            subject.id(),
            f64::from(count) / seconds
        );
    }
    Ok(())
}
