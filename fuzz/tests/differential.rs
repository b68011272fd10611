//! Tests the target `differential` with invented implementations, and with ptxas if it is installed.

use std::collections::BTreeSet;
use std::path::Path;

use ptxsmith_fuzz::differential::{Differential, long_bytes};
use ptxsmith_subject::{FnSubject, Observation, OpenOptions, Outcome, Request, open, parse_spec};

fn input(seed: u32) -> Vec<u8> {
    let mut data = vec![0; 4096];
    let size = long_bytes(&mut data, 0, 4096, seed, |_, size, _| size);
    data.truncate(size);
    data
}

#[test]
fn from_a_line_break_as_libfuzzer_begins_both_generators_are_chosen_and_much_is_new_each_time() {
    let (mut odd, mut new, mut all) = (0, 0, 0);
    for seed in 0..100 {
        let mut data = vec![b'\n'; 65536];
        let size = long_bytes(&mut data, 1, 65536, seed, |_, size, _| size);
        assert!(size >= 16 * 1024, "{size}");
        odd += usize::from(data[0] & 1);
        let before = data.clone();
        assert_eq!(long_bytes(&mut data, size, 65536, seed + 1, |_, size, _| size), size);
        new += data.iter().zip(&before).filter(|(now, before)| now != before).count();
        all += size;
    }
    assert!(new * 5 > all * 2, "{new} of {all} bytes are new");
    assert!((30..70).contains(&odd), "{odd}");
}

fn kept(folder: &Path) -> BTreeSet<String> {
    let files = std::fs::read_dir(folder.join("findings"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap());
    files.collect()
}

#[test]
fn an_implementation_that_always_dies_is_a_finding_and_stops_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let crash = |_: &Request<'_>| Observation { signal: Some(11), ..Observation::new(Outcome::Crashed) };
    let dies = Box::new(FnSubject::new("dies", crash));
    let mut differential = Differential::new(vec![dies], directory.path().to_owned()).unwrap();
    for seed in 0..3 {
        differential.judge(&input(seed)).unwrap();
    }
    assert!(differential.judged() > 100, "{}", differential.judged());
    let kept = kept(directory.path());
    assert!(!kept.is_empty());
    for name in kept {
        let text = std::fs::read_to_string(directory.path().join("findings").join(&name)).unwrap();
        assert!(text.contains("// expect: ") && text.contains("// note: repeat: ptxsmith check "), "{text}");
        assert!(text.contains("--subject dies\n"), "{text}");
        assert!(ptxsmith_syntax::parse(&text).is_ok(), "{text}");
    }
}

#[test]
fn ptxas_shows_a_crash_and_its_packed_rows_within_a_few_inputs() {
    let mut subjects = Vec::new();
    for release in ["ptxas@12.0", "ptxas@13.5"] {
        match open(&parse_spec(release).unwrap(), &OpenOptions::default()) {
            Ok(opened) => subjects.extend(opened),
            Err(error) => {
                eprintln!("NOT TESTED: ptxas_shows_a_crash_and_its_packed_rows_within_a_few_inputs: {error}");
                return;
            }
        }
    }
    let directory = tempfile::tempdir().unwrap();
    let mut differential = Differential::new(subjects, directory.path().to_owned()).unwrap();
    for seed in 0..20 {
        differential.judge(&input(seed)).unwrap();
        let kept = kept(directory.path());
        let has_crash = kept.iter().any(|name| name.ends_with("-crash.ptx"));
        if has_crash && kept.contains("incomplete-rows-packed.ptx") {
            return;
        }
    }
    panic!("20 inputs show only {:?}", kept(directory.path()));
}
