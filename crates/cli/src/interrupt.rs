//! Handling of SIGINT, SIGTERM and SIGHUP: the first signal asks for a clean end within a time limit, the
//! second ends the program at once.

use std::fs;
use std::process::exit;
use std::sync::Mutex;
use std::sync::atomic::{AtomicI32, Ordering};
use std::thread;
use std::time::Duration;

use ptxsmith_subject::Cancel;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

/// Time for a clean end after the first signal. A command that takes longer, for instance because it reads a
/// pipe without a writer, is ended.
const PATIENCE: Duration = Duration::from_millis(1500);

/// The first signal received, or 0 if there was none.
static SIGNAL: AtomicI32 = AtomicI32::new(0);

/// Called if the command does not end in time after a signal.
static LAST_WORDS: Mutex<Option<LastWords>> = Mutex::new(None);

type LastWords = Box<dyn FnOnce() + Send>;

/// Installs the signal handlers and returns a flag that the first signal raises. Long-running work checks the
/// flag, and child processes of subjects are killed when it is raised. If the program is still running after
/// the time limit, `say` is called and the program exits.
pub fn watch(say: impl FnOnce() + Send + 'static) -> anyhow::Result<Cancel> {
    let cancel = Cancel::new();
    let raised = cancel.clone();
    // A program started with `nohup` ignores SIGHUP and must outlive the terminal.
    let signals = if is_ignored(SIGHUP) { &[SIGINT, SIGTERM][..] } else { &[SIGINT, SIGTERM, SIGHUP] };
    let mut signals = Signals::new(signals)?;
    thread::spawn(move || {
        let mut signals = signals.forever();
        let Some(first) = signals.next() else { return };
        SIGNAL.store(first, Ordering::Relaxed);
        raised.cancel();
        thread::spawn(move || {
            thread::sleep(PATIENCE);
            if let Some(last) = LAST_WORDS.lock().ok().and_then(|mut words| words.take()) {
                last();
            }
            say();
            exit(status().into());
        });
        signals.next();
        exit(status().into());
    });
    Ok(cancel)
}

/// Sets a function that is called, before `say` of [`watch`], if the command does not end in time after a
/// signal.
pub fn last_words(say: impl FnOnce() + Send + 'static) {
    if let Ok(mut words) = LAST_WORDS.lock() {
        *words = Some(Box::new(say));
    }
}

/// Returns the exit status of a command that a signal ended: 128 plus the signal's number, as shells report
/// it.
pub fn status() -> u8 {
    128 + number()
}

/// Returns the number of the first signal, or SIGINT if there was none.
fn number() -> u8 {
    let signal = SIGNAL.load(Ordering::Relaxed);
    u8::try_from(if signal == 0 { SIGINT } else { signal }).unwrap_or_default()
}

/// Returns the name of the first signal, for messages.
pub fn name() -> &'static str {
    match i32::from(number()) {
        SIGTERM => "SIGTERM",
        SIGHUP => "SIGHUP",
        _ => "Ctrl-C",
    }
}

/// Returns true if this program was started with the signal ignored. The kernel lists ignored signals as a
/// bit mask.
fn is_ignored(signal: i32) -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let bits = ignored.and_then(|bits| u64::from_str_radix(bits.trim(), 16).ok()).unwrap_or_default();
    bits & 1 << (signal - 1) != 0
}
