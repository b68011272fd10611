//! Parses PTX into a syntax tree that keeps every spelling, and prints, visits and renames it.
//!
//! The tree carries no semantics: `08` is a number and `.align 3` an alignment, whether or not the specification allows
//! them. Comments and white space are discarded, except that statements kept as tokens record the gaps between tokens.
//!
//! ```
//! let module = ptxsmith_syntax::parse(".version 7.8\n.target sm_80\n.global .s32 x[2] = {0x1U, -(2)};\n").unwrap();
//! assert_eq!(ptxsmith_syntax::parse(&ptxsmith_syntax::print(&module)).unwrap(), module);
//! ```

/// The examples of the package's README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct SyntaxReadme;

mod assemble;
mod error;
mod every;
mod expr;
mod header;
mod instruction;
mod lexer;
mod literal;
mod names;
mod ops;
mod parser;
mod printer;
mod rename;
mod spacing;
mod span;
mod tree;
mod types;
mod visit;

pub use assemble::{Assemble, PoolConstant, TreeBuilder};
pub use error::{MAX_NESTING, ParseError, ParseErrorKind};
pub use expr::{Builder, Expr, Node, NodeId, NodeKind};
pub use header::{Header, header_lines};
pub use instruction::{BranchTargets, Guard, Instruction, Operand};
pub use literal::{Number, Radix, read_number};
pub use names::{
    Candidate, NameLookup, Names, declared, holders_of_addresses, needs_relocatable_form, numbered,
};
pub use ops::{BinaryOp, Cast, UnaryOp, precedence};
pub use parser::{each_token, parse, parse_declaration, parse_expr, tokens};
pub use printer::{Break, Canonical, Sink, print, print_expr, print_to};
pub use rename::{prefixed, rename, with_prefix, without_prefix};
pub use spacing::Spacing;
pub use span::{Lines, Name, Span};
pub use tree::{
    Attribute, Declaration, Declarator, Function, FunctionKind, Gap, Initializer, InitializerList, Item,
    Module, Property, Specifier, Statement, Token, Tokens, Unread,
};
pub use types::{Linkage, OpaqueType, Opcode, ScalarType, StateSpace, TypeKind, VectorLength};
pub use visit::{Role, Visit, VisitMut};

/// A short piece of source text: a name, a number or a token. Strings of up to 24 bytes are stored inline.
pub type Text = compact_str::CompactString;
