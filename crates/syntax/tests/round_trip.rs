//! What is printed is what was parsed, whatever stands between the tokens.

mod common;

use common::{Random, samples};
use ptxsmith_syntax::{
    Break, Gap, Module, Sink, Tokens, VisitMut, parse, parse_expr, print, print_expr, print_to,
};

#[test]
fn every_sample_comes_back_from_its_canonical_text() {
    for (name, text) in samples() {
        let module = parse(&text).unwrap_or_else(|error| panic!("{}", error.render(&name, &text)));
        assert!(module.items.len() > 4, "{name}");
        let printed = print(&module);
        let again = parse(&printed).unwrap_or_else(|error| panic!("{}", error.render(&name, &printed)));
        assert_eq!(module, again, "{name}");
        assert_eq!(print(&again), printed, "{name}");
    }
}

#[test]
fn canonical_text_is_printed_as_it_was() {
    let (_, text) = samples().into_iter().find(|(name, _)| name == "forms.ptx").unwrap();
    let printed = print(&parse(&text).unwrap());
    for (is, was) in printed.lines().zip(text.lines()) {
        assert_eq!(is, was);
    }
    assert_eq!(printed.len(), text.len());
}

/// Puts something else at each place where something may stand.
struct Hostile {
    text: String,
    random: Random,
}

impl Sink for Hostile {
    fn token(&mut self, before: Break, text: &str) {
        const BLANKS: [&str; 8] =
            [" ", "\t", "\n", "\r\n", "// }\"\n", "/* ; */", "/**/", " \n/*\n*/ // /*\n "];
        match before {
            Break::Glued => {}
            Break::Joined if self.random.below(2) == 0 => {}
            Break::Joined => self.text.push_str(BLANKS[self.random.below(8)]),
            Break::Space | Break::Line(_) => {
                self.text.push_str(BLANKS[self.random.below(4)]);
                self.text.push_str(BLANKS[self.random.below(8)]);
            }
        }
        self.text.push_str(text);
    }
}

/// The module with every gap between kept tokens that is not nothing made the same.
pub fn without_gaps(mut module: Module) -> Module {
    struct Forget;
    impl VisitMut<'_> for Forget {
        fn tokens(&mut self, tokens: &mut Tokens) {
            for token in tokens.iter_mut().filter(|token| token.gap == Gap::Line) {
                token.gap = Gap::Space;
            }
        }
    }
    Forget.module(&mut module);
    module
}

#[test]
fn white_space_and_comments_may_stand_wherever_the_printer_says() {
    for seed in 0..50 {
        for (name, text) in samples() {
            let module = parse(&text).unwrap();
            let mut sink = Hostile { text: String::new(), random: Random(seed) };
            print_to(&module, &mut sink);
            let again =
                parse(&sink.text).unwrap_or_else(|error| panic!("{}", error.render(&name, &sink.text)));
            assert_eq!(without_gaps(module), without_gaps(again), "{name}, seed {seed}");
        }
    }
}

/// Writes tokens with the least between them.
struct Tight(String);

impl Sink for Tight {
    fn token(&mut self, before: Break, text: &str) {
        if !matches!(before, Break::Joined | Break::Glued) {
            self.0.push(' ');
        }
        self.0.push_str(text);
    }
}

#[test]
fn random_expressions_come_back() {
    const TOKENS: [&str; 38] = [
        "1", "0x1U", ".5", "WARP_SZ", "%n", "generic", "(", "(", ")", ")", "(", ")", "+", "-", "!", "~",
        "(.s64)", "(.u64)", "*", "/", "%", ">>", "<<", "<", ">", "<=", ">=", "==", "!=", "&", "^", "|", "&&",
        "||", "?", ":", "?", ":",
    ];
    let mut random = Random(1);
    let mut read = 0;
    for _ in 0..300_000 {
        let mut text = String::new();
        for _ in 0..1 + random.below(10) {
            text.push_str(TOKENS[random.below(TOKENS.len())]);
            text.push(' ');
        }
        let Ok(expr) = parse_expr(&text) else { continue };
        read += 1;
        let mut tight = Tight(String::new());
        print_expr(&expr, &mut tight);
        assert_eq!(parse_expr(&tight.0).as_ref(), Ok(&expr), "{text} became {}", tight.0);
        let words = |text: &str| text.split_ascii_whitespace().collect::<String>();
        assert_eq!(words(&tight.0), words(&text));
    }
    assert!(read > 5_000, "only {read} were expressions");
}
