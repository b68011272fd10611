//! Compares a compiler's result for each case with the rule's verdict, and counts the outcomes.

use std::collections::{BTreeMap, BTreeSet};

use ptxsmith_syntax::every;

use crate::known::{self, DeviationEffect};
use crate::language::{Category, ConstantValue, CudaCase, Standard, UsePlace, Yield, print};
use crate::oracle::{UseExpectation, UseVerdict, is_clear, judge, relevant_interpretations};
use crate::reading::{RuleInterpretations, RuleQuestion};
use crate::rule::RuleClause;
use crate::subjects::{Compiler, CompilerDescription, CompilerError, Reported, ptx, show, variable_numbers};

every! {
    /// The class of a deviation from the rule.
    pub enum DeviationClass {
        /// The compiler accepts a use that the rule forbids.
        AcceptsInvalid = "accepts-invalid",
        /// The compiler rejects a use that the rule allows or does not apply to.
        RefusesValid = "refuses-valid",
        /// An allowed use reads a value other than the initializer's.
        WrongValue = "wrong-value",
        /// The PTX names the host variable, though the use only needs its value.
        VariableInDevice = "wrong-value",
        /// The compiler crashes.
        Crash = "crash",
        /// The compiler exceeds the time limit.
        Hang = "hang",
    }
}

every! {
    /// The reason why a case was not compared.
    pub enum NotComparedReason {
        /// The rule does not apply to the case, but other rules may.
        Silent = "rule-silent",
        /// The compiler rejects the case as invalid C++, not because of the rule.
        IllFormed = "ill-formed",
        /// The compiler does not support the C++ version that the case needs.
        Standard = "language-version",
    }
}

/// A group of cases that deviate in the same way.
#[derive(Clone, Debug)]
pub struct DeviationGroup {
    /// The number of cases.
    pub count: u64,
    /// The case with the lowest number.
    pub example: CudaCase,
    /// The rule's verdict on the example.
    pub expectation: UseExpectation,
    /// The compiler's result for the example.
    pub observed: CaseObservation,
}

/// The result of compiling one case, with the facts that the PTX shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaseObservation {
    /// Whether the compiler accepted the case, or how it failed.
    pub reported: Reported,
    /// The bits that the case's function returns in PTX; `None` if they cannot be determined.
    pub returned: Option<u64>,
    /// Whether the PTX names the variable; `None` if there is no PTX.
    pub in_ptx: Option<bool>,
}

/// The key for grouping deviations.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct GroupKey {
    /// The class of the deviation.
    pub class: DeviationClass,
    /// The rule's verdict: the name of the primary message, or `allowed`, or `silent`.
    pub verdict: &'static str,
    /// The name of the form of use.
    pub form: &'static str,
}

/// The number of cases in which a compiler followed each answer to an open question.
///
/// Counts only cases that this question alone decides and that show no known deviation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sides {
    /// Cases that follow the literal text.
    pub literal: u64,
    /// Cases that follow the other answer.
    pub other: u64,
}

/// Counts of the uses that a compiler must reject.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Refusals {
    /// Uses that the literal text forbids.
    pub uses: u64,
    /// Uses that the compiler rejected.
    pub refused: u64,
    /// Uses that are forbidden with the same primary message under every interpretation.
    pub clear: u64,
    /// Uses counted in `clear` that the compiler rejected.
    pub clear_refused: u64,
}

/// The accumulated results for one compiler.
#[derive(Debug, Default)]
pub struct RuleLedger {
    /// The number of all cases, compared or not.
    pub cases: u64,
    /// Cases that were compared.
    pub compared: u64,
    /// Compared cases that conform to the literal text.
    pub conform: u64,
    /// Compared cases that conform only under another interpretation.
    pub conform_under_reading: u64,
    /// Cases that were not compared, by reason.
    pub not_compared: BTreeMap<NotComparedReason, u64>,
    /// Cases that showed a known deviation, by its id.
    pub known: BTreeMap<&'static str, DeviationGroup>,
    /// The number of accepted or rejected cases in the family of a known deviation, by its id.
    pub families: BTreeMap<&'static str, u64>,
    /// Deviations that no known deviation and no interpretation explains.
    pub new: BTreeMap<GroupKey, DeviationGroup>,
    /// The answers that the compiler follows, by open question.
    pub sides: BTreeMap<RuleQuestion, Sides>,
    /// Counts of the forbidden uses, by primary message.
    pub refusals: BTreeMap<&'static str, Refusals>,
    /// Uses that the compiler must accept, and how many of them it rejected. Includes uses that the rule does
    /// not apply to, which serve as controls.
    pub allowed: (u64, u64),
    /// Allowed uses that return the correct value in PTX.
    pub values_right: u64,
    /// Allowed uses that should return the value, but the PTX does not show which value they return.
    pub values_unseen: u64,
    /// Allowed uses that do not name the variable in PTX.
    pub absent_in_ptx: u64,
}

impl RuleLedger {
    /// Adds the counts of another ledger for the same compiler.
    pub fn merge(&mut self, other: RuleLedger) {
        self.cases += other.cases;
        self.compared += other.compared;
        self.conform += other.conform;
        self.conform_under_reading += other.conform_under_reading;
        for (reason, count) in other.not_compared {
            *self.not_compared.entry(reason).or_default() += count;
        }
        merge_groups(&mut self.known, other.known);
        for (id, count) in other.families {
            *self.families.entry(id).or_default() += count;
        }
        merge_groups(&mut self.new, other.new);
        for (question, sides) in other.sides {
            let mine = self.sides.entry(question).or_default();
            mine.literal += sides.literal;
            mine.other += sides.other;
        }
        for (key, refusals) in other.refusals {
            let mine = self.refusals.entry(key).or_default();
            mine.uses += refusals.uses;
            mine.refused += refusals.refused;
            mine.clear += refusals.clear;
            mine.clear_refused += refusals.clear_refused;
        }
        self.allowed.0 += other.allowed.0;
        self.allowed.1 += other.allowed.1;
        self.values_right += other.values_right;
        self.values_unseen += other.values_unseen;
        self.absent_in_ptx += other.absent_in_ptx;
    }

    /// Returns the ids of known deviations that no longer reproduce: at least 50 cases of the family were
    /// compared, and none deviated.
    pub fn gone(&self) -> Vec<&'static str> {
        let mut gone = Vec::new();
        for (&id, &count) in &self.families {
            if count >= 50 && !self.known.contains_key(id) {
                gone.push(id);
            }
        }
        gone
    }

    /// The number of unexplained groups plus the number of known deviations that no longer reproduce
    /// ([`RuleLedger::gone`]).
    pub fn news(&self) -> usize {
        self.new.len() + self.gone().len()
    }
}

fn merge_groups<K: Ord>(mine: &mut BTreeMap<K, DeviationGroup>, other: BTreeMap<K, DeviationGroup>) {
    for (key, group) in other {
        enter(mine, key, group);
    }
}

fn enter<K: Ord>(groups: &mut BTreeMap<K, DeviationGroup>, key: K, group: DeviationGroup) {
    match groups.entry(key) {
        std::collections::btree_map::Entry::Vacant(entry) => drop(entry.insert(group)),
        std::collections::btree_map::Entry::Occupied(mut entry) => {
            let mine = entry.get_mut();
            let count = mine.count + group.count;
            if group.example.id < mine.example.id {
                *mine = group;
            }
            mine.count = count;
        }
    }
}

/// Compiles these cases and compares the results with the verdicts under `base`.
///
/// Cases are compiled in groups by C++ version. Cases that need a version unknown to the compiler are only
/// counted.
pub fn batch(
    compiler: &dyn Compiler,
    cases: &[CudaCase],
    base: RuleInterpretations,
) -> Result<RuleLedger, CompilerError> {
    let mut ledger = RuleLedger::default();
    for standard in Standard::ALL {
        let cases: Vec<CudaCase> = cases.iter().filter(|case| case.standard() == standard).cloned().collect();
        if cases.is_empty() {
        } else if compiler.supports(standard) {
            ledger.merge(batch_of(compiler, standard, &cases, base)?);
        } else {
            let count = cases.len() as u64;
            ledger.cases += count;
            ledger.not_compared.insert(NotComparedReason::Standard, count);
        }
    }
    Ok(ledger)
}

/// Compiles and compares cases that need the same C++ version.
fn batch_of(
    compiler: &dyn Compiler,
    standard: Standard,
    cases: &[CudaCase],
    base: RuleInterpretations,
) -> Result<RuleLedger, CompilerError> {
    let lines: Vec<String> = cases.iter().map(|case| print(case).line).collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let expectations: Vec<UseExpectation> = cases.iter().map(|case| judge(case, base)).collect();
    let reported = show(compiler, standard, &lines)?;
    let mut observed: Vec<CaseObservation> = reported
        .into_iter()
        .map(|reported| CaseObservation { reported, returned: None, in_ptx: None })
        .collect();
    if compiler.makes_ptx() {
        look_into_ptx(compiler, standard, cases, &lines, &expectations, &mut observed)?;
    }
    let mut ledger = RuleLedger::default();
    for ((case, expectation), observed) in cases.iter().zip(expectations).zip(observed) {
        ledger.add_case(compiler.description(), case, expectation, observed, base);
    }
    Ok(ledger)
}

/// Compiles the allowed and accepted cases to PTX, and records the returned values and the variables that the
/// PTX names.
fn look_into_ptx(
    compiler: &dyn Compiler,
    standard: Standard,
    cases: &[CudaCase],
    lines: &[&str],
    expectations: &[UseExpectation],
    observed: &mut [CaseObservation],
) -> Result<(), CompilerError> {
    let shown: Vec<usize> = (0..cases.len())
        .filter(|&i| {
            expectations[i].verdict == UseVerdict::Allowed && observed[i].reported == Reported::Accepted
        })
        .collect();
    let unit: Vec<&str> = shown.iter().map(|&index| lines[index]).collect();
    let Some(text) = compiler.compile(standard, &unit, true)?.ptx else { return Ok(()) };
    let read = ptx::read(&text);
    let named: BTreeSet<u64> = variable_numbers(&text).filter_map(|number| number.parse().ok()).collect();
    for index in shown {
        let id = cases[index].id;
        observed[index].returned = read.returned.get(&format!("c{id}")).copied();
        observed[index].in_ptx = Some(named.contains(&id));
    }
    Ok(())
}

/// The relation of a compiler's result to the rule.
enum CaseOutcome {
    /// The result conforms to the literal text.
    Conforms,
    /// The result conforms only under another interpretation.
    ConformsUnderReading,
    /// The case shows the known deviation with this id.
    Known(&'static str),
    /// The case shows a deviation that nothing explains.
    New(DeviationClass),
}

/// Decides the relation of a compiler's result to the rule: the literal text first, then the known deviations,
/// then other interpretations. Fails with the reason if the case cannot be compared.
fn outcome(
    subject: &CompilerDescription,
    case: &CudaCase,
    expectation: &UseExpectation,
    observed: &CaseObservation,
    base: RuleInterpretations,
) -> Result<CaseOutcome, NotComparedReason> {
    let Some(expected) = expectation.verdict.refuses() else { return Err(NotComparedReason::Silent) };
    let (effect, class) = match &observed.reported {
        Reported::IllFormed(_) => return Err(NotComparedReason::IllFormed),
        Reported::Crashed(_) => (DeviationEffect::Fails, DeviationClass::Crash),
        Reported::TimedOut => (DeviationEffect::Fails, DeviationClass::Hang),
        Reported::Accepted => (DeviationEffect::Accepts, DeviationClass::AcceptsInvalid),
        Reported::Refused(_) => (DeviationEffect::Refuses, DeviationClass::RefusesValid),
    };
    let refused = observed.refused();
    if refused == Some(expected) {
        return Ok(match value_of(case, expectation, observed) {
            Ok(()) => CaseOutcome::Conforms,
            Err(class) => CaseOutcome::New(class),
        });
    }
    if let Some(known) = known::find(case, effect, subject, base) {
        return Ok(CaseOutcome::Known(known.id));
    }
    let mut combinations = relevant_interpretations(case, base).into_iter();
    if refused.is_some()
        && combinations.any(|interpretations| judge(case, interpretations).verdict.refuses() == refused)
    {
        return Ok(CaseOutcome::ConformsUnderReading);
    }
    Ok(CaseOutcome::New(class))
}

impl CaseObservation {
    /// Whether the compiler rejected the case because of the rule; `None` if it neither did that nor accepted
    /// the case.
    fn refused(&self) -> Option<bool> {
        match &self.reported {
            Reported::Accepted => Some(false),
            Reported::Refused(_) => Some(true),
            Reported::IllFormed(_) | Reported::Crashed(_) | Reported::TimedOut => None,
        }
    }
}

impl RuleLedger {
    /// Compares a case with the rule and counts the outcome.
    fn add_case(
        &mut self,
        subject: &CompilerDescription,
        case: &CudaCase,
        expectation: UseExpectation,
        observed: CaseObservation,
        base: RuleInterpretations,
    ) {
        self.cases += 1;
        let outcome = match outcome(subject, case, &expectation, &observed, base) {
            Ok(outcome) => outcome,
            Err(reason) => {
                *self.not_compared.entry(reason).or_default() += 1;
                return;
            }
        };
        self.compared += 1;
        if let Some(refused) = observed.refused() {
            self.count_use(case, &expectation, refused, base);
            if let Some(family) = known::family(case, &expectation, subject) {
                *self.families.entry(family.id).or_default() += 1;
            }
            if !matches!(outcome, CaseOutcome::Known(_)) {
                self.count_side(case, &expectation, refused, base);
            }
        }
        let class = match outcome {
            CaseOutcome::Conforms => {
                self.conform += 1;
                self.count_value(case, &expectation, &observed);
                return;
            }
            CaseOutcome::ConformsUnderReading => {
                self.conform_under_reading += 1;
                return;
            }
            CaseOutcome::Known(id) => {
                let group = DeviationGroup { count: 1, example: case.clone(), expectation, observed };
                enter(&mut self.known, id, group);
                return;
            }
            CaseOutcome::New(class) => class,
        };
        let verdict = verdict_name(&expectation.verdict);
        let group = DeviationGroup { count: 1, example: case.clone(), expectation, observed };
        enter(&mut self.new, GroupKey { class, verdict, form: case.form.name }, group);
    }

    /// Counts whether the compiler rejected the use, by the rule's verdict.
    fn count_use(
        &mut self,
        case: &CudaCase,
        expectation: &UseExpectation,
        refused: bool,
        base: RuleInterpretations,
    ) {
        if expectation.verdict.refuses() == Some(true) {
            let counts = self.refusals.entry(verdict_name(&expectation.verdict)).or_default();
            let clear = is_clear(case, base);
            counts.uses += 1;
            counts.refused += u64::from(refused);
            counts.clear += u64::from(clear);
            counts.clear_refused += u64::from(clear && refused);
        } else {
            self.allowed.0 += 1;
            self.allowed.1 += u64::from(refused);
        }
    }

    /// Counts which answer the compiler followed, if exactly one open question decides the case.
    fn count_side(
        &mut self,
        case: &CudaCase,
        expectation: &UseExpectation,
        refused: bool,
        base: RuleInterpretations,
    ) {
        let literal = expectation.verdict.refuses();
        let mut deciding = relevant_interpretations(case, base);
        deciding.retain(|interpretations| judge(case, *interpretations).verdict.refuses() != literal);
        let Some(first) = deciding.first() else { return };
        let mut departures = first.departures().filter(|&question| !base.departs(question));
        let (Some(question), None) = (departures.next(), departures.next()) else { return };
        if deciding.iter().any(|interpretations| !interpretations.departs(question)) {
            return;
        }
        let sides = self.sides.entry(question).or_default();
        if literal == Some(refused) {
            sides.literal += 1;
        } else {
            sides.other += 1;
        }
    }

    /// Counts how the PTX of a conforming case shows the value and the variable.
    fn count_value(&mut self, case: &CudaCase, expectation: &UseExpectation, observed: &CaseObservation) {
        if observed.returned.is_some() {
            self.values_right += 1;
        } else if observed.in_ptx.is_some() && expected_bits(case, expectation).is_some() {
            self.values_unseen += 1;
        }
        self.absent_in_ptx += u64::from(observed.in_ptx == Some(false));
    }
}

/// Returns the name of a verdict, as [`GroupKey::verdict`] has it.
fn verdict_name(verdict: &UseVerdict) -> &'static str {
    match verdict {
        UseVerdict::Allowed => "allowed",
        UseVerdict::Forbidden(keys) => keys[0].name(),
        UseVerdict::Silent(_) => "silent",
    }
}

/// Returns the bits that the case's function must return, and their number. `None` if the function does not
/// return the variable's value or the value is not known.
fn expected_bits(case: &CudaCase, expectation: &UseExpectation) -> Option<(u64, u32)> {
    let is_returned = !matches!(
        case.place,
        UsePlace::Global
            | UsePlace::Uninstantiated
            | UsePlace::Uncalled
            | UsePlace::VariableInitializer
            | UsePlace::Discarded
            | UsePlace::DiscardedInTemplate
            | UsePlace::DeadBranch
    );
    if case.form.yields != Yield::Value || !is_returned {
        return None;
    }
    match (case.declaration.ty.category(), expectation.value?) {
        (Category::Integral { bits, .. }, ConstantValue::Integer(value)) => Some((value as u64, bits.max(8))),
        (Category::Enumeration { .. }, ConstantValue::Integer(value)) => Some((value as u64, 32)),
        (Category::Floating(32), ConstantValue::Floating(value)) => {
            Some(((value as f32).to_bits().into(), 32))
        }
        (Category::Floating(_), ConstantValue::Floating(value)) => Some((value.to_bits(), 64)),
        _ => None,
    }
}

/// Checks that the PTX, if any, does not name the variable and returns the expected value, if that is
/// visible.
fn value_of(
    case: &CudaCase,
    expectation: &UseExpectation,
    observed: &CaseObservation,
) -> Result<(), DeviationClass> {
    if observed.in_ptx == Some(true) {
        return Err(DeviationClass::VariableInDevice);
    }
    if let (Some((expected, bits)), Some(returned)) = (expected_bits(case, expectation), observed.returned) {
        let mask = if bits == 64 { u64::MAX } else { (1 << bits) - 1 };
        if expected & mask != returned & mask {
            return Err(DeviationClass::WrongValue);
        }
    }
    Ok(())
}

/// The clauses and generator productions that cases cover.
#[derive(Clone, Debug, Default)]
pub struct RuleCoverage {
    /// Clauses of the rule that verdicts are based on.
    pub clauses: BTreeSet<RuleClause>,
    /// Forms, places, sites, types, kinds of initializer, orders, spellings and accesses, prefixed as in
    /// `site Member`.
    pub productions: BTreeSet<String>,
}

impl RuleCoverage {
    /// Adds the clauses and productions of a case.
    pub fn note(&mut self, case: &CudaCase, base: RuleInterpretations) {
        self.clauses.extend(judge(case, base).clauses);
        let d = &case.declaration;
        let words = [
            format!("form {}", case.form.name),
            format!("place {}", case.place.name()),
            format!("site {:?}", d.site),
            format!("type {:?}", d.ty),
            format!("kind {}", d.kind),
            format!("order {:?}", d.order),
            format!("spelling {:?}", d.spelling),
            format!("access {:?}", d.access),
        ];
        self.productions.extend(words);
    }
}
