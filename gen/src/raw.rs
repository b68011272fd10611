//! Raw edits: existing programs with a few tokens changed.
//!
//! The results are rarely valid PTX. A compiler may reject them but must not crash. Like every other case, an edited program
//! depends only on its seed and its index.

use ptxsmith_syntax::{BinaryOp, Gap, ParseError, ScalarType, StateSpace, Token, Tokens, UnaryOp, tokens};

use crate::{
    boundary::{DECIMALS, HUGE, INTEGERS},
    stream::Draw,
};

/// Tokens that are missing from the lists of operators, types, state spaces and numbers.
const WORDS: &str = "( ) [ ] { } , ; : ? @ = :: ! _ %p %r1 %rd1 %tid .x WARP_SZ .align .version .target .address_size .entry .func \
    .visible .extern .weak .common .v2 .v4 .ptr .unified .managed .attribute .pragma .section .loc .file .alias .callprototype \
    .branchtargets .calltargets .maxnreg .maxntid .reqntid .minnctapersm .noreturn .pred .texref .samplerref .surfref .b128 \
    .uni .wide .lo .hi .sat .rn .ftz mov ld st add sub mul mad div rem cvt cvta setp set selp bra brx call ret exit vote shfl \
    bar atom red prefetch isspacep mask generic -1 .5 1e 0x 0b2 08 0f 0d0 1U \"\" \"x\" 0f7fc00000 0dfff8000000000000";

/// The maximum number of edits in a case.
const MOST_EDITS: u64 = 6;
/// The maximum number of tokens that one edit deletes, duplicates or copies from another program.
const LONGEST_PIECE: u64 = 24;

/// Generates cases by editing a set of programs.
pub struct RawEdits {
    programs: Vec<RawProgram>,
    vocabulary: Vec<&'static str>,
}

struct RawProgram {
    tokens: Tokens,
    /// The number of tokens in the header. It is rarely edited, because an error there usually hides all others.
    header: usize,
}

impl RawEdits {
    /// Creates an editor of these programs. Empty programs are dropped.
    ///
    /// # Errors
    /// If a program cannot be split into tokens: its index in `texts`, and the error.
    pub fn new<'t>(texts: impl IntoIterator<Item = &'t str>) -> Result<RawEdits, (usize, ParseError)> {
        let mut programs = Vec::new();
        for (index, text) in texts.into_iter().enumerate() {
            let tokens = tokens(text).map_err(|error| (index, error))?;
            if !tokens.is_empty() {
                programs.push(RawProgram { header: header(&tokens), tokens });
            }
        }
        let symbols =
            BinaryOp::ALL.iter().map(|op| op.symbol()).chain(UnaryOp::ALL.iter().map(|op| op.symbol()));
        let types = ScalarType::ALL.iter().map(|ty| ty.keyword());
        let dotted = types.chain(StateSpace::ALL.iter().map(|space| space.keyword()));
        let numbers = HUGE.into_iter().chain(DECIMALS);
        let vocabulary = WORDS.split_whitespace().chain(symbols).chain(dotted).chain(numbers).collect();
        Ok(RawEdits { programs, vocabulary })
    }

    /// Whether there are no programs to edit.
    pub fn is_empty(&self) -> bool {
        self.programs.is_empty()
    }

    /// Generates the PTX source of a case.
    ///
    /// # Panics
    /// If there are no programs to edit.
    pub fn case(&self, seed: u64, index: u64) -> String {
        let mut draw = Draw::new(seed, index);
        let program = draw.pick(&self.programs);
        let mut tokens = program.tokens.clone();
        let header = if draw.below(32) == 0 { 0 } else { program.header };
        // Half of all cases have a single edit, because the cause of a failure is then clear.
        let edits = (1..MOST_EDITS).take_while(|_| draw.below(2) == 0).count() + 1;
        for _ in 0..edits {
            self.edit(&mut tokens, header, &mut draw);
        }
        written(&tokens)
    }

    fn edit(&self, tokens: &mut Tokens, header: usize, draw: &mut Draw) {
        let own = header..tokens.len();
        if own.is_empty() {
            return tokens.push(self.word(draw));
        }
        let at = draw.within(own.clone());
        let piece = at..(at + 1 + draw.below(LONGEST_PIECE) as usize).min(own.end);
        match draw.below(10) {
            0 => drop(tokens.remove(at)),
            1 => tokens.insert(at, spaced(tokens[at].clone())),
            2 => tokens.swap(at, (at + 1).min(own.end - 1)),
            3 => tokens.swap(at, draw.within(own)),
            4 => tokens[at] = Token { gap: tokens[at].gap, ..tokens[draw.within(own)].clone() },
            5 => tokens[at] = Token { gap: tokens[at].gap, ..self.word(draw) },
            6 => tokens.insert(at, self.word(draw)),
            7 => drop(tokens.drain(piece)),
            8 => {
                let again: Tokens = tokens[piece.clone()].to_vec();
                tokens.splice(piece.end..piece.end, again);
            }
            _ => {
                let other = &draw.pick(&self.programs).tokens;
                let from = draw.within(0..other.len());
                let end = (from + 1 + draw.below(LONGEST_PIECE) as usize).min(other.len());
                let replaced = at..if draw.below(2) == 0 { at } else { piece.end };
                tokens.splice(replaced, other[from..end].iter().cloned());
            }
        }
    }

    /// Draws a token from the vocabulary or, in one of four cases, an integer at a boundary.
    fn word(&self, draw: &mut Draw) -> Token {
        let text = match draw.below(4) {
            0 => draw.pick(&INTEGERS).to_string().into(),
            _ => (*draw.pick(&self.vocabulary)).into(),
        };
        Token { gap: Gap::Space, text, span: Default::default() }
    }
}

/// Returns the number of tokens in the header: `.version`, `.target` and `.address_size` with their arguments.
fn header(tokens: &Tokens) -> usize {
    let end = tokens.iter().enumerate().position(|(at, token)| {
        let begins_line = at == 0 || token.gap == Gap::Line;
        begins_line && !matches!(&*token.text, ".version" | ".target" | ".address_size")
    });
    end.unwrap_or(tokens.len())
}

fn spaced(token: Token) -> Token {
    Token { gap: if token.gap == Gap::Joined { Gap::Space } else { token.gap }, ..token }
}

/// Joins the tokens into a source text, with the white space that preceded each.
fn written(tokens: &Tokens) -> String {
    let mut text = String::new();
    for token in tokens {
        text.push_str(match token.gap {
            _ if text.is_empty() => "",
            Gap::Joined => "",
            Gap::Space => " ",
            Gap::Line => "\n",
        });
        text.push_str(&token.text);
    }
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = ".version 7.8\n.target sm_80\n.address_size 64\n.global .u32 a[2] = {1, 2};\n";

    #[test]
    fn a_case_is_made_from_seed_and_index_alone_and_most_keep_the_header() {
        let edits = RawEdits::new([TEXT, ".version 7.8\n.target sm_80\n.const .f64 b = 0.5;\n"]).unwrap();
        let cases: Vec<String> = (0..1000).map(|index| edits.case(7, index)).collect();
        assert_eq!(cases[500], edits.case(7, 500));
        let kept = cases.iter().filter(|text| text.starts_with(".version 7.8\n.target sm_80\n")).count();
        assert!((850..1000).contains(&kept), "{kept}");
        let distinct: std::collections::BTreeSet<&String> = cases.iter().collect();
        assert!(distinct.len() > 700, "{}", distinct.len());
    }

    #[test]
    fn tokens_are_written_as_they_stood() {
        assert_eq!(written(&tokens(TEXT).unwrap()), TEXT);
    }

    #[test]
    fn a_source_that_does_not_lex_is_an_error_with_its_index() {
        let (at, error) = RawEdits::new([TEXT, "/* no end"]).err().unwrap();
        assert_eq!((at, error.to_string().is_empty()), (1, false));
    }
}
