//! Prints cases, one module: `cargo run --example show -- FOCUS SEED COUNT`, or, with `exhaustive` for the focus, every
//! case of the enumeration whose depth is the seed, leaving out all but one in COUNT.

use ptxsmith_gen::{Coverage, Enumeration, Focus, Generator, Header};

fn main() {
    let mut args = std::env::args().skip(1);
    let mut next =
        |what| args.next().unwrap_or_else(|| panic!("usage: show FOCUS SEED COUNT: {what} is missing"));
    let focus = next("FOCUS");
    let seed: u64 = next("SEED").parse().expect("SEED is a number");
    let count: u64 = next("COUNT").parse().expect("COUNT is a number");
    if focus == "exhaustive" {
        let all = Enumeration::new(seed as u32);
        let declarations = (0..all.count()).step_by(count as usize).filter_map(|i| all.case(i));
        let declarations = declarations.map(|case| case.declaration(&format!("c{}_", case.id.index)));
        print!("{}", ptxsmith_syntax::print(&Header::default().module(declarations)));
        eprintln!("{} cases", all.count());
        return;
    }
    let focus = Focus::from_name(&focus).expect("FOCUS is exhaustive, expressions, initializers or mixed");
    let generator = Generator::default();
    let mut coverage = Coverage::new();
    let declarations =
        (0..count).map(|i| generator.case(focus, seed, i, &mut coverage).declaration(&format!("c{i}_")));
    print!("{}", ptxsmith_syntax::print(&Header::default().module(declarations)));
    let ((productions, all), (pairs, feasible)) = (coverage.productions(), coverage.pairs());
    eprintln!("{productions} of {all} productions, {pairs} of {feasible} pairs");
}
