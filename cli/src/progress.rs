//! Progress on the terminal; hidden where standard error is none.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use ptxsmith_campaign::Failure;
use ptxsmith_campaign::session::{Events, Progress};

use crate::console::Console;

/// A sign of life while something takes as long as it takes.
pub fn spinner(console: &Console) -> ProgressBar {
    if console.quiet {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new_spinner().with_style(ProgressStyle::default_spinner());
    bar.enable_steady_tick(Duration::from_millis(100));
    bar
}

/// What a campaign tells, on the terminal.
pub struct Told {
    /// Where it goes.
    pub console: Console,
}

/// A bar that is there as long as this is.
struct Bar {
    bar: ProgressBar,
    console: Console,
}

impl Events for Told {
    fn note(&self, message: &str) {
        self.console.note(message);
    }

    fn judged(&self, line: &str) {
        self.console.note(line);
    }

    fn left_out(&self, failure: &Failure) {
        self.console.failure(failure);
    }

    fn begin(&self, unit: &str, count: Option<u64>) -> Box<dyn Progress> {
        Box::new(Bar { bar: bar(&self.console, unit, count), console: self.console })
    }

    fn wait(&self) -> Box<dyn Progress> {
        Box::new(Bar { bar: spinner(&self.console), console: self.console })
    }
}

impl Progress for Bar {
    fn done(&self, units: u64) {
        self.bar.inc(units);
    }

    fn say(&self, message: String) {
        self.bar.set_message(message);
    }

    fn note(&self, message: &str) {
        self.bar.suspend(|| self.console.note(message));
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

fn bar(console: &Console, unit: &str, count: Option<u64>) -> ProgressBar {
    if console.quiet {
        return ProgressBar::hidden();
    }
    let (bar, template) = match count {
        Some(count) => (ProgressBar::new(count), "{bar:30} {human_pos}/{human_len}"),
        None => (ProgressBar::no_length(), "{spinner} {human_pos}"),
    };
    let template = format!("{template} {unit}  {{per_sec}}  {{elapsed}}  {{msg}}");
    if let Ok(style) = ProgressStyle::with_template(&template) {
        bar.set_style(style);
    }
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}
