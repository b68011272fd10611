//! The panic hook: a panic is reported as a bug of ptxsmith and ends the program with its own exit status.

use std::backtrace::{Backtrace, BacktraceStatus};
use std::panic::PanicHookInfo;

use crate::console;
use crate::exit::Exit;

/// Installs a panic hook that ends the program with [`Exit::HarnessFailed`], whichever thread panics.
///
/// If only the panicking worker stopped, the others would run on and the verdicts would be incomplete without
/// notice. Earlier findings are safe: each is written to disk when it is found.
pub fn end_on_panic() {
    std::panic::set_hook(Box::new(|info| {
        eprintln!("error: {}", console::line(&message(info)));
        let backtrace = Backtrace::capture();
        match backtrace.status() {
            BacktraceStatus::Captured => eprintln!("{backtrace}"),
            _ => eprintln!("note: RUST_BACKTRACE=1 shows where it came from"),
        }
        std::process::exit(Exit::HarnessFailed as i32);
    }));
}

fn message(info: &PanicHookInfo<'_>) -> String {
    let place =
        info.location().map(|place| format!(" ({}:{})", place.file(), place.line())).unwrap_or_default();
    let what = (info.payload().downcast_ref::<&str>().copied())
        .or_else(|| info.payload().downcast_ref::<String>().map(String::as_str))
        .unwrap_or("panicked without a message");
    format!("this is a bug in ptxsmith, not in the subject or your program: {what}{place}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{Arc, Mutex};

    #[test]
    fn the_message_says_whose_fault_it_is_and_where() {
        let said = Arc::new(Mutex::new(String::new()));
        let hear = Arc::clone(&said);
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| *hear.lock().unwrap() = message(info)));
        let result = std::panic::catch_unwind(|| panic!("seven is even"));
        std::panic::set_hook(before);
        assert!(result.is_err());
        let said = said.lock().unwrap();
        assert!(said.starts_with("this is a bug in ptxsmith"), "{said}");
        assert!(said.contains("seven is even") && said.contains("bug.rs:"), "{said}");
    }
}
