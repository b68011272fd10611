//! Draws the results of successive campaigns as a chart.

use std::fmt::Write as _;

use crate::Status;
use crate::harmless::line;
use crate::history::{Run, date, minute};

/// The maximum number of campaigns that are shown; older ones are left out.
const MOST: usize = 60;
const WIDTH: usize = 960;
const HEIGHT: usize = 180;
/// The margin for the axis.
const LEFT: usize = 40;
const BOTTOM: usize = 22;

/// The trend of the latest campaigns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trend {
    /// The chart, as SVG. It contains no strings from reports.
    pub svg: String,
    /// The same data as a table: start, verdicts, new, gone and known findings, and whether the campaign finished.
    pub rows: Vec<TrendRow>,
}

/// One campaign.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrendRow {
    /// The time of the start.
    pub started: String,
    /// The ids of the subjects.
    pub subjects: String,
    /// The number of verdicts.
    pub compared: u64,
    /// The numbers of new, gone and known findings.
    pub findings: [u64; 3],
    /// Whether the campaign finished.
    pub complete: bool,
}

/// Builds the trend; empty if there are no campaigns.
pub fn trend(runs: &[Run]) -> Trend {
    let runs = &runs[runs.len().saturating_sub(MOST)..];
    if runs.is_empty() {
        return Trend::default();
    }
    let row = |run: &Run| TrendRow {
        started: minute(run.started),
        subjects: line(&run.subjects.join(" ")).chars().take(300).collect(),
        compared: run.compared,
        findings: run.findings,
        complete: run.complete,
    };
    Trend { svg: svg(runs), rows: runs.iter().rev().map(row).collect() }
}

fn svg(runs: &[Run]) -> String {
    let total = |run: &Run| run.findings.iter().fold(0_u64, |sum, count| sum.saturating_add(*count));
    let most = runs.iter().map(total).max().unwrap_or(0).max(1);
    let (plot_width, plot_height) = (WIDTH - LEFT, HEIGHT - BOTTOM - 8);
    let step = plot_width as f64 / runs.len() as f64;
    let bar = (step * 0.7).min(48.0);
    let scale = |count: u64| plot_height as f64 * count as f64 / most as f64;
    let mut out = format!(
        "<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"Findings of the latest {} campaigns\">",
        runs.len()
    );
    for (count, y) in [(most, 8.0), (0, 8.0 + plot_height as f64)] {
        let _ = write!(
            out,
            "<line class=\"axis\" x1=\"{LEFT}\" x2=\"{WIDTH}\" y1=\"{y}\" y2=\"{y}\"/>\
             <text x=\"{}\" y=\"{}\" text-anchor=\"end\">{count}</text>",
            LEFT - 6,
            y + 4.0
        );
    }
    for (nth, run) in runs.iter().enumerate() {
        let x = LEFT as f64 + step * nth as f64 + (step - bar) / 2.0;
        let mut y = 8.0 + plot_height as f64;
        let counts = [Status::Known, Status::Gone, Status::New].map(|status| (status, run.count(status)));
        let incomplete = if run.complete { "" } else { ", incomplete" };
        let told: Vec<String> =
            counts.iter().rev().map(|(status, n)| format!("{n} {}", status.name())).collect();
        let _ = write!(
            out,
            "<g class=\"{}\"><title>{}: {}{incomplete}</title>\
             <rect class=\"hit\" x=\"{:.1}\" y=\"8\" width=\"{bar:.1}\" height=\"{plot_height}\"/>",
            if run.complete { "run" } else { "run incomplete" },
            minute(run.started),
            told.join(", "),
            x
        );
        for (status, count) in counts.into_iter().filter(|(_, count)| *count > 0) {
            let height = scale(count);
            y -= height;
            let _ = write!(
                out,
                "<rect class=\"{}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{bar:.1}\" height=\"{height:.1}\"/>",
                status.name()
            );
        }
        out.push_str("</g>");
    }
    let y = HEIGHT - 4;
    let _ = write!(out, "<text x=\"{LEFT}\" y=\"{y}\">{}</text>", date(runs[0].started));
    if let [_, .., last] = runs {
        let _ =
            write!(out, "<text x=\"{WIDTH}\" y=\"{y}\" text-anchor=\"end\">{}</text>", date(last.started));
    }
    out.push_str("</svg>");
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, UNIX_EPOCH};

    fn run(day: u64, findings: [u64; 3], complete: bool) -> Run {
        Run {
            number: day as i64,
            started: UNIX_EPOCH + Duration::from_secs(86_400 * day),
            folder: "</svg>".to_owned(),
            command: "run".to_owned(),
            seed: 0,
            complete,
            compared: 10,
            conform: 9,
            subjects: vec!["<script>".to_owned()],
            findings,
        }
    }

    #[test]
    fn a_chart_shows_the_latest_campaigns_and_nothing_that_a_report_says() {
        let runs: Vec<Run> = (0..100).map(|day| run(day, [1, 0, u64::MAX], day % 2 == 0)).collect();
        let trend = trend(&runs);
        assert_eq!((trend.rows.len(), &*trend.rows[0].started), (60, "1970-04-10 00:00"));
        assert_eq!(trend.svg.matches("<rect class=\"new\"").count(), 60);
        assert_eq!(trend.svg.matches("run incomplete").count(), 30);
        assert!(!trend.svg.contains("<script>") && trend.svg.matches("</svg>").count() == 1);
        assert!(trend.svg.contains("1 new, 0 gone, 18446744073709551615 known, incomplete"));
    }

    #[test]
    fn without_campaigns_there_is_no_chart() {
        assert_eq!(trend(&[]), Trend::default());
        assert!(trend(&[run(0, [0; 3], true)]).svg.contains(">1970-01-01</text></svg>"));
    }
}
