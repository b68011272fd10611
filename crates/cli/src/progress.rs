//! Progress on the terminal; hidden if standard error is not a terminal.

use std::fmt::Write;
use std::time::{Duration, Instant};

use indicatif::{HumanCount, ProgressBar, ProgressState, ProgressStyle};
use ptxsmith_campaign::Failure;
use ptxsmith_campaign::session::{Events, Limit, Progress};

use crate::console::Console;

/// Shows a spinner while an operation of unknown length runs.
pub fn spinner(console: &Console) -> ProgressBar {
    if console.quiet {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new_spinner().with_style(ProgressStyle::default_spinner());
    bar.enable_steady_tick(Duration::from_millis(100));
    bar
}

/// Shows the events of a campaign on the terminal.
pub struct TerminalEvents {
    pub console: Console,
    /// The time limit of the command, if there is one.
    pub limit: Option<Limit>,
}

/// A progress bar that disappears when this value is dropped.
struct TerminalProgress {
    bar: ProgressBar,
    console: Console,
}

impl Events for TerminalEvents {
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
        Box::new(TerminalProgress { bar: bar(&self.console, self.limit, unit, count), console: self.console })
    }

    fn wait(&self) -> Box<dyn Progress> {
        Box::new(TerminalProgress { bar: spinner(&self.console), console: self.console })
    }
}

impl Progress for TerminalProgress {
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

impl Drop for TerminalProgress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// The minimum terminal width for the complete progress line.
const WIDE: u16 = 90;

fn bar(console: &Console, limit: Option<Limit>, unit: &str, count: Option<u64>) -> ProgressBar {
    if console.quiet {
        return ProgressBar::hidden();
    }
    let bar = count.map_or_else(ProgressBar::no_length, ProgressBar::new);
    let (_, width) = console::Term::stderr().size();
    if let Ok(style) = style(limit, unit, count.is_some(), width) {
        bar.set_style(style);
    }
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

/// Creates a progress line that fits the terminal. On a narrow terminal the findings come first and the rest
/// is left out.
fn style(
    limit: Option<Limit>,
    unit: &str,
    is_counted: bool,
    width: u16,
) -> Result<ProgressStyle, indicatif::style::TemplateError> {
    let count = if is_counted { "{human_pos}/{human_len}" } else { "{human_pos}" };
    // With a known count or a time limit, show the completed share and the time left; otherwise a spinner and
    // the elapsed time.
    let share = if is_counted || limit.is_some() { "{share}" } else { "{spinner}" };
    let time = if is_counted || limit.is_some() { "{left} left" } else { "{elapsed}" };
    let template = match width {
        WIDE.. => format!("{{spinner}} {share}  {count} {unit}  {{rate}}/s  {time}  {{wide_msg}}"),
        _ => format!("{share} {time} {{wide_msg}}"),
    };
    Ok(ProgressStyle::with_template(&template)?
        .with_key("rate", |state: &ProgressState, out: &mut dyn Write| {
            let _ = write!(out, "{}", HumanCount(state.per_sec() as u64));
        })
        .with_key("share", move |state: &ProgressState, out: &mut dyn Write| {
            let of_time = limit.map_or(0.0, |limit| limit.share(Instant::now()));
            let of_count = if is_counted { f64::from(state.fraction()) } else { 0.0 };
            let _ = write!(out, "{:>3.0}%", 100.0 * of_time.max(of_count));
        })
        .with_key("left", move |state: &ProgressState, out: &mut dyn Write| {
            let of_time = limit.map(|limit| limit.end.saturating_duration_since(Instant::now()));
            let of_count = is_counted.then(|| state.eta());
            let remaining = of_time.into_iter().chain(of_count).min().unwrap_or_default();
            let _ = write!(out, "{}", time_of(remaining));
        }))
}

/// Formats a duration as `45s`, `3m05s` or `2h07m`.
fn time_of(time: Duration) -> String {
    match time.as_secs() {
        seconds @ ..60 => format!("{seconds}s"),
        seconds @ 60..3600 => format!("{}m{:02}s", seconds / 60, seconds % 60),
        seconds => format!("{}h{:02}m", seconds / 3600, seconds / 60 % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{Arc, Mutex};

    use indicatif::{ProgressDrawTarget, TermLike};

    /// Keeps only the text that was written last.
    #[derive(Clone, Debug)]
    struct Terminal {
        width: u16,
        line: Arc<Mutex<String>>,
    }

    impl TermLike for Terminal {
        fn width(&self) -> u16 {
            self.width
        }
        fn move_cursor_up(&self, _: usize) -> std::io::Result<()> {
            Ok(())
        }
        fn move_cursor_down(&self, _: usize) -> std::io::Result<()> {
            Ok(())
        }
        fn move_cursor_right(&self, _: usize) -> std::io::Result<()> {
            Ok(())
        }
        fn move_cursor_left(&self, _: usize) -> std::io::Result<()> {
            Ok(())
        }
        fn write_line(&self, line: &str) -> std::io::Result<()> {
            self.write_str(line)
        }
        fn write_str(&self, text: &str) -> std::io::Result<()> {
            if !text.trim().is_empty() {
                *self.line.lock().unwrap() = text.trim_end().to_owned();
            }
            Ok(())
        }
        fn clear_line(&self) -> std::io::Result<()> {
            Ok(())
        }
        fn flush(&self) -> std::io::Result<()> {
            Ok(())
        }
    }

    fn drawn(limit: Option<Limit>, count: Option<u64>, width: u16) -> String {
        let terminal = Terminal { width, line: Arc::default() };
        let bar = count.map_or_else(ProgressBar::no_length, ProgressBar::new);
        bar.set_draw_target(ProgressDrawTarget::term_like(Box::new(terminal.clone())));
        bar.set_style(style(limit, "cases", count.is_some(), width).unwrap());
        bar.set_message("287 deviate, 3 new");
        bar.inc(31_250);
        bar.tick();
        terminal.line.lock().unwrap().clone()
    }

    #[test]
    fn the_line_fits_40_columns_and_tells_what_is_new_and_how_long_it_takes() {
        let limit = Limit::new(Instant::now(), Duration::from_secs(600));
        for (limit, count) in
            [(None, Some(250_000)), (Some(limit), None), (Some(limit), Some(250_000)), (None, None)]
        {
            let line = drawn(limit, count, 40);
            assert_eq!(line.lines().count(), 1, "{line}");
            assert!(line.chars().count() <= 40 && line.ends_with("287 deviate, 3 new"), "{line}");
            assert_eq!(line.contains(" left "), limit.is_some() || count.is_some(), "{line}");
        }
    }

    #[test]
    fn a_wide_line_has_the_rate_without_decimals() {
        let line = drawn(None, Some(250_000), 120);
        assert!(line.contains("31,250/250,000 cases") && line.contains("/s  "), "{line}");
        assert!(!line.contains('.'), "{line}");
    }

    #[test]
    fn times_are_short() {
        let shown = |seconds| time_of(Duration::from_secs(seconds));
        assert_eq!([shown(45), shown(185), shown(7_620)], ["45s", "3m05s", "2h07m"]);
    }
}
