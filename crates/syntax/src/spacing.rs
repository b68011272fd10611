//! White space and comments in unusual places.
//!
//! PTX separates tokens by white space and by comments as C does, so spacing does not change the meaning of a module.
//! [`Spacing::Odd`] prints the tokens of the canonical text with other separators.

use crate::{
    expr::Expr,
    printer::{Break, Canonical, Sink, print, print_expr, print_to},
    tree::Module,
};

/// The white space and comments between printed tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Spacing {
    /// The spacing of [`print()`].
    #[default]
    Canonical,
    /// Spaces, tabs, line ends and comments of every form, derived from this seed alone.
    Odd(u64),
}

impl Spacing {
    /// Returns the text of a module, ending in a line break.
    pub fn print(self, module: &Module) -> String {
        match self {
            Spacing::Canonical => print(module),
            Spacing::Odd(seed) => {
                let mut sink = UnusualSpacing { text: String::new(), state: seed };
                print_to(module, &mut sink);
                sink.text.push('\n');
                sink.text
            }
        }
    }

    /// Adds the text of an expression, which begins with its first token and ends with its last.
    pub fn print_expr(self, expr: &Expr, text: &mut Canonical) {
        match self {
            Spacing::Canonical => print_expr(expr, text),
            Spacing::Odd(seed) => {
                let mut sink = UnusualSpacing { text: String::new(), state: seed };
                print_expr(expr, &mut sink);
                text.0.push_str(&sink.text);
            }
        }
    }
}

/// Separators without a comment.
const BLANKS: [&str; 6] = [" ", "  ", "\t", "\n", "\r\n", " \t \n\n"];

/// Comments: empty ones, with what would begin or end one of the other form, with what would end a statement.
const COMMENTS: [&str; 10] = [
    "/**/",
    "/***/",
    "/* ; */",
    "/* } // */",
    "/* \" */",
    "/*\n*/",
    "// /*\n",
    "//\n",
    "// ; */ }\n",
    "/* /* */",
];

struct UnusualSpacing {
    text: String,
    state: u64,
}

impl UnusualSpacing {
    /// A number below `bound`, from the high bits of Knuth's linear congruential generator.
    fn below(&mut self, bound: u64) -> usize {
        self.state =
            self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (((self.state >> 33) * bound) >> 31) as usize
    }

    fn blank(&mut self) {
        let blank = self.below(BLANKS.len() as u64);
        self.text.push_str(BLANKS[blank]);
    }

    fn comments(&mut self) {
        for _ in 0..self.below(3) {
            let comment = self.below(COMMENTS.len() as u64);
            self.text.push_str(COMMENTS[comment]);
            if self.below(3) == 0 {
                self.blank();
            }
        }
    }
}

impl Sink for UnusualSpacing {
    fn token(&mut self, before: Break, text: &str) {
        match before {
            // The caller prints the space before the first token.
            _ if self.text.is_empty() => {}
            Break::Glued => {}
            // The specification at hand does not say whether comments may precede the version number.
            _ if self.text.ends_with(".version") => self.text.push(' '),
            Break::Joined => match self.below(4) {
                0 => self.blank(),
                // After a `/`, a comment would be read differently.
                1 if !self.text.ends_with('/') => self.comments(),
                _ => {}
            },
            Break::Space | Break::Line(_) => {
                self.blank();
                self.comments();
            }
        }
        self.text.push_str(text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse;

    #[test]
    fn a_module_means_the_same_however_it_is_spaced() {
        let text = ".version 7.8\n.target sm_80\n.address_size 64\n\
            .visible .global .align 8 .v2 .f32 a[2][3] = {{{1.0, -2.5}}, {}}, b<4>;\n\
            .const .u64 c = - -5 * (.s64) ~3 % 7 ? 0xFF(generic(a) + 4) : !WARP_SZ;\n";
        let module = parse(text).unwrap();
        let mut texts = std::collections::BTreeSet::new();
        for seed in 0..500 {
            let spaced = Spacing::Odd(seed).print(&module);
            assert_eq!(parse(&spaced).unwrap(), module, "{spaced}");
            assert!(spaced.starts_with(".version 7.8"), "{spaced}");
            texts.insert(spaced);
        }
        assert!(texts.len() > 490);
    }
}
