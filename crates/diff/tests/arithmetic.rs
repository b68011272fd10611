//! What single instructions compute in generated code is what the PTX manual says, on every target and with and without optimization.
//!
//! This establishes both tables: a form of generated code that were executed wrongly would differ here.

use std::collections::BTreeMap;

use ptxsmith_diff::arithmetic::{Calculations, KernelVerdict};
use ptxsmith_gen::arithmetic::{TARGETS, directed, forms};
use ptxsmith_oracle::Rules;
use ptxsmith_syntax::parse;
use ptxsmith_testing::showing_code;

/// Each with its targets, so that every target is compiled with and without optimization by turns; and how many kernels in a hundred may
/// be left alone: quotients whose code reckons with floats.
const SUBJECTS: [(&str, &[usize]); 2] = [("ptxas@13.5", &[0, 2, 4]), ("ptxas@13.5 -O0", &[1, 3])];
const MOST_LEFT: usize = 6;
/// Over how many inputs each kernel is run.
const INPUTS: u64 = 10;

/// A kernel of a module.
fn shown(text: &str, kernel: &str) -> String {
    let from = text.find(&format!(".visible .entry {kernel}(")).unwrap();
    text[from..].split_inclusive("}\n").next().unwrap().to_owned()
}

#[test]
fn every_form_of_an_instruction_computes_what_the_manual_says() {
    for (subject, targets) in SUBJECTS {
        let Some(subject) = showing_code(subject) else { return };
        for (target, (name, _)) in targets.iter().map(|&target| (target, TARGETS[target])) {
            let text = directed(0..forms(target), target);
            let calculations = Calculations::new(parse(&text).unwrap(), &Rules::default(), INPUTS).unwrap();
            let judged = calculations.judge(&*subject, &text, name).unwrap();
            assert!(
                !judged.kernels.is_empty(),
                "{} {name}: {:?}",
                subject.id(),
                judged.observation.diagnostics
            );
            let mut left: BTreeMap<&str, usize> = BTreeMap::new();
            let mut wrong: Vec<String> = Vec::new();
            for (kernel, verdict) in &judged.kernels {
                match verdict {
                    KernelVerdict::Agrees => {}
                    KernelVerdict::Differs(result) => {
                        wrong.push(format!("{result:?}\n{}", shown(&text, kernel)));
                    }
                    KernelVerdict::NotFollowed(why) => *left.entry(why).or_default() += 1,
                }
            }
            assert!(wrong.is_empty(), "{} {name}:\n{}", subject.id(), wrong.concat());
            let count: usize = left.values().sum();
            assert!(100 * count < MOST_LEFT * judged.kernels.len(), "{} {name}: {left:#?}", subject.id());
        }
    }
}
