//! How many modules a second an implementation answers: `rate PTXSMITH SUBJECT [MODULES]`, where `PTXSMITH` is the program whose
//! workers load libraries.
//!
//! Each module is another one, of one variable, asked for one after the other.

use std::error::Error;
use std::time::Instant;

use ptxsmith_subject::worker::Workers;
use ptxsmith_subject::{OpenOptions, Outcome, Request, open, parse_spec};

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [program, spec, rest @ ..] = args.as_slice() else {
        return Err("write PTXSMITH SUBJECT [MODULES]".into());
    };
    let count: u32 = rest.first().map_or(Ok(2000), |count| count.parse())?;
    let workers = Workers { program: program.into(), args: vec!["worker".to_owned()] };
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
