//! temporary
use arbitrary::Unstructured;
use ptxsmith_gen::{Config, Coverage, Generator, Odds, stream};
fn main() {
    let generator = Generator::new(Config { max_nodes: 19, early_leaf: Odds::NEVER, ..Config::default() });
    let mut coverage = Coverage::new();
    let mut bytes = [0; 192];
    let (mut nodes, mut used, mut numbers) = (0, 0, 0);
    let n = std::env::args().nth(1).map_or(3_000_000, |n| n.parse().unwrap());
    for i in 0..n {
        stream::case_bytes(1, i, &mut bytes);
        let mut u = Unstructured::new(&bytes);
        let e = generator.integer(&mut u, &mut coverage).unwrap();
        nodes += e.nodes().len();
        used += 192 - u.len();
        numbers += e.nodes().iter().filter(|n| matches!(n.kind, ptxsmith_syntax::NodeKind::Number(_))).count();
    }
    println!("{} {} {}", nodes as f64 / n as f64, used as f64 / n as f64, numbers as f64 / n as f64);
}
