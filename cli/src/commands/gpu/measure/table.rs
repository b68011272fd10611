//! The result of `ptxsmith gpu run` as a table.

use std::fmt::Write as _;

use super::{Door, Measured};

/// Differences that are shown below the table.
const SHOWN: usize = 20;

/// The result in Markdown.
pub(super) fn markdown(measured: &Measured) -> String {
    let driver = &measured.driver;
    let mut out = String::new();
    let version = driver.version.as_deref().unwrap_or("of unknown version");
    let _ = writeln!(out, "Driver for CUDA {version}; {:.0} s.", measured.seconds);
    for (name, value) in &driver.machine {
        let _ = writeln!(out, "- {name}: {value}");
    }
    if !measured.complete {
        let _ = writeln!(out, "\nThe time was over before all prepared modules were shown.");
    }
    let _ = writeln!(
        out,
        "\n| through | modules | variables read back | conform | known deviations | new | not observed | kernels run \
         | passed | stopped where memory is wrong | stopped elsewhere | loaded otherwise |\n\
         | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |"
    );
    let mut all = Door { door: "all".to_owned(), ..Door::default() };
    for door in &measured.doors {
        row(&mut out, door);
        all.modules += door.modules;
        all.read_back += door.read_back;
        all.conform += door.conform;
        all.known += door.known;
        all.new += door.new;
        all.not_observed += door.not_observed;
        all.kernels += door.kernels;
        all.kernels_passed += door.kernels_passed;
        all.kernels_agree += door.kernels_agree;
        all.kernels_disagree += door.kernels_disagree;
        all.loaded_otherwise += door.loaded_otherwise;
        for (outcome, count) in &door.not_accepted {
            *all.not_accepted.entry(outcome.clone()).or_default() += count;
        }
    }
    row(&mut out, &all);
    for (outcome, count) in &all.not_accepted {
        let _ = writeln!(out, "\n{count} modules were {outcome}.");
    }
    if !measured.differences.is_empty() {
        let _ = writeln!(out, "\nThe first differences:\n");
    }
    for different in measured.differences.iter().take(SHOWN) {
        let _ = writeln!(out, "- {}, module {}: {}", different.door, different.module, different.what);
    }
    out
}

fn row(out: &mut String, door: &Door) {
    let _ = writeln!(
        out,
        "| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |",
        door.door,
        door.modules,
        door.read_back,
        door.conform,
        door.known,
        door.new,
        door.not_observed,
        door.kernels,
        door.kernels_passed,
        door.kernels_agree,
        door.kernels_disagree,
        door.loaded_otherwise
    );
}
