//! Prints cases, one module: `cargo run --example show -- FOCUS SEED COUNT`.

use ptxsmith_gen::{Coverage, Focus, Generator, Header};

fn main() {
    let mut args = std::env::args().skip(1);
    let mut next =
        |what| args.next().unwrap_or_else(|| panic!("usage: show FOCUS SEED COUNT: {what} is missing"));
    let focus = Focus::from_name(&next("FOCUS")).expect("FOCUS is expressions, initializers or mixed");
    let seed: u64 = next("SEED").parse().expect("SEED is a number");
    let count: u64 = next("COUNT").parse().expect("COUNT is a number");
    let generator = Generator::default();
    let mut coverage = Coverage::new();
    let declarations =
        (0..count).map(|i| generator.case(focus, seed, i, &mut coverage).declaration(&format!("c{i}_")));
    print!("{}", ptxsmith_syntax::print(&Header::default().module(declarations)));
    let ((productions, all), (pairs, feasible)) = (coverage.productions(), coverage.pairs());
    eprintln!("{productions} of {all} productions, {pairs} of {feasible} pairs");
}
