//! No text makes the parser panic, overflow the stack, or take more than linear time.

mod common;

use common::{Random, samples};
use ptxsmith_syntax::{
    Canonical, Gap, MAX_NESTING, ParseErrorKind, Statement, parse, parse_expr, print, print_expr,
};

const MILLION: usize = 1_000_000;

/// Why the first statement of the text that is not understood is none.
fn kind(text: &str) -> ParseErrorKind {
    let module = parse(text).unwrap();
    let error = &module.unread().next().expect("something is not understood").error;
    assert!(error.render("a.ptx", text).len() < 1000);
    error.kind.clone()
}

#[test]
fn nesting_a_million_deep_is_an_error() {
    let global = |text: String| format!(".global .s32 x = {text};");
    for opening in ["(", "-", "!", "(.s64)", "generic(", "0xff(", "1 ? 2 : ", "1 ? ", "{", "- (", "1 + (2 * "]
    {
        let closing = if opening == "{" { "}" } else { "" };
        let value = format!("{}{}", opening.repeat(MILLION), closing.repeat(MILLION));
        assert_eq!(kind(&global(value)), ParseErrorKind::TooDeep, "{opening}");
    }
    let blocks = |open: &str| format!(".func f () {} {}", open.repeat(MILLION), "}".repeat(MILLION));
    assert_eq!(kind(&blocks("{")), ParseErrorKind::TooDeep);
    assert_eq!(kind(&blocks("{ a: ")), ParseErrorKind::TooDeep);
    for unclosed in ["{", "{ a: ", "{ } {"] {
        parse(&format!(".func f () {}", unclosed.repeat(MILLION))).unwrap_err();
    }
}

#[test]
fn the_limit_counts_every_kind_of_nesting_and_is_exact() {
    let text = |blocks: usize, braces: usize, parens: usize| {
        let (open, close) = ("{".repeat(blocks), "}".repeat(blocks));
        let expr = format!("{}1{}", "(".repeat(parens), ")".repeat(parens));
        format!(".func f () {open} .reg .s32 x = {}{expr}{}; {close}", "{".repeat(braces), "}".repeat(braces))
    };
    for (blocks, braces, parens) in [(100, 100, 56), (1, 1, 254), (254, 1, 1), (1, 254, 1)] {
        let text = text(blocks, braces, parens);
        let module = parse(&text).unwrap();
        assert_eq!(parse(&print(&module)).as_ref(), Ok(&module));
    }
    assert_eq!(kind(&text(100, 100, 57)), ParseErrorKind::TooDeep);
}

#[test]
fn levels_that_were_closed_do_not_count() {
    let many = "- (1 ? generic(2) : (.s64) 0xff(3)), ".repeat(10 * MAX_NESTING);
    parse(&format!(".global .s32 x[] = {{ {many} {{ {many} }} }}; .func f () {{ {} }}", "{ }".repeat(1000)))
        .unwrap();
}

#[test]
fn a_chain_of_a_million_terms_is_read_and_printed() {
    for (operators, more) in
        [(1, " + 1"), (2, " * 2 + 3"), (10, " || b && c | d ^ e & f == g < h >> i - j / k")]
    {
        let text = format!("1{}", more.repeat(MILLION / operators));
        let expr = parse_expr(&text).unwrap();
        let mut sink = Canonical::default();
        print_expr(&expr, &mut sink);
        assert!(sink.0 == text);
    }
}

#[test]
fn a_million_of_anything_is_read() {
    let many = |text: &str| text.repeat(MILLION);
    parse(&format!(".global .s32 x[] = {{ {} }};", many("1, "))).unwrap();
    parse(&format!(".global .s32 x{};", many("[]"))).unwrap();
    parse(&format!(".global .s32 x{};", many(", x"))).unwrap();
    parse(&format!(".global {} x;", many(".s32 "))).unwrap();
    parse(&format!(".func f () {{ {} }}", many("a:"))).unwrap();
    parse(&format!(".func f () {{ {} }}", many(";"))).unwrap();
    parse(&format!(".section .debug {{ {} {} }}", many("{"), many("}"))).unwrap();
    parse(&many("/**/")).unwrap();
    parse(&many("/*")).unwrap_err();
    parse(&many("\"\n")).unwrap_err();
    parse(&many("}")).unwrap_err();
    for unread in [".", "1e+", ".a", ";", "#\n", ".loc\n", "é", ".version\n", "{}", "("] {
        assert!(parse(&many(unread)).unwrap().unread().next().is_some(), "{unread}");
    }
}

#[test]
fn unterminated_constructs_are_errors_at_their_start() {
    let place = |text: &str| {
        let error = parse(text).unwrap_err();
        (error.kind, error.span.start)
    };
    assert_eq!(place(".file 1 \"abc"), (ParseErrorKind::UnterminatedString, 8));
    assert_eq!(place(".file 1 \"abc\n\""), (ParseErrorKind::UnterminatedString, 8));
    assert_eq!(place(".file 1 \"abc\\\""), (ParseErrorKind::UnterminatedString, 8));
    assert_eq!(place(".version 1.0 /* *"), (ParseErrorKind::UnterminatedComment, 13));
    assert_eq!(place(".version 1.0 /*/"), (ParseErrorKind::UnterminatedComment, 13));
}

#[test]
fn every_prefix_of_a_sample_is_read_or_refused() {
    for (name, text) in samples() {
        let step = text.len() / 4000 + 1;
        for end in (0..text.len()).step_by(step).filter(|&end| text.is_char_boundary(end)) {
            if let Err(error) = parse(&text[..end]) {
                assert!(error.span.end as usize <= end, "{name}");
            }
        }
    }
}

#[test]
fn mutated_samples_are_read_or_refused_and_come_back() {
    const PIECES: [&str; 24] = [
        "{", "}", "(", ")", "[", "]", ";", ",", ":", "?", "<", ">", "=", ".", "\"", "/*", "*/", "//", "%",
        "é", "\0", "0x", ".func", "-",
    ];
    let mut random = Random(7);
    let (mut read, mut refused) = (0, 0);
    for (_, text) in samples() {
        // A quarter of a debug section is as good as all of it.
        let text = &text[..text.len().min(8000)];
        for _ in 0..1000 {
            let mut bytes = text.as_bytes().to_vec();
            for _ in 0..1 + random.below(3) {
                let at = random.below(bytes.len());
                match random.below(4) {
                    0 => bytes[at] = random.next() as u8,
                    1 => drop(bytes.drain(at..(at + random.below(20)).min(bytes.len()))),
                    2 => drop(bytes.splice(at..at, PIECES[random.below(PIECES.len())].bytes())),
                    _ => {
                        let other = random.below(bytes.len());
                        bytes.swap(at, other);
                    }
                }
                if bytes.is_empty() {
                    bytes.push(b' ');
                }
            }
            let text = String::from_utf8_lossy(&bytes);
            match parse(&text) {
                Ok(module) => {
                    read += 1;
                    let printed = print(&module);
                    let again =
                        parse(&printed).unwrap_or_else(|error| panic!("{}", error.render("", &printed)));
                    assert_eq!(again, module);
                }
                Err(error) => {
                    refused += 1;
                    assert!(!error.render("a.ptx", &text).is_empty());
                    assert!(text.get(error.span.start as usize..error.span.end as usize).is_some());
                }
            }
        }
    }
    assert!(read > 500 && refused > 500, "{read} read, {refused} refused");
}

#[test]
fn the_first_kept_token_has_the_same_gap_in_every_context() {
    let module = parse(".func f () { a: wmma x, y;; }").unwrap();
    let ptxsmith_syntax::Item::Function(function) = &module.items[0] else { panic!() };
    let gaps = function.body.iter().flatten().filter_map(|s| match s {
        Statement::Tokens(tokens) => Some(tokens.iter().map(|t| t.gap).collect::<Vec<_>>()),
        _ => None,
    });
    let gaps: Vec<_> = gaps.collect();
    assert_eq!(gaps, [vec![Gap::Line, Gap::Space, Gap::Joined, Gap::Space, Gap::Joined], vec![Gap::Line]]);
}
