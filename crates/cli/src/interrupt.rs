//! Signals that ask for an end: the first for a clean one, within a time; the second does not wait.

use std::fs;
use std::process::exit;
use std::sync::Mutex;
use std::sync::atomic::{AtomicI32, Ordering};
use std::thread;
use std::time::Duration;

use ptxsmith_subject::Cancel;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

/// How long a command has for a clean end. What takes longer, such as reading a pipe that nothing is written to, is ended.
const PATIENCE: Duration = Duration::from_millis(1500);

/// The signal that asked for an end; 0 before one did.
static SIGNAL: AtomicI32 = AtomicI32::new(0);

/// What a command has to say that does not come to a clean end.
static LAST_WORDS: Mutex<Option<LastWords>> = Mutex::new(None);

type LastWords = Box<dyn FnOnce() + Send>;

/// A flag that a signal raises. Everything that takes long looks at it; the children of subjects are killed when it is
/// raised. What does not look at it in time is ended, after `say`.
pub fn watch(say: impl FnOnce() + Send + 'static) -> anyhow::Result<Cancel> {
    let cancel = Cancel::new();
    let raised = cancel.clone();
    // A program that was started with `nohup` is to outlive the terminal.
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

/// Has this said where the command does not come to a clean end in time.
pub fn last_words(say: impl FnOnce() + Send + 'static) {
    if let Ok(mut words) = LAST_WORDS.lock() {
        *words = Some(Box::new(say));
    }
}

/// The exit status of a command that a signal ended, as shells report it.
pub fn status() -> u8 {
    128 + number()
}

/// The number of the signal that asked for an end: SIGINT where none did.
fn number() -> u8 {
    let signal = SIGNAL.load(Ordering::Relaxed);
    u8::try_from(if signal == 0 { SIGINT } else { signal }).unwrap_or_default()
}

/// What asked for an end, for a person.
pub fn name() -> &'static str {
    match i32::from(number()) {
        SIGTERM => "SIGTERM",
        SIGHUP => "SIGHUP",
        _ => "Ctrl-C",
    }
}

/// Whether this program was started with a signal ignored. The system lists them as bits.
fn is_ignored(signal: i32) -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let bits = ignored.and_then(|bits| u64::from_str_radix(bits.trim(), 16).ok()).unwrap_or_default();
    bits & 1 << (signal - 1) != 0
}
