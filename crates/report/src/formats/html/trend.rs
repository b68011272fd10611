//! Draws the results of successive campaigns as a chart.

use std::fmt::Write as _;

use crate::Status;
use crate::harmless::line;
use crate::history::{RecordedCampaign, date, minute};

/// The maximum number of campaigns that are shown; older ones are left out.
const MOST_CAMPAIGNS: usize = 60;
/// The maximum number of characters of a campaign's list of subjects.
const MOST_CHARACTERS: usize = 300;
const WIDTH: usize = 960;
const HEIGHT: usize = 180;
/// The margin for the axis.
const LEFT: usize = 40;
const BOTTOM: usize = 22;
const TOP: usize = 8;
const PLOT_HEIGHT: usize = HEIGHT - BOTTOM - TOP;

/// The trend of the latest campaigns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trend {
    /// The chart, as SVG. It contains no strings from reports.
    pub svg: String,
    /// The same data as a table: start, verdicts, new, gone and known findings, and whether the campaign
    /// finished.
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
pub fn trend(runs: &[RecordedCampaign]) -> Trend {
    let runs = &runs[runs.len().saturating_sub(MOST_CAMPAIGNS)..];
    if runs.is_empty() {
        return Trend::default();
    }
    Trend { svg: svg(runs), rows: runs.iter().rev().map(TrendRow::new).collect() }
}

impl TrendRow {
    fn new(run: &RecordedCampaign) -> TrendRow {
        TrendRow {
            started: minute(run.started),
            subjects: line(&run.subjects.join(" ")).chars().take(MOST_CHARACTERS).collect(),
            compared: run.compared,
            findings: run.findings,
            complete: run.complete,
        }
    }
}

fn svg(runs: &[RecordedCampaign]) -> String {
    let totals = runs.iter().map(|run| run.findings.into_iter().fold(0, u64::saturating_add));
    let most = totals.max().unwrap_or(0).max(1);
    let step = (WIDTH - LEFT) as f64 / runs.len() as f64;
    let mut out = format!(
        "<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"Findings of the latest {} campaigns\">",
        runs.len()
    );
    for (count, y) in [(most, TOP as f64), (0, (TOP + PLOT_HEIGHT) as f64)] {
        let _ = write!(
            out,
            "<line class=\"axis\" x1=\"{LEFT}\" x2=\"{WIDTH}\" y1=\"{y}\" y2=\"{y}\"/>\
             <text x=\"{}\" y=\"{}\" text-anchor=\"end\">{count}</text>",
            LEFT - 6,
            y + 4.0
        );
    }
    for (index, run) in runs.iter().enumerate() {
        write_bar(&mut out, run, LEFT as f64 + step * index as f64, step, most);
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

/// Draws the bar of a campaign in the column that begins at `left` and has the width `step`. A bar of `most`
/// findings fills the height.
fn write_bar(out: &mut String, run: &RecordedCampaign, left: f64, step: f64, most: u64) {
    let width = (step * 0.7).min(48.0);
    let x = left + (step - width) / 2.0;
    let counts = [Status::Known, Status::Gone, Status::New].map(|status| (status, run.count(status)));
    let texts: Vec<String> =
        counts.iter().rev().map(|(status, count)| format!("{count} {}", status.name())).collect();
    let incomplete = if run.complete { "" } else { ", incomplete" };
    let _ = write!(
        out,
        "<g class=\"{}\"><title>{}: {}{incomplete}</title>\
         <rect class=\"hit\" x=\"{x:.1}\" y=\"{TOP}\" width=\"{width:.1}\" height=\"{PLOT_HEIGHT}\"/>",
        if run.complete { "run" } else { "run incomplete" },
        minute(run.started),
        texts.join(", "),
    );
    let mut y = (TOP + PLOT_HEIGHT) as f64;
    for (status, count) in counts.into_iter().filter(|(_, count)| *count > 0) {
        let height = PLOT_HEIGHT as f64 * count as f64 / most as f64;
        y -= height;
        let _ = write!(
            out,
            "<rect class=\"{}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\"/>",
            status.name()
        );
    }
    out.push_str("</g>");
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, UNIX_EPOCH};

    fn run(day: u64, findings: [u64; 3], complete: bool) -> RecordedCampaign {
        RecordedCampaign {
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
        let runs: Vec<RecordedCampaign> =
            (0..100).map(|day| run(day, [1, 0, u64::MAX], day % 2 == 0)).collect();
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
