//! The page of compilers is current: `PTXSMITH_BLESS=1` writes it anew.

use std::fmt::Write as _;

use ptxsmith_emit::listed::{CompilerDeviation, LISTED};
use ptxsmith_testing::rendered;

/// Compilers as the page orders them, by the first word of `releases`.
const COMPILERS: [&str; 6] = ["nvcc", "cicc", "nvrtc", "clang", "llc", "gcc"];

const INTRODUCTION: &str = "\
# Known deviations of compilers that print PTX

Initial values in CUDA C++ or LLVM's IR that a compiler prints otherwise than the language says, or on which it dies. `ptxsmith emit check \
FILE --subject COMPILER` shows each; the sources are in `corpus/deviations/emitted`. A source begins with what its kernel reads.

";

fn releases_of(listed: &CompilerDeviation, compiler: &str) -> String {
    let own = listed.releases.iter().filter_map(|text| text.strip_prefix(compiler)?.strip_prefix(' '));
    own.collect::<Vec<_>>().join(", ")
}

#[test]
fn the_page_of_compilers_has_every_listed_deviation_with_its_compilers() {
    let mut page = INTRODUCTION.to_owned();
    let _ = writeln!(page, "| deviation | class | {} |", COMPILERS.join(" | "));
    let _ = writeln!(page, "| --- | --- |{}", " --- |".repeat(COMPILERS.len()));
    for listed in LISTED.iter() {
        let id = listed.id;
        let classes: Vec<&str> = listed.classes.iter().map(|class| class.name()).collect();
        let releases = COMPILERS.map(|compiler| releases_of(listed, compiler));
        let shown = releases.iter().filter(|text| !text.is_empty()).count();
        assert_eq!(
            shown,
            listed.releases.len(),
            "{id} is of a compiler without a column, or has two lines of one"
        );
        let _ = writeln!(page, "| [{id}](#{id}) | {} | {} |", classes.join(", "), releases.join(" | "));
    }
    for listed in LISTED.iter() {
        let _ = write!(page, "\n## {}\n\n{}.\n", listed.id, listed.title);
        let _ = write!(page, "\n```text\n{}\n```\n\n", listed.source.trim_end());
        for note in &listed.notes {
            let _ = writeln!(page, "{note}\n");
        }
        let _ = writeln!(page, "| | |\n| --- | --- |");
        for releases in &listed.releases {
            let _ = writeln!(page, "| shown by | {releases} |");
        }
        if let Some(link) = listed.link {
            let _ = writeln!(page, "| reported | <{link}> |");
        }
        let _ = writeln!(page, "| first seen | {} |", listed.first_seen);
        let _ = writeln!(page, "| work-around | {} |", listed.work_around);
    }
    rendered("docs/deviations/compilers.md", &page);
}
