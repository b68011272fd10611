#![allow(missing_docs)]
use ptxsmith_syntax::*;
use std::time::Instant;
fn main() {
    println!(
        "node {} token {} initializer {}",
        size_of::<Node>(),
        size_of::<Token>(),
        size_of::<Initializer>()
    );
    for more in [" + 1", " * 2 + 3", " || b && c | d ^ e & f == g < h >> i - j / k"] {
        let text = format!("1{}", more.repeat(100_000));
        let t = Instant::now();
        let e = parse_expr(&text).unwrap();
        println!("{} nodes {:?}", e.nodes().len(), t.elapsed());
        let t = Instant::now();
        let mut s = Canonical::default();
        print_expr(&e, &mut s);
        println!("print {:?}", t.elapsed());
    }
    let shapes = [
        "(1 + 2) * -3 - (4 >> 5) % 6",
        "a ? ~1 : 0x7fU",
        "(.s64)-1 + 0xff00 & 077 | 5 ^ 12345678",
        "1 + 2 * 3 - 4 / 5 << 6",
    ];
    let exprs: Vec<Expr> = (0..20_000).map(|i| parse_expr(shapes[i % shapes.len()]).unwrap()).collect();
    let nodes: usize = exprs.iter().map(|e| e.nodes().len()).sum();
    for _ in 0..8 {
        let t = Instant::now();
        let mut s = Canonical(String::with_capacity(16 << 20));
        for e in &exprs {
            print_expr(e, &mut s);
            s.0.push('\n');
        }
        let d = t.elapsed().as_secs_f64();
        println!(
            "print_expr: {:.2} M/s of {:.1} nodes, {:.0} MB/s",
            exprs.len() as f64 / d / 1e6,
            nodes as f64 / exprs.len() as f64,
            s.0.len() as f64 / d / 1e6
        );
        let t = Instant::now();
        let n: usize = s.0.lines().map(|l| parse_expr(l).unwrap().nodes().len()).sum();
        let d = t.elapsed().as_secs_f64();
        println!("parse_expr: {:.2} M/s, {n}", exprs.len() as f64 / d / 1e6);
        let init = Initializer::list(exprs.iter().cloned().map(Initializer::Value).collect());
        let m = Module {
            items: vec![Item::Variables(Declaration {
                specifiers: vec![
                    Specifier::Space(StateSpace::Global, None),
                    Specifier::Type(ScalarType::S64),
                ],
                declarators: vec![Declarator {
                    name: Name::new("x"),
                    count: None,
                    dimensions: vec![None],
                    initializer: Some(init),
                }],
                span: Span::NONE,
            })],
        };
        let t = Instant::now();
        let text = print(&m);
        let d = t.elapsed().as_secs_f64();
        println!("print module: {:.2} M/s", exprs.len() as f64 / d / 1e6);
        let t = Instant::now();
        let again = parse(&text).unwrap();
        let d = t.elapsed().as_secs_f64();
        println!(
            "parse module: {:.2} M/s, {:.0} MB/s",
            exprs.len() as f64 / d / 1e6,
            text.len() as f64 / d / 1e6
        );
        assert!(again == m);
    }
    for f in std::fs::read_dir("tests/samples").unwrap() {
        let p = f.unwrap().path();
        let text = std::fs::read_to_string(&p).unwrap();
        if text.contains(".alias") {
            continue;
        }
        let rounds = 20_000_000 / text.len();
        let t = Instant::now();
        for _ in 0..rounds {
            std::hint::black_box(parse(&text).unwrap());
        }
        println!(
            "{}: parse {:.0} MB/s",
            p.display(),
            (rounds * text.len()) as f64 / t.elapsed().as_secs_f64() / 1e6
        );
    }
}
#[test]
fn t() {}
