//! The ways in which a program can be made smaller.
//!
//! A [`Pass`] is a list of edits, in the order in which they are tried. An edit creates a candidate from a
//! program, or returns `None`. Passes never ask the question. Candidates need not be smaller or valid: the
//! search skips candidates that are not smaller, and the question rejects unwanted ones.

mod declarations;
mod expressions;
mod functions;
mod initializers;
mod instructions;
mod items;
mod literals;
mod renaming;
mod text;
mod tree;

use ptxsmith_syntax::Module;

use crate::program::Program;

/// Creates a candidate from a program, or returns `None` if there is nothing to change.
pub type Edit = Box<dyn Fn(&Program) -> Option<Program>>;

/// One way in which programs can be made smaller.
pub struct Pass {
    /// A short name of the pass, for progress messages.
    pub name: &'static str,
    /// Returns the edits for a program, in the order in which they are tried.
    pub edits: fn(&Program) -> Vec<Edit>,
}

/// The passes for programs that are reduced as PTX, largest cuts first.
pub const TREE: &[Pass] = &[
    Pass { name: "statements", edits: items::edits },
    Pass { name: "functions", edits: functions::edits },
    Pass { name: "instructions", edits: instructions::parts },
    Pass { name: "declarators", edits: declarations::declarators },
    Pass { name: "initializers", edits: initializers::edits },
    Pass { name: "specifiers", edits: declarations::specifiers },
    Pass { name: "symbols", edits: renaming::symbols },
    Pass { name: "operands", edits: expressions::operands },
    Pass { name: "wider operands", edits: expressions::wider_operands },
    Pass { name: "constants", edits: expressions::constants },
    Pass { name: "operators", edits: expressions::operators },
    Pass { name: "literals", edits: expressions::literals },
    Pass { name: "types", edits: declarations::types },
    Pass { name: "names", edits: renaming::edits },
    Pass { name: "names in functions", edits: instructions::names },
];

/// The passes for programs that are reduced as text.
pub const TEXT: &[Pass] = &[
    Pass { name: "lines", edits: text::lines },
    Pass { name: "tokens", edits: text::tokens },
    Pass { name: "spaces", edits: text::spaces },
    Pass { name: "characters", edits: text::characters },
    Pass { name: "replacements", edits: text::replacements },
];

/// Returns the passes for a program.
pub fn passes_for(program: &Program) -> &'static [Pass] {
    if program.module().is_some() { TREE } else { TEXT }
}

/// Returns every smaller program that one edit creates. After a complete search, none of them answers yes,
/// except candidates that use a name which is no longer declared.
pub fn neighbours(program: &Program) -> impl Iterator<Item = Program> {
    passes_for(program)
        .iter()
        .flat_map(|pass| (pass.edits)(program))
        .filter_map(|edit| edit(program))
        .filter(|candidate| candidate.is_smaller_than(program))
}

/// Creates an edit of the syntax tree. The function changes the tree, or returns `None` if there is nothing
/// to change.
fn edit(change: impl Fn(&mut Module) -> Option<()> + 'static) -> Edit {
    Box::new(move |program| {
        let mut module = program.module()?.clone();
        change(&mut module)?;
        Program::from_module(&module)
    })
}
