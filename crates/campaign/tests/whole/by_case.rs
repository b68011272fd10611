//! What each subject makes of each file, where a report is to say so.

use std::path::{Path, PathBuf};

use crate::common::{described, implementation, module, session};
use ptxsmith_campaign::CampaignOutcome;
use ptxsmith_campaign::check::{FileCheckOptions, check};
use ptxsmith_diff::known::KNOWN;
use ptxsmith_report::{CaseStandings, folder};
use ptxsmith_subject::{Description, Observation, Outcome as Seen, Request, SubjectSpec};
use ptxsmith_testing::wrong::follows as wrong;
use ptxsmith_testing::{NVIDIA, known_rules, observe, right};

fn subjects() -> [SubjectSpec; 3] {
    let octal = wrong(&["octal-as-decimal"]);
    let dies = move |request: &Request<'_>| match request.ptx.contains("WARP_SZ") {
        true => Observation { signal: Some(11), ..Observation::new(Seen::Crashed) },
        false => octal(request),
    };
    let listed = Description {
        id: "listed".to_owned(),
        lineage: NVIDIA.lineage.map(str::to_owned),
        version: NVIDIA.version.map(str::to_owned),
        ..Description::default()
    };
    let lists = |request: &Request<'_>| observe(NVIDIA, &known_rules(NVIDIA), request);
    [implementation("right", right), implementation("wrong", dies), described(listed, lists)]
}

fn checked(files: &[PathBuf], by_case: bool, out: &Path) -> CampaignOutcome {
    let (session, _) = session(7);
    let options = FileCheckOptions {
        files: files.to_vec(),
        subjects: subjects().to_vec(),
        timeout: None,
        by_case,
        out: Some(out.to_owned()),
        replace: false,
        counterpart: |_| None,
    };
    check(&session, options).unwrap()
}

#[test]
fn each_file_has_a_letter_for_each_subject_and_what_is_listed_of_it() {
    let directory = tempfile::tempdir().unwrap();
    let known = KNOWN.iter().find(|known| known.id == "remainder-unsigned").unwrap();
    let programs = [
        ("a.ptx", module(".global .s32 a = 010;"), "cdc", None),
        ("b.ptx", module(".global .s32 a = 8;"), "ccc", None),
        ("c.ptx", module(".global .s32 a = WARP_SZ;"), "cxc", None),
        ("d.ptx", known.example.to_owned(), "ccd", Some(known.id.to_owned())),
        ("e.ptx", module(".global .s32 a = 1;\n.global .s32 b = 010;"), "cdc", None),
    ];
    let path = |name: &str| directory.path().join(name);
    for (name, text, ..) in &programs {
        std::fs::write(path(name), text).unwrap();
    }
    let files: Vec<PathBuf> = programs.iter().map(|(name, ..)| path(name)).collect();
    let out = path("with");
    let report = checked(&files, true, &out).report;
    let cases = programs.into_iter().map(|(name, program, standings, known)| CaseStandings {
        name: path(name).to_string_lossy().into_owned(),
        program,
        standings: standings.to_owned(),
        known: known.into_iter().collect(),
    });
    assert_eq!(report.cases, cases.collect::<Vec<_>>());
    // Of what an atlas is made of, it is known where it comes from.
    let manifest = folder::read_manifest(&out).unwrap().unwrap();
    let ids: Vec<&str> = manifest.subjects.iter().map(|subject| &*subject.id).collect();
    assert_eq!((ids, manifest.cases), (vec!["right", "wrong", "listed"], None));

    let out = path("without");
    assert_eq!(checked(&files, false, &out).report.cases, []);
    assert_eq!(folder::read_manifest(&out).unwrap(), None);
}
