//! Executes the generated code of one kernel on one thread, as far as it is understood.
//!
//! Whatever is not understood ends the execution, and then nothing was seen: an instruction that is not known, a branch
//! or a store that depends on what is not known. A value that is not known is no such thing; it is stored as what it is.

mod instructions;
mod memory;
mod operands;
mod registers;
mod tracing;

use std::cell::RefCell;
use std::collections::BTreeMap;

use super::listing::{Line, Listing, number};
use super::operation::Operation;
use super::value::{Root, Symbol, Term, Truth, Wide, Word};
use ptxsmith_model::Variables;
use ptxsmith_model::{Reached, Tracing};

pub(super) use memory::value;

/// Instructions that one kernel may execute.
const MOST_STEPS: u32 = 50_000;
/// Calls that may be open at once.
const MOST_CALLS: usize = 64;

/// Why a kernel was not executed to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Lost(pub String);

type Known<T> = Result<T, Lost>;

/// One byte of memory: this byte of a word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Byte {
    pub word: Word,
    pub nth: u8,
}

pub(super) struct Machine<'a> {
    listing: &'a Listing,
    variables: &'a Variables,
    /// Where the parameters begin in the constant bank.
    parameters: u32,
    registers: BTreeMap<u16, Word>,
    uniform: BTreeMap<u16, Word>,
    predicates: BTreeMap<String, Truth>,
    /// Memory that was written.
    written: BTreeMap<(Root, i64), Byte>,
    /// The numbers that it is run over, where it is run for what it reaches.
    tracing: Option<&'a Tracing>,
    /// The bytes of its parameters then.
    passed: Vec<u8>,
    /// What it reached over them.
    reached: RefCell<Reached>,
    /// Whether it wrote something at an unknown place.
    scattered: bool,
}

/// An operand as it is read.
enum Source {
    Word(Word),
    Negated(Word),
    Complemented(Word),
}

impl Source {
    fn term(self) -> Term {
        match self {
            Source::Word(word) => Term::Plain(word),
            Source::Negated(word) => Term::Minus(word),
            Source::Complemented(word) => Term::Not(word),
        }
    }

    fn word(self) -> Word {
        match self {
            Source::Word(word) => word,
            Source::Negated(Word::Known(word)) => Word::Known(word.wrapping_neg()),
            Source::Complemented(Word::Known(word)) => Word::Known(!word),
            _ => Word::Unknown,
        }
    }
}

impl<'a> Machine<'a> {
    /// A machine that stands before the first instruction of a kernel. Without numbers to run over, the kernel's one parameter is
    /// the address of its output buffer.
    pub fn new(
        listing: &'a Listing,
        variables: &'a Variables,
        kernel: &str,
        tracing: Option<&'a Tracing>,
    ) -> Known<Self> {
        let bank = listing.parameters.get(kernel).copied().unwrap_or(0);
        let (parameters, passed) = match tracing {
            Some(tracing) => tracing::laid_out(bank, &tracing.parameters),
            None => bank.checked_sub(8).map(|parameters| (parameters, Vec::new())),
        }
        .ok_or_else(|| Lost("its parameters are not where they are known to be".to_owned()))?;
        Ok(Machine {
            listing,
            variables,
            parameters,
            registers: BTreeMap::new(),
            uniform: BTreeMap::new(),
            predicates: BTreeMap::new(),
            written: BTreeMap::new(),
            tracing,
            passed,
            reached: RefCell::default(),
            scattered: false,
        })
    }

    /// Runs a kernel to its end, and gives what it left in the output buffer, by offset.
    pub fn run(mut self, kernel: &str) -> Known<BTreeMap<i64, Byte>> {
        let start = self.listing.sections.get(&format!(".text.{kernel}")).copied();
        let mut at = start.ok_or_else(|| Lost("no code".to_owned()))?;
        let mut returns = Vec::new();
        for _ in 0..MOST_STEPS {
            let line = self.listing.line(at).map_err(Lost)?;
            if let Some((predicate, negated)) = &line.guard {
                match self.truth(predicate) {
                    Truth::Known(holds) if holds != *negated => {}
                    Truth::Known(_) => {
                        at += 1;
                        continue;
                    }
                    _ => return Err(lost(line, "depends on a predicate that is not known")),
                }
            }
            at = match line.operation {
                Operation::Exit => {
                    let outputs = self.written.into_iter().filter(|((root, _), _)| *root == Root::Output);
                    return Ok(outputs.map(|((_, offset), byte)| (offset, byte)).collect());
                }
                Operation::Branch => self.branch(line)?,
                Operation::BranchByRegister => self.branch_by_register(line, at)?,
                Operation::Call => {
                    if returns.len() == MOST_CALLS {
                        return Err(lost(line, "is one call too many"));
                    }
                    returns.push(at + 1);
                    self.call(line)?
                }
                Operation::Return => returns.pop().ok_or_else(|| lost(line, "returns to nowhere"))?,
                _ => {
                    self.step(line)?;
                    at + 1
                }
            };
        }
        Err(Lost("more instructions than are executed".to_owned()))
    }

    fn branch(&self, line: &Line) -> Known<usize> {
        let [operands @ .., target] = line.operands.as_slice() else {
            return Err(lost(line, "has no target"));
        };
        for condition in operands {
            match self.truth_of(condition) {
                Truth::Known(true) => {}
                _ => return Err(lost(line, "depends on more than its guard")),
            }
        }
        self.label(line, target)
    }

    fn label(&self, line: &Line, target: &str) -> Known<usize> {
        let name = target.trim_start_matches('`').trim_start_matches('(').trim_end_matches(')');
        self.listing.labels.get(name).copied().ok_or_else(|| lost(line, "goes to what is no label"))
    }

    fn branch_by_register(&self, line: &Line, at: usize) -> Known<usize> {
        let operand = line.operands.first().ok_or_else(|| lost(line, "has no target"))?;
        let (register, base) = operand.split_once(' ').ok_or_else(|| lost(line, "has no base"))?;
        let Word::Known(value) = self.read(register).word() else {
            return Err(lost(line, "depends on a register that is not known"));
        };
        // The base is what brings the place of the branch back to the start of its section.
        let offset = match base.contains("(.text.") {
            true => Some(value),
            false => {
                number(base).map(|base| (i64::from(line.offset) + 16 + base) as u32).map(|base| base + value)
            }
        };
        let target = offset.and_then(|offset| self.listing.at(at, offset));
        target.ok_or_else(|| lost(line, "goes to no instruction"))
    }

    fn call(&self, line: &Line) -> Known<usize> {
        let target = line.operands.last().ok_or_else(|| lost(line, "has no target"))?;
        if target.starts_with('`') {
            return self.label(line, target);
        }
        match self.pair(target) {
            Wide::Address(Symbol { root: Root::Function(name), addend: 0, .. }) => {
                self.listing.labels.get(&*name).copied().ok_or_else(|| lost(line, "goes to what is not here"))
            }
            _ => Err(lost(line, "goes to what is not known")),
        }
    }
}

/// The operands of a line that has so many.
fn exactly<const N: usize>(line: &Line) -> Known<[&str; N]> {
    let operands: Vec<&str> = line.operands.iter().map(String::as_str).collect();
    operands.try_into().map_err(|_| unknown(line))
}

fn lost(line: &Line, what: &str) -> Lost {
    Lost(format!("{} at {:#x} {what}", line.opcode, line.offset))
}

fn unknown(line: &Line) -> Lost {
    Lost(format!("{} {} is not understood", line.opcode, line.operands.join(", ")))
}
