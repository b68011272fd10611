//! The program that is reduced, and the order of programs by size.

use std::cmp::Ordering;

use ptxsmith_syntax::{
    Break, Declaration, Item, Module, ParseError, ScalarType, Sink, StateSpace, parse, print, print_to,
};

use crate::tokens;

/// A program: its text and, if it is reduced as PTX, its syntax tree.
#[derive(Clone, Debug, PartialEq)]
pub struct Program {
    text: String,
    module: Option<Module>,
    size: ProgramSize,
}

/// The size of a program. Compares the number of tokens after the header, then the strangeness of the
/// declarations, then the number of bytes, then the text.
///
/// The header, which every program needs, consists of `.version`, `.target` and `.address_size`. It counts
/// only in bytes. Texts are compared by character, with digits before letters and lower case before upper
/// case. Different texts are never equal, and no infinite sequence of ever smaller programs exists, so a
/// search terminates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramSize {
    /// The number of tokens after the header.
    pub tokens: usize,
    /// The distance of state spaces and types of variables from `.global .s32`.
    pub strange: usize,
    /// The number of bytes of the text.
    pub bytes: usize,
}

impl Program {
    /// Creates a program that is reduced as PTX.
    ///
    /// The text is normalized: white space and comments are replaced by the printer's.
    ///
    /// # Errors
    /// If the text is not a PTX module, or contains a statement that the parser does not understand.
    /// [`Program::from_text`] accepts any text.
    pub fn parse(text: &str) -> Result<Program, ParseError> {
        let module = parse(text)?;
        if let Some(unread) = module.unread().next() {
            return Err(unread.error.clone());
        }
        let text = print(&module);
        // Parsed again, so that spans refer to the normalized text.
        let module = parse(&text)?;
        Ok(Program::new(text, module))
    }

    /// Creates a program that is reduced as text, whether or not it is PTX. All tokens count, because no
    /// header is recognized.
    pub fn from_text(text: impl Into<String>) -> Program {
        let text = text.into();
        let size = ProgramSize { tokens: tokens::count(&text), strange: 0, bytes: text.len() };
        Program { text, module: None, size }
    }

    /// Creates the program of a syntax tree; `None` if its text would be parsed as a different tree.
    pub fn from_module(module: &Module) -> Option<Program> {
        let text = print(module);
        let parsed = parse(&text).ok()?;
        (parsed == *module).then(|| Program::new(text, parsed))
    }

    fn new(text: String, module: Module) -> Program {
        let mut count = TokenCount(0);
        for item in &module.items {
            if !item.is_header() {
                print_to(&Module { items: vec![item.clone()] }, &mut count);
            }
        }
        let strange = module.items.iter().map(|item| match item {
            Item::Variables(declaration) => strangeness(declaration),
            _ => 0,
        });
        let size = ProgramSize { tokens: count.0, strange: strange.sum(), bytes: text.len() };
        Program { text, module: Some(module), size }
    }

    /// Returns the text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the syntax tree, with spans in the text; `None` for a program that is reduced as text.
    pub fn module(&self) -> Option<&Module> {
        self.module.as_ref()
    }

    /// Returns the size.
    pub fn size(&self) -> &ProgramSize {
        &self.size
    }

    /// Returns true if the program is smaller than another, in the order that [`ProgramSize`] describes.
    pub fn is_smaller_than(&self, other: &Program) -> bool {
        self.compare(other) == Ordering::Less
    }

    /// Compares two programs in the order that [`ProgramSize`] describes.
    pub fn compare(&self, other: &Program) -> Ordering {
        self.size
            .tokens
            .cmp(&other.size.tokens)
            .then(self.size.strange.cmp(&other.size.strange))
            .then(self.size.bytes.cmp(&other.size.bytes))
            .then_with(|| ranks(&self.text).cmp(ranks(&other.text)))
    }
}

/// Maps the characters of a text to their ranks: the order of ASCII, but lower case before upper case.
fn ranks(text: &str) -> impl Iterator<Item = u8> {
    text.bytes().map(|byte| if byte.is_ascii_alphabetic() { byte ^ 0x20 } else { byte })
}

/// The most familiar scalar types, in order. All others rank after them.
const PLAINEST: [ScalarType; 8] = {
    use ScalarType::{B32, B64, F32, F64, S32, S64, U32, U64};
    [S32, U32, B32, S64, U64, B64, F32, F64]
};

/// Returns the distance of a declaration from `.global .s32`.
fn strangeness(declaration: &Declaration) -> usize {
    let space = declaration.space().map_or(0, |space| usize::from(space != StateSpace::Global));
    space + declaration.scalar_type().map_or(0, rank_of_type)
}

/// Returns the place of a type among [`PLAINEST`]; their number for all others.
pub(crate) fn rank_of_type(ty: ScalarType) -> usize {
    PLAINEST.iter().position(|plain| *plain == ty).unwrap_or(PLAINEST.len())
}

/// Counts the tokens that are printed.
struct TokenCount(usize);

impl Sink for TokenCount {
    fn token(&mut self, _: Break, _: &str) {
        self.0 += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program(text: &str) -> Program {
        Program::parse(&format!(".version 7.8\n.target sm_80\n{text}\n")).unwrap()
    }

    #[test]
    fn tokens_count_first_then_bytes_then_characters() {
        let ascending = [
            ".global .s32 a;",
            ".global .s32 aa;",
            ".global .u32 a;",
            ".global .b8 a;",
            ".global .b8 b;",
            ".global .b8 B;",
            ".global .b8 aa;",
            ".const .b8 a;",
            ".global .s32 a = 0;",
            ".global .b8 a = 0;",
            ".global .b8 a = 1;",
            ".global .b8 a = 10;",
            ".global .b8 a = +1;",
        ];
        for (nth, smaller) in ascending.iter().enumerate() {
            for larger in &ascending[nth + 1..] {
                let (smaller, larger) = (program(smaller), program(larger));
                assert!(smaller.is_smaller_than(&larger) && !larger.is_smaller_than(&smaller), "{larger:?}");
            }
            assert!(!program(smaller).is_smaller_than(&program(smaller)));
        }
    }

    #[test]
    fn the_header_counts_in_bytes_only() {
        let program =
            Program::parse(".version 7.8 // c\n.target sm_80, debug\n.address_size 64\n.global.b8 a;")
                .unwrap();
        assert_eq!(
            *program.size(),
            ProgramSize { tokens: 4, strange: PLAINEST.len(), bytes: program.text().len() }
        );
        assert_eq!(program.text(), ".version 7.8\n.target sm_80, debug\n.address_size 64\n.global .b8 a;\n");
    }

    #[test]
    fn a_tree_that_reads_back_as_another_is_no_program() {
        use ptxsmith_syntax::{Item, Name};
        let mut module = program(".global .b8 a;").module().unwrap().clone();
        assert!(Program::from_module(&module).is_some());
        module.items[0] = Item::Version(Name::new("7.8 .target sm_90"));
        assert!(Program::from_module(&module).is_none());
    }
}
