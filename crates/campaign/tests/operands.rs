//! Wrong rules of operands, planted into an implementation: each is one new finding, and nothing besides.

use std::collections::BTreeSet;

use ptxsmith_campaign::ledger::{Ledger, PendingFinding, Triage};
use ptxsmith_diff::{Class, Header, Judge, JudgeOptions, Trial, TrialBody};
use ptxsmith_gen::{self as generate, Config, Coverage, Focus, Generator};
use ptxsmith_oracle::{Clause, Rules};
use ptxsmith_report::Finding;
use ptxsmith_testing::wrong::{self, RuleOrigin, WrongRule};
use ptxsmith_testing::{NVIDIA, fake, known_rules, on_all_cores};

fn trials(seed: u64, count: u64) -> Vec<Trial> {
    let generator = Generator::new(Config { operands: true, ..Config::default() });
    let trial = |index| {
        let case = generator.case(Focus::Operands, seed, index, &mut Coverage::new());
        let generate::Body::Kernel(items) = case.body else { panic!("{:?}", case.body) };
        Trial { id: index, body: TrialBody::Items(items), spacing: case.spacing }
    };
    (0..count).map(trial).collect()
}

/// The new findings about ptxas with these faults planted.
fn new_findings(planted: &[WrongRule], trials: &[Trial]) -> Vec<Finding> {
    let mut rules = known_rules(NVIDIA);
    planted.iter().for_each(|wrong| (wrong.change)(&mut rules));
    judged(rules, trials)
}

fn judged(rules: Rules, trials: &[Trial]) -> Vec<Finding> {
    let subject = fake(NVIDIA, rules);
    let options = JudgeOptions { recheck_every: 0, launch: true, ..JudgeOptions::default() };
    let judge = Judge::new(&subject, Rules::default(), options);
    let mut ledger = Ledger::default();
    for (trial, judged) in trials.iter().zip(judge.batch(trials).expect("nothing of ours fails")) {
        ledger.enter(trial, judged, &Header::default());
    }
    let findings = ledger.findings(&Triage::new([(&ledger, NVIDIA)]));
    findings.into_iter().filter(PendingFinding::is_new).map(|found| found.finding).collect()
}

fn ids(findings: &[Finding]) -> BTreeSet<&str> {
    findings.iter().map(|finding| finding.id.as_str()).collect()
}

#[test]
fn without_a_planted_fault_nothing_is_new() {
    assert_eq!(ids(&new_findings(&[], &trials(0, 120))), BTreeSet::new());
}

#[test]
fn one_planted_fault_is_one_new_finding_that_names_its_clause() {
    let trials = trials(0, 120);
    let mut told = 0;
    let rules: Vec<WrongRule> = wrong::with_origin(RuleOrigin::OperandHypothesis).collect();
    let all = on_all_cores(&rules, |_, &planted| new_findings(&[planted], &trials));
    for (planted, found) in rules.iter().zip(all) {
        // What is rare does not show in these few cases.
        if !found.is_empty() {
            told += 1;
            assert_eq!(ids(&found), BTreeSet::from([planted.id]));
            assert_eq!(found[0].clauses, [planted.clause.expect("of a hypothesis").id()], "{}", planted.id);
        }
    }
    assert!(told >= 8, "{told} of {} show", rules.len());
}

#[test]
fn two_planted_faults_are_two_new_findings() {
    let trials = trials(1, 60);
    let ids_of =
        ["operand-offset-ignored", "colors-reversed", "braces-from-the-highest", "predicate-is-lowest-bit"];
    for pair in ids_of.map(wrong::rule).windows(2) {
        let found = new_findings(pair, &trials);
        assert_eq!(ids(&found), pair.iter().map(|planted| planted.id).collect());
    }
}

#[test]
fn a_fault_that_no_wrong_rule_predicts_has_one_name_for_all_that_show_it_alike() {
    // One is false as well as zero: nothing that is listed or suspected says so.
    let rules = known_rules(NVIDIA).with(|rules| rules.operands.predicate.change(|_, _, bits| bits > 1));
    for seed in [0, 7] {
        let found = judged(rules, &trials(seed, 100));
        assert_eq!(ids(&found), BTreeSet::from(["wrong-value-4-5-3-predicate-constant"]), "seed {seed}");
        assert_eq!(found[0].class, Class::WrongValue);
        assert_eq!(found[0].clauses, [Clause::PredicateConstant.id()]);
        assert!(found[0].count > 1, "it shows in {} case", found[0].count);
    }
}
