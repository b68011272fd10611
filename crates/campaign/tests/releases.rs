//! What a finding says of releases is what `check` says of its program for each of them. A program of its
//! own: it starts processes, which hold for a moment what other campaigns of the same program have locked.

use std::fs;
use std::path::{Path, PathBuf};

use std::num::NonZeroUsize;

use ptxsmith_campaign::Session;
use ptxsmith_campaign::check::{FileCheckOptions, check};
use ptxsmith_campaign::session::SilentEvents;
use ptxsmith_diff::known::KNOWN;
use ptxsmith_model::ProgramVerdict;
use ptxsmith_report::matrix::Standing;
use ptxsmith_report::{CaseStandings, Finding};
use ptxsmith_subject::{Cancel, OpenOptions, SubjectSpec, open, parse_spec, process};

const RELEASES: [&str; 6] = ["11.7", "12.0", "12.6", "12.9", "13.0", "13.5"];

/// Programs on which releases differ by the header, by what a kernel stores, and by a parameterized name of
/// many registers.
const OTHERS: [(&str, &str); 3] = [
    (
        "header",
        ".version 8.4\n.target sm_86\n.address_size 64\n.global .align 4 .u32 t[2] = {1,2};\n\
         .visible .entry k(.param .u64 p)\n{\n.reg .b64 %rd<4>;\nld.param.u64 %rd1, [p];\nret;\n}\n",
    ),
    (
        "stores",
        ".version 7.7\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n.reg .b64 %p;\n.reg .f64 %d;\n\
         ld.param.u64 %p, [p];\nmov.f64 %d, 0f3FC00000;\nst.global.f64 [%p+8], %d;\nret;\n}\n",
    ),
    (
        "registers",
        ".version 7.7\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n.reg .b64 %p;\n.reg .b32 %r<70000>;\n\
         ld.param.u64 %p, [p];\nmov.u32 %r69999, 7;\nst.global.u32 [%p], %r69999;\nret;\n}\n",
    ),
];

fn session() -> Session {
    Session {
        jobs: NonZeroUsize::new(2).unwrap(),
        seed: 1,
        command_line: Vec::new(),
        cancel: Cancel::new(),
        libcuda: None,
        start: process::Start::Spawn,
        workers: None,
        limit: None,
        events: Box::new(SilentEvents),
        expected: Default::default(),
        known: Default::default(),
        answers: Vec::new(),
    }
}

fn installed() -> Option<Vec<SubjectSpec>> {
    let specs = RELEASES.map(|release| parse_spec(&format!("ptxas@{release}")).unwrap());
    let is_there = |spec: &SubjectSpec| open(spec, &OpenOptions::default()).is_ok();
    specs.iter().all(is_there).then(|| specs.to_vec())
}

/// The programs of the list, but for those on which a compiler computes for as long as it may, and the
/// others.
fn programs(folder: &Path) -> Vec<PathBuf> {
    let listed = KNOWN.iter().filter(|known| !known.exhausts()).map(|known| (known.id, known.example));
    let written = listed.chain(OTHERS).map(|(name, text)| {
        let path = folder.join(format!("{name}.ptx"));
        fs::write(&path, text).unwrap();
        path
    });
    written.collect()
}

/// Whether a verdict is the standing of the same program in a table of files.
fn agrees(verdict: &ProgramVerdict, standing: char) -> bool {
    match verdict {
        ProgramVerdict::Conforms => standing == Standing::Conforms.letter(),
        ProgramVerdict::Deviates(class) | ProgramVerdict::Predicted(class) => {
            standing == Standing::of_class(*class).letter()
        }
        ProgramVerdict::NotCompared(_) => {
            [Standing::Unsupported.letter(), Standing::NotReached.letter()].contains(&standing)
        }
    }
}

#[test]
fn releases_of_a_finding_are_what_check_says_of_its_program() {
    let Some(subjects) = installed() else {
        eprintln!("NOT TESTED: releases beside check: not all of {RELEASES:?} are installed");
        return;
    };
    let directory = tempfile::tempdir().unwrap();
    let session = session();
    let options = FileCheckOptions {
        files: programs(directory.path()),
        subjects,
        timeout: None,
        by_case: true,
        out: None,
        replace: false,
        counterpart: |_| None,
    };
    let report = check(&session, options).unwrap().report;
    let case = |finding: &Finding| -> Option<&CaseStandings> {
        report.cases.iter().find(|case| case.program == finding.least_program())
    };
    let (mut compared, mut differ) = (0, Vec::new());
    for finding in &report.findings {
        let Some(case) = case(finding) else { continue };
        for (release, standing) in finding.releases.iter().zip(case.standings.chars()) {
            compared += 1;
            if !agrees(&release.verdict, standing) {
                differ.push(format!(
                    "{} on {}: {} beside {standing}",
                    finding.id, release.subject, release.verdict
                ));
            }
        }
    }
    assert!(compared > 6 * 50, "{compared} verdicts were compared");
    assert!(differ.is_empty(), "{differ:#?}");
    let header = report.cases.iter().find(|case| case.name.ends_with("header.ptx")).unwrap();
    assert_eq!(
        header.standings.chars().nth(1),
        Some(Standing::of_class(ptxsmith_model::Class::Crash).letter())
    );
}
