//! Answers a single question: what does this variable contain?

use std::fmt;

use ptxsmith_syntax::{Lines, ParseError, StateSpace, parse};

use crate::{
    clause::{Clause, ClauseSet},
    expectation::{Address, Expectation},
    layout::expect,
    refusal::RefusalClass,
    rules::Rules,
};

/// The initial contents of a variable at module scope.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct VariableContents {
    /// The state space.
    pub space: StateSpace,
    /// The guaranteed alignment in bytes.
    pub align: u64,
    /// All bytes in memory order, zero where an address goes.
    pub bytes: Vec<u8>,
    /// The addresses that a linker or loader inserts, sorted by offset.
    pub addresses: Vec<Address>,
    /// The clauses of the specification that the contents rest on.
    pub clauses: ClauseSet,
}

/// Why [`hold`] has no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NoAnswer {
    /// The source does not parse.
    NotPtx(ParseError),
    /// The specification rejects the module.
    Refused {
        /// The class of the violation.
        class: RefusalClass,
        /// The violated clause.
        clause: Clause,
        /// The line, from 1.
        line: u32,
        /// The column in characters, from 1.
        column: u32,
    },
    /// The specification does not decide the contents of the variable; the reason.
    Undecided(&'static str),
    /// The module has no variable of this name with storage in `.global` or `.const`.
    NoSuchVariable(String),
}

impl fmt::Display for NoAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoAnswer::NotPtx(error) => write!(f, "this is no PTX: {error}"),
            NoAnswer::Refused { class, clause, line, column } => {
                write!(f, "{line}:{column}: {} ({clause})", class.summary())
            }
            NoAnswer::Undecided(reason) => write!(f, "the specification does not decide it: {reason}"),
            NoAnswer::NoSuchVariable(name) => {
                write!(f, "no variable `{name}` with storage in .global or .const")
            }
        }
    }
}

impl std::error::Error for NoAnswer {}

/// Returns the initial contents that the specification requires of a variable of a PTX module, under the default
/// interpretations.
///
/// ```
/// use ptxsmith_oracle::hold;
///
/// let ptx = ".version 7.8\n.target sm_80\n.global .u32 g;\n.global .u64 p[2] = {7, generic(g) + 4};\n";
/// let held = hold(ptx, "p")?;
/// assert_eq!(held.bytes, [7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
/// let address = &held.addresses[0];
/// assert_eq!((address.offset, &*address.symbol, address.addend, address.generic), (8, "g", 4, true));
/// # Ok::<(), ptxsmith_oracle::NoAnswer>(())
/// ```
///
/// # Errors
/// If the source does not parse, the specification rejects the module or does not decide the contents, or there is no
/// such variable.
pub fn hold(ptx: &str, name: &str) -> Result<VariableContents, NoAnswer> {
    let module = parse(ptx).map_err(NoAnswer::NotPtx)?;
    match expect(&module, &Rules::default()) {
        Expectation::Refused { refusal, .. } => {
            let (line, column) = Lines::new(ptx).place(refusal.span.start);
            Err(NoAnswer::Refused { class: refusal.class, clause: refusal.clause, line, column })
        }
        Expectation::Unmodelled { reason, .. } => Err(NoAnswer::Undecided(reason)),
        Expectation::Accepted { variables, unmodelled, .. } => {
            let mut variables = variables.into_iter();
            if let Some(variable) = variables.find(|variable| variable.name == name && variable.has_content())
            {
                return Ok(VariableContents {
                    space: variable.space,
                    align: variable.align,
                    bytes: variable.bytes,
                    addresses: variable.addresses,
                    clauses: variable.trace.clauses,
                });
            }
            Err(match unmodelled.iter().find(|undecided| undecided.part == name) {
                Some(undecided) => NoAnswer::Undecided(undecided.reason),
                None => NoAnswer::NoSuchVariable(name.to_owned()),
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(declarations: &str) -> Result<VariableContents, NoAnswer> {
        hold(&format!(".version 7.8\n.target sm_80\n{declarations}\n"), "x")
    }

    #[test]
    fn a_variable_is_its_bytes_and_the_clauses_that_say_so() {
        let held = asked(".const .align 8 .s16 x[3] = {1, -2};").unwrap();
        assert_eq!(
            (held.space, held.align, &held.bytes[..]),
            (StateSpace::Const, 8, &[1, 0, 254, 255, 0, 0][..])
        );
        assert!(held.clauses.contains(Clause::IncompleteOuter));
    }

    #[test]
    fn reasons_for_no_answer_are_distinguished() {
        let refused = asked(".global .s32 x = 1.0;").unwrap_err();
        assert!(matches!(refused, NoAnswer::Refused { line: 3, column: 18, .. }), "{refused:?}");
        assert!(refused.to_string().starts_with("3:18: "), "{refused}");
        assert!(matches!(asked("{"), Err(NoAnswer::NotPtx(_))));
        assert_eq!(asked(".global .s32 y;"), Err(NoAnswer::NoSuchVariable("x".into())));
        assert!(matches!(asked(".global .s32 x = 1;\n.global .s32 x = 2;"), Err(NoAnswer::Undecided(_))));
    }
}
