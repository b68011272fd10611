//! Compares real compilers with the rule. Prints `NOT TESTED` for each compiler that is not installed.

use std::time::Duration;

use ptxsmith_cuda::compare::{RuleLedger, batch};
use ptxsmith_cuda::generate::CaseGenerator;
use ptxsmith_cuda::language::CudaCase;
use ptxsmith_cuda::reading::RuleInterpretations;
use ptxsmith_cuda::subjects::{Compiler, SubjectOptions, open, parse_spec};
use ptxsmith_subject::{Cancel, toolchain::Toolchains};

/// Opens the compiler; `None` if it is not installed.
fn compiler(name: &str) -> Option<Box<dyn Compiler>> {
    let toolchains = Toolchains::for_user().unwrap_or_else(|_| Toolchains::at("/nonexistent"));
    let options = SubjectOptions {
        toolchains: &toolchains,
        install: false,
        timeout: Duration::from_secs(120),
        workers: None,
        cancel: &Cancel::new(),
        progress: &|_| (),
    };
    match open(&parse_spec(name).unwrap(), &options) {
        Ok(mut opened) => opened.pop(),
        Err(error) => {
            eprintln!("NOT TESTED: {name}: {error}");
            None
        }
    }
}

fn run(compiler: &dyn Compiler) -> RuleLedger {
    let generator = CaseGenerator::new(5);
    let table = (0..CaseGenerator::table_len()).step_by(16);
    let cases: Vec<CudaCase> = table
        .chain(CaseGenerator::table_len()..CaseGenerator::table_len() + 800)
        .map(|id| generator.case(id))
        // Before 13.4, `__builtin_constant_p` is a host function.
        .filter(|case| case.form.name != "builtin-constant-p")
        .collect();
    batch(compiler, &cases, RuleInterpretations::default()).unwrap()
}

#[test]
fn cicc_refuses_nothing_that_the_rule_allows_and_deviates_only_as_known() {
    for name in ["cicc@13.0", "cicc@13.5", "nvcc@13.5"] {
        let Some(compiler) = compiler(name) else { continue };
        let ledger = run(&*compiler);
        assert_eq!(ledger.allowed.1, 0, "{name}");
        assert!(ledger.allowed.0 > 700 && ledger.compared > 1500, "{name}: {:?}", ledger.allowed);
        assert!(ledger.new.is_empty(), "{name}: {:?}", ledger.new);
        assert!(ledger.values_right > 200 && ledger.absent_in_ptx > 300, "{name}: {}", ledger.values_right);
        assert_eq!(
            ledger.not_compared.get(&ptxsmith_cuda::compare::NotComparedReason::IllFormed),
            None,
            "{name}"
        );
    }
}

#[test]
fn clang_deviates_only_as_known() {
    let Some(compiler) = compiler("clang") else { return };
    let ledger = run(&*compiler);
    assert!(ledger.new.is_empty(), "{:?}", ledger.new);
    assert!(ledger.known.contains_key("clang-copies-constants"));
}
