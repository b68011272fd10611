//! Target `reduce`: a reduced program still satisfies the predicate, is no larger than the input, and is deterministic.

use ptxsmith_gen::stream::SplitMix64;
use ptxsmith_reduce::{
    Answer, Event, NotReducible, Program, Question, ReduceOptions, SearchEnd, SearchResult, reduce,
};
use ptxsmith_syntax::{Declarator, Module, NodeKind};

use crate::target::{Target, TargetFailure};

/// The target.
pub static REDUCE: Target = Target { name: "reduce", run, program };

/// The size limit for reduced programs in bytes, so that time goes into many candidates rather than large ones.
const MOST_BYTES: usize = 1500;
/// The maximum number of candidates tried per reduction.
const MOST_ASKED: usize = 400;

/// Splits an input into the number after `// question`, in a leading comment, and the program after that line.
fn split(data: &[u8]) -> Option<(u64, &str)> {
    let text = std::str::from_utf8(data).ok()?;
    let mut rest = text;
    while let Some((line, after)) = rest.split_once('\n').filter(|(line, _)| line.starts_with("//")) {
        if let Some(question) = line.strip_prefix("// question ") {
            return Some((question.trim().parse().ok()?, after));
        }
        rest = after;
    }
    None
}

/// Returns the program with the line that selects the question in front.
fn program(data: &[u8]) -> Option<String> {
    split(data).map(|(question, text)| format!("// question {question}\n{text}"))
}

/// An invented predicate that candidates must satisfy. Some predicates look for a construct in the tree, like a verdict with a
/// local cause. Others are arbitrary, like a verdict that depends on the whole program.
struct InventedPredicate {
    question: u64,
    asked: usize,
}

impl InventedPredicate {
    fn answer(&self, program: &Program) -> bool {
        let (kind, detail) = (self.question % 8, self.question / 8);
        let text = program.text();
        match kind {
            0 => text.bytes().filter(|&byte| byte == b',').count() as u64 >= detail % 4,
            1 => holds(
                program,
                |node| matches!(node, NodeKind::Binary(op, ..) if *op as u64 % 6 == detail % 6),
            ),
            2 => holds(program, |node| matches!(node, NodeKind::Unary(..) | NodeKind::Cast(..))),
            3 => holds(program, |node| matches!(node, NodeKind::Name(_))),
            4 => text.contains(['u', 's', 'f', '{', '?', '%'][detail as usize % 6]),
            5 => program.size().tokens as u64 % 3 == detail % 3,
            // Arbitrary, but deterministic for a given source text.
            6 => {
                text.bytes()
                    .fold(SplitMix64::new(detail), |mut hash, byte| {
                        SplitMix64::new(hash.next_u64() ^ u64::from(byte))
                    })
                    .next_u64()
                    % 4
                    != 0
            }
            _ => true,
        }
    }
}

impl Question for InventedPredicate {
    fn ask(&mut self, programs: &[Program]) -> Vec<Answer> {
        self.asked += programs.len();
        programs.iter().map(|program| self.answer(program).into()).collect()
    }

    fn at_once(&self) -> usize {
        16
    }

    fn is_over(&self) -> bool {
        self.asked >= MOST_ASKED
    }
}

fn holds(program: &Program, is: impl Fn(&NodeKind) -> bool) -> bool {
    let mut values = program.module().into_iter().flat_map(Module::declarators).flat_map(Declarator::values);
    values.any(|value| value.nodes().iter().any(|node| is(&node.kind)))
}

fn run(data: &[u8]) -> Result<(), TargetFailure> {
    let Some((question, text)) = split(data) else { return Ok(()) };
    if text.len() > MOST_BYTES {
        return Ok(());
    }
    // Input that is not PTX is reduced as text.
    let program = Program::parse(text).unwrap_or_else(|_| Program::from_text(text));
    let (first, asked) = reduced(&program, question)?;
    let (again, _) = reduced(&program, question)?;
    TargetFailure::unless(first == again, || "two results for one program and question".to_owned())?;
    let reduced = match first {
        Ok(reduced) => reduced,
        Err(NotReducible::NotInteresting) => {
            let interesting = InventedPredicate { question, asked: 0 }.answer(&program);
            return TargetFailure::unless(!interesting, || "an interesting program is not taken".to_owned());
        }
        Err(objection) => {
            return Err(TargetFailure(format!(
                "{objection:?}, though the answer depends on the program alone"
            )));
        }
    };
    TargetFailure::unless(InventedPredicate { question, asked: 0 }.answer(&reduced.program), || {
        format!("the result answers no:\n{}", reduced.program.text())
    })?;
    TargetFailure::unless(!program.is_smaller_than(&reduced.program), || {
        format!("the result is larger:\n{}", reduced.program.text())
    })?;
    if reduced.ended == SearchEnd::Least {
        let next = self::reduced(&reduced.program, question)?.0;
        let stays = matches!(&next, Ok(next) if next.program.text() == reduced.program.text());
        TargetFailure::unless(stays || asked * 2 > MOST_ASKED, || {
            format!("the minimized reproducer is reduced further:\n{}", reduced.program.text())
        })?;
    }
    Ok(())
}

/// Reduces a program. Returns the result and the number of candidates tried. Fails if a step is not smaller than the one before.
fn reduced(
    program: &Program,
    question: u64,
) -> Result<(Result<SearchResult, NotReducible>, usize), TargetFailure> {
    let mut invented = InventedPredicate { question, asked: 0 };
    let mut best = program.clone();
    let mut grown = None;
    let result = reduce(program.clone(), &mut invented, &ReduceOptions::default(), &mut |event| {
        if let Event::Better(better, pass) = event {
            if !better.is_smaller_than(&best) {
                grown.get_or_insert(pass);
            }
            best = better.clone();
        }
    });
    match grown {
        Some(pass) => Err(TargetFailure(format!("pass {pass} makes a program larger"))),
        None => Ok((result, invented.asked)),
    }
}
