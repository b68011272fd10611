//! Laws that hold for all programs, tested on many. Each law has a quota of relevant inputs, so a law that is never really
//! tested fails.

use ptxsmith_campaign::ledger::Ledger;
use ptxsmith_diff::{Header, Judge, JudgeOptions, Trial};
use ptxsmith_fuzz::differential::trials;
use ptxsmith_fuzz::module;
use ptxsmith_fuzz::naive::{self, NaiveAnswer};
use ptxsmith_oracle::{
    Clause, Evaluator, Integer, NanNarrowing, Question, Readings, RefusalClass, Rules, Stored, Trace, expect,
};
use ptxsmith_reduce::Program;
use ptxsmith_subject::{FnSubject, Observation, Outcome, Request};
use ptxsmith_syntax::{BinaryOp, Cast, Expr, ScalarType, UnaryOp, parse, parse_expr, print};
use quickcheck::{Arbitrary, Gen, QuickCheck, TestResult, Testable};

/// Tests a law until `useful` inputs were relevant, and fails if too many inputs are discarded.
fn holds(useful: u64, law: impl Testable) {
    QuickCheck::new().tests(useful).max_tests(useful * 20).min_tests_passed(useful).quickcheck(law);
}

/// Bytes from which generators derive programs.
#[derive(Clone, Debug)]
struct Bytes(Vec<u8>);

impl Arbitrary for Bytes {
    fn arbitrary(g: &mut Gen) -> Bytes {
        let length = usize::arbitrary(g) % 300;
        Bytes((0..length).map(|_| u8::arbitrary(g)).collect())
    }

    fn shrink(&self) -> Box<dyn Iterator<Item = Bytes>> {
        Box::new(self.0.shrink().map(Bytes))
    }
}

/// An integer constant with its type, written as a cast so that it can be an operand.
#[derive(Clone, Copy, Debug)]
struct Constant {
    bits: u64,
    signed: bool,
}

impl Arbitrary for Constant {
    fn arbitrary(g: &mut Gen) -> Constant {
        let near = *g.choose(&[0, 1, 2, 31, 32, 63, 64, 1 << 31, 1 << 32, 1 << 63, u64::MAX]).unwrap_or(&0);
        let bits =
            if bool::arbitrary(g) { near.wrapping_add(u64::arbitrary(g) % 3) } else { u64::arbitrary(g) };
        Constant { bits, signed: bool::arbitrary(g) }
    }
}

impl Constant {
    fn text(self) -> String {
        format!("({}{})", if self.signed { "(.s64) " } else { "(.u64) " }, self.bits)
    }
}

/// Returns the value and type of an integer expression, or `None` if the oracle does not accept it.
fn value(text: &str) -> Option<Integer> {
    let expr = parse_expr(text).unwrap();
    let otherwise = (RefusalClass::Dimension, Clause::Dimension);
    Evaluator::new(&Rules::default(), (7, 8)).integer(&expr, otherwise, &mut Trace::default()).ok()
}

fn stored(expr: &Expr, ty: ScalarType) -> Option<u64> {
    match Evaluator::new(&Rules::default(), (7, 8)).store(expr, ty, &mut Trace::default()) {
        Ok(Stored::Bits(bits)) => Some(bits & u64::MAX >> (64 - 8 * ty.size()?)),
        _ => None,
    }
}

#[test]
fn printed_programs_parse_as_the_same_program() {
    fn law(bytes: Bytes) -> bool {
        let module = module(&bytes.0);
        parse(&print(&module)).as_ref() == Ok(&module)
    }
    holds(2000, law as fn(Bytes) -> bool);
}

/// Table 5: the types of results by the types of operands. A result is signed if `result * 0 - 1` is negative.
#[test]
fn every_operator_has_the_type_of_table_5() {
    fn law(a: Constant, b: Constant) -> TestResult {
        let (x, y) = (a.text(), b.text());
        let mut defined = 0;
        for op in BinaryOp::ALL {
            let text = format!("{x} {} {y}", op.symbol());
            let Some(found) = value(&text) else { continue };
            defined += 1;
            let negative = parse_expr(&format!("({text}) * 0 - 1 < 0")).unwrap();
            let signed = naive::store(&negative, ScalarType::S64, (7, 8), &Readings::default());
            assert_eq!(NaiveAnswer::Bits(found.signed.into()), signed, "{text}");
        }
        for op in UnaryOp::ALL {
            let signed = match op {
                UnaryOp::Plus | UnaryOp::Minus => a.signed,
                UnaryOp::Not => true,
                UnaryOp::Complement => false,
            };
            assert_eq!(value(&format!("{} {x}", op.symbol())).map(|found| found.signed), Some(signed));
        }
        for cast in Cast::ALL {
            let found = value(&format!("{} {x}", cast.symbol()));
            assert_eq!(found, Some(Integer { bits: a.bits, signed: cast == Cast::S64 }));
        }
        let ternary = value(&format!("1 ? {x} : {y}"));
        assert_eq!(ternary, Some(Integer { bits: a.bits, signed: a.signed && b.signed }));
        TestResult::from_bool(defined >= 16)
    }
    holds(2000, law as fn(Constant, Constant) -> TestResult);
}

#[test]
fn integer_operators_obey_the_laws_of_arithmetic_modulo_two_to_the_64() {
    fn law(a: Constant, b: Constant, c: Constant, n: u8) -> bool {
        let (x, y, z) = (a.text(), b.text(), c.text());
        let (n, m) = (n % 64, 63 - n % 64);
        let same = |left: String, right: String| {
            let (left, right) = (value(&left), value(&right));
            assert!(left.is_some() && left == right, "{a:?} {b:?} {c:?} {n}: {left:?} {right:?}");
        };
        let bits = |left: String, right: String| {
            let (left, right) = (value(&left).unwrap().bits, value(&right).unwrap().bits);
            assert_eq!(left, right, "{a:?} {b:?} {c:?} {n}");
        };
        for op in ["+", "*", "&", "|", "^"] {
            same(format!("{x} {op} {y}"), format!("{y} {op} {x}"));
            same(format!("{x} {op} ({y} {op} {z})"), format!("({x} {op} {y}) {op} {z}"));
        }
        same(format!("{x} * ({y} + {z})"), format!("{x} * {y} + {x} * {z}"));
        same(format!("{x} - {y} + {y} + 0 * {x}"), format!("{x} + 0 * {y}"));
        bits(format!("~{x}"), format!("-{x} - 1"));
        bits(format!("~({x} & {y})"), format!("~{x} | ~{y}"));
        same(format!("{x} < {y}"), format!("{y} > {x}"));
        same(format!("{x} <= {y}"), format!("!({x} > {y})"));
        same(format!("{x} == {y}"), format!("!({x} != {y})"));
        same(format!("{x} == {y}"), format!("{x} <= {y} && {x} >= {y}"));
        same(format!("!({x} && {y})"), format!("!{x} || !{y}"));
        same(format!("{x} << {n} << {m}"), format!("{x} << 63"));
        same(format!("{x} >> {n} >> {m}"), format!("{x} >> 63"));
        same(format!("{x} << {n}"), format!("{x} * ((.s64) 1 << {n})"));
        if b.bits != 0 {
            bits(format!("(.u64) {x} / (.u64) {y} * {y} + {x} % {y}"), x.clone());
        }
        true
    }
    holds(1000, law as fn(Constant, Constant, Constant, u8) -> bool);
}

#[test]
fn conversion_to_a_smaller_type_keeps_the_low_bits() {
    fn law(a: Constant, b: Constant) -> TestResult {
        let expr = parse_expr(&format!("{} * 3 - {}", a.text(), b.text())).unwrap();
        let Some(whole) = stored(&expr, ScalarType::B64) else { return TestResult::discard() };
        for ty in ScalarType::ALL.iter().filter(|ty| stored(&expr, **ty).is_some()) {
            let bits = 8 * ty.bytes();
            assert_eq!(stored(&expr, *ty), Some(whole & u64::MAX >> (64 - bits)), "{ty:?}");
        }
        TestResult::from_bool(stored(&expr, ScalarType::F32).is_none())
    }
    holds(1000, law as fn(Constant, Constant) -> TestResult);
}

#[test]
fn conversion_to_single_precision_keeps_the_order_and_exact_values() {
    fn law(a: u64, b: u64) -> TestResult {
        let (x, y) = (f64::from_bits(a), f64::from_bits(b));
        if x.is_nan() || y.is_nan() {
            return TestResult::discard();
        }
        let single = |bits: u64| {
            let bits = stored(&parse_expr(&format!("0d{bits:016x}")).unwrap(), ScalarType::F32).unwrap();
            f32::from_bits(bits as u32)
        };
        assert!(x > y || single(a) <= single(b), "{x:e} {y:e}");
        let exact = f64::from(single(a));
        assert_eq!(f64::from(single(exact.to_bits())), exact);
        TestResult::from_bool(exact.is_sign_negative() == x.is_sign_negative())
    }
    holds(2000, law as fn(u64, u64) -> TestResult);
}

/// Creates an implementation that follows an interpretation, except that it converts all NaNs to the same bits.
fn follows(readings: Readings) -> FnSubject<impl Fn(&Request<'_>) -> Observation + Send + Sync> {
    let readings = Readings { nan_narrowing: NanNarrowing::Canonical, ..readings };
    FnSubject::new("follows", move |request: &Request<'_>| {
        let module = parse(request.ptx).unwrap();
        let said = expect(&module, &Rules::specification(readings)).to_json(request.ptx, &readings);
        // Accept a program that the specification does not define, as in a batch, and show no variables.
        serde_json::from_value(said).unwrap_or_else(|_| Observation::new(Outcome::Accepted))
    })
}

fn ledger(trials: &[Trial], judge: &Judge<'_>) -> Ledger {
    let mut ledger = Ledger::default();
    for (trial, judged) in trials.iter().zip(judge.batch(trials).unwrap()) {
        ledger.enter(trial, judged, &Header::default());
    }
    ledger
}

#[test]
fn a_verdict_in_a_batch_is_the_verdict_alone() {
    fn law(bytes: Bytes, question: u8) -> TestResult {
        let (trials, _) = trials(&bytes.0);
        if trials.len() < 3 {
            return TestResult::discard();
        }
        let question = Question::ALL[usize::from(question) % Question::ALL.len()];
        let subject = follows(Readings::default().with(question, 1).unwrap());
        let judge = Judge::new(&subject, Rules::default(), JudgeOptions::default());
        let together = judge.batch(&trials).unwrap();
        for (trial, together) in trials.iter().zip(together) {
            let judge = Judge::new(&subject, Rules::default(), JudgeOptions::default());
            let alone = judge.batch(std::slice::from_ref(trial)).unwrap().remove(0);
            // Compare only the kinds of the verdicts: other trials in a batch can refute hypotheses, which are no part of it.
            assert_eq!(
                std::mem::discriminant(&alone.verdict),
                std::mem::discriminant(&together.verdict),
                "{}\n{:?}\n{:?}",
                trial.text(&Header::default()),
                alone.verdict,
                together.verdict
            );
        }
        TestResult::passed()
    }
    holds(100, law as fn(Bytes, u8) -> TestResult);
}

#[test]
fn shards_merge_to_the_whole_in_any_order() {
    fn law(bytes: Bytes, cuts: Vec<u8>) -> TestResult {
        let (trials, _) = trials(&bytes.0);
        if trials.len() < 4 || cuts.is_empty() {
            return TestResult::discard();
        }
        let subject = follows(Readings::default());
        let judge = Judge::new(&subject, Rules::default(), JudgeOptions::default());
        let whole = ledger(&trials, &judge);
        // Judge the whole batch once. The shards only determine which ledger each verdict is entered into.
        let judged = judge.batch(&trials).unwrap();
        let mut shards = [Ledger::default(), Ledger::default(), Ledger::default()];
        for ((trial, judged), nth) in trials.iter().zip(judged).zip(cuts.iter().cycle()) {
            shards[usize::from(*nth) % 3].enter(trial, judged, &Header::default());
        }
        for order in [[0, 1, 2], [2, 1, 0], [1, 0, 2]] {
            let mut merged = Ledger::default();
            order.into_iter().for_each(|shard| merged.merge(shards[shard].clone()));
            assert_eq!(merged, whole);
        }
        TestResult::passed()
    }
    holds(100, law as fn(Bytes, Vec<u8>) -> TestResult);
}

#[test]
fn the_order_of_programs_is_total() {
    fn law(a: Bytes, b: Bytes, c: Bytes) -> bool {
        use std::cmp::Ordering::{Equal, Less};
        let [a, b, c] =
            [a, b, c].map(|bytes| Program::from_module(&module(&bytes.0[..bytes.0.len().min(40)])).unwrap());
        for (x, y, z) in [(&a, &b, &c), (&b, &c, &a), (&c, &a, &b)] {
            assert_eq!(x.compare(y), y.compare(x).reverse());
            assert_eq!(x.compare(y) == Equal, x.text() == y.text());
            assert!(x.compare(y) != Less || y.compare(z) != Less || x.compare(z) == Less);
            assert_eq!(x.is_smaller_than(y), x.compare(y) == Less);
        }
        true
    }
    holds(300, law as fn(Bytes, Bytes, Bytes) -> bool);
}
