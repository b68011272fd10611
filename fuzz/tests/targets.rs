//! Runs every target, by the functions that libFuzzer calls, on its committed seeds and on mutations of them.

use std::collections::BTreeSet;

use ptxsmith_fuzz::mutate::{MOVES, dictionary, mutate, mutated};
use ptxsmith_fuzz::{ALL, Target, corpus_file, files, roundtrip, seeds};
use ptxsmith_gen::stream::SplitMix64;
use ptxsmith_syntax::{parse, print};

/// Returns all targets except `differential`, which needs an implementation and has its own test file.
fn targets() -> impl Iterator<Item = &'static Target> {
    ALL.into_iter().filter(|target| target.name != "differential")
}

fn seeds_of(target: &Target) -> Vec<(String, Vec<u8>)> {
    let files = files(&[seeds(target.name)]).unwrap();
    files
        .into_iter()
        .map(|(path, data)| (path.file_name().unwrap().to_string_lossy().into_owned(), data))
        .collect()
}

fn tries(target: &Target, name: &str, data: &[u8]) {
    if let Err(failure) = (target.run)(data) {
        panic!("{name}: {}", target.explanation(data, &failure.to_string()));
    }
}

#[test]
fn every_target_has_a_program_and_seeds_and_takes_them() {
    let mut size = 0;
    for target in targets() {
        let program = format!("{}/fuzz_targets/{}.rs", env!("CARGO_MANIFEST_DIR"), target.name);
        assert!(std::path::Path::new(&program).is_file(), "{program}");
        let seeds = seeds_of(target);
        assert!(!seeds.is_empty(), "{} has no seeds", target.name);
        for (name, data) in seeds {
            size += data.len();
            tries(target, &name, &data);
        }
    }
    assert!(size < 200_000, "the seeds have {size} bytes");
}

#[test]
fn half_of_the_inputs_of_roundtrip_are_programs_that_are_spaced_oddly() {
    let mut random = SplitMix64::new(7);
    let mut odd = 0;
    for _ in 0..1000 {
        let mut data = [0; 32];
        random.fill(&mut data);
        let module = roundtrip::module(&data);
        let text = roundtrip::odd_text(&module, &data);
        odd += usize::from(text.is_some_and(|text| text != print(&module)));
    }
    assert!(odd > 500, "{odd} of 1000");
}

#[test]
fn no_target_fails_on_cut_and_changed_seeds() {
    let mut random = SplitMix64::new(1);
    for target in targets() {
        for (name, data) in seeds_of(target) {
            tries(target, &name, &data[..random.next_u64() as usize % (data.len() + 1)]);
            // A reduction tries hundreds of candidates, so do fewer rounds.
            let rounds = if target.name == "reduce" { 2 } else { 60 };
            for _ in 0..rounds {
                let mut changed = data.clone();
                for _ in 0..1 + random.next_u64() % 4 {
                    let (at, byte) = (random.next_u64() as usize, random.next_u64() as u8);
                    if !changed.is_empty() {
                        let length = changed.len();
                        changed[at % length] = if byte < 128 { byte } else { changed[(at >> 32) % length] };
                    }
                }
                tries(target, &name, &changed);
            }
        }
    }
}

#[test]
fn programs_made_from_random_bytes_make_the_round_trip() {
    let mut random = SplitMix64::new(2);
    let mut lengths = BTreeSet::new();
    for nth in 0..3000 {
        let mut data = vec![0; nth % 300];
        random.fill(&mut data);
        tries(&ptxsmith_fuzz::ROUNDTRIP, &nth.to_string(), &data);
        lengths.insert(ptxsmith_fuzz::module(&data).items.len());
    }
    assert!(lengths.len() > 10, "{lengths:?}");
}

#[test]
fn programs_stay_programs_while_they_are_mutated() {
    let (mut parsed, mut tried) = (0, 0);
    for (name, data) in seeds_of(&ptxsmith_fuzz::EVAL) {
        let mut text = String::from_utf8(data).unwrap();
        for seed in 0..40 {
            let changed = mutate(&text, seed, 4000).unwrap_or_else(|| panic!("{name} is no program"));
            assert!(changed.len() <= 4000);
            tries(&ptxsmith_fuzz::EVAL, &name, changed.as_bytes());
            tried += 1;
            // A mutated program may not parse. Continue with the last one that does.
            if parse(&changed).is_ok() {
                parsed += 1;
                text = changed;
            }
        }
    }
    assert!(tried > 200 && parsed * 10 > tried * 9, "{parsed} of {tried} are programs");
}

#[test]
fn every_move_changes_some_program() {
    let text =
        ".version 7.8\n.target sm_80\n.global .v2 .s32 x[2] = {{1 + 2, -(3)}, {4}};\n.const .u8 y = 5 < 6;\n";
    let module = parse(text).unwrap();
    for (name, _, make) in MOVES {
        let changes = (0..100).any(|seed| {
            let mut changed = module.clone();
            make(&mut changed, &mut ptxsmith_fuzz::mutate::Random::new(seed)) && changed != module
        });
        assert!(changes, "{name} changes nothing");
    }
}

#[test]
fn a_mutation_is_the_same_for_the_same_seed_and_as_long_as_allowed() {
    let text = b"// question 12\n.version 7.8\n.target sm_80\n.global .s32 x[2] = {1 + 2, -(3)};\n";
    for seed in 0..500 {
        for most in [text.len(), 120, 400] {
            let change = || {
                let mut data = vec![0; most];
                data[..text.len()].copy_from_slice(text);
                let size = mutated(&mut data, text.len(), most, seed, |_, size, _| size);
                assert!(size <= most);
                data.truncate(size);
                data
            };
            assert_eq!(change(), change());
            assert!(change().starts_with(b"// question "));
        }
    }
}

#[test]
fn the_dictionary_on_disk_is_that_of_the_tables() {
    ptxsmith_testing::rendered("fuzz/dictionaries/ptx.dict", &dictionary::file());
}

#[test]
fn a_failure_is_reported_as_a_corpus_file_with_its_repeat_command() {
    let data = b".version 7.8\n.target sm_80\n.global .s32 x = 1 / 0;\n";
    let told = ptxsmith_fuzz::EVAL.explanation(data, "so\nit is");
    assert!(
        told.contains("// expect: refused division-by-zero\n// note: fuzz target eval: so it is\n.version"),
        "{told}"
    );
    assert!(told.contains("// clause: 4.5"), "{told}");
    assert!(told.contains("Repeat: cargo run -p ptxsmith-fuzz --bin eval -- FILE"), "{told}");
    let told = ptxsmith_fuzz::ROUNDTRIP.explanation(&[0, 255], "so");
    assert!(
        told.contains("// note: fuzz target roundtrip: so\n.version") && told.contains("-- --hex 00ff\n"),
        "{told}"
    );
    assert!(corpus_file("no program", "n").starts_with("// clause: \n// expect: unmodelled\n"));
}

#[test]
fn the_seeds_of_the_readers_parse() {
    let read = |name: &str| std::fs::read(seeds("cubin").join(name)).unwrap();
    let plain = ptxsmith_subject::cubin::read(&read("plain.elf")).unwrap();
    assert_eq!(plain["p"].addresses.as_ref().unwrap().len(), 3);
    let placed = ptxsmith_subject::cubin::read(&read("relocatable.elf")).unwrap();
    assert_eq!(placed["com"].align, Some(32));
    for name in ["sample.txt", "placed.txt"] {
        let text = std::fs::read_to_string(seeds("cuobjdump").join(name)).unwrap();
        assert_eq!(ptxsmith_subject::cuobjdump::read(&text).unwrap().len(), 5, "{name}");
    }
    let right = std::fs::read(seeds("serve").join("right.json")).unwrap();
    assert!(ptxsmith_subject::serve::read_answer(&right, ptxsmith_fuzz::serve::QUESTION).is_ok());
}
