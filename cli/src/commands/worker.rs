//! `ptxsmith worker`, hidden: what this program starts itself as, to load a library that may take its process with it.

use std::io;

use ptxsmith_subject::nvjitlink::{self, WorkError, Workers};

use crate::args;
use crate::exit::{Exit, Failure};

/// How this program starts itself as a worker; `None` where the system does not tell where the program is.
pub fn workers() -> Option<Workers> {
    let program = std::env::current_exe().ok()?;
    Some(Workers { program, args: vec!["worker".to_owned(), "nvjitlink".to_owned()] })
}

/// Answers questions until there are no more.
pub fn run(args: &args::Worker) -> Result<Exit, Failure> {
    let args::Worker::Nvjitlink { library, describe } = args;
    let done = match describe {
        true => nvjitlink::describe(library, io::stdout().lock()),
        false => nvjitlink::work(library, io::stdin().lock(), io::stdout().lock()),
    };
    match done {
        Ok(()) => Ok(Exit::Success),
        Err(WorkError::Load(error)) => Err(Failure::BadInput(error.to_string())),
        // Whoever asked is gone: nobody is left to tell.
        Err(WorkError::Io(error)) if error.kind() == io::ErrorKind::BrokenPipe => Ok(Exit::Success),
        Err(error) => Err(Failure::Harness(error.into())),
    }
}
