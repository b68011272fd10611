//! The ways in which a program can become smaller.
//!
//! A [`Pass`] is a list of edits, in the order in which they are tried; an edit makes a candidate of a program or says
//! that there is none. Neither asks anything. Candidates need not be smaller, nor valid: the search leaves out those
//! that are not smaller, and the question those that are not wanted.

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

/// Makes a candidate of a program; `None` where there is none.
pub type Edit = Box<dyn Fn(&Program) -> Option<Program>>;

/// One way in which programs can become smaller.
pub struct Pass {
    /// What it does, in a word or two.
    pub name: &'static str,
    /// The edits of a program, in the order in which they are tried.
    pub edits: fn(&Program) -> Vec<Edit>,
}

/// The passes for programs that are reduced as PTX, biggest cuts first.
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

/// The passes for a program.
pub fn of(program: &Program) -> &'static [Pass] {
    if program.module().is_some() { TREE } else { TEXT }
}

/// Every program that one edit makes of this one and that is smaller. The result of a search that came to its end has
/// none that answers yes, but for those that mention a name which is no longer declared.
pub fn neighbours(program: &Program) -> impl Iterator<Item = Program> {
    let edits = of(program).iter().flat_map(|pass| (pass.edits)(program));
    edits.filter_map(|edit| edit(program)).filter(|candidate| candidate.is_smaller_than(program))
}

/// An edit of a tree: the function changes the tree, and says whether there was anything to change.
fn edit(change: impl Fn(&mut Module) -> Option<()> + 'static) -> Edit {
    Box::new(move |program| {
        let mut module = program.module()?.clone();
        change(&mut module)?;
        Program::of(&module)
    })
}
