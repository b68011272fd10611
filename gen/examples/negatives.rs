//! Prints negative programs, a line each: `EDIT <tab> TWIN <tab> BROKEN`. `cargo run --example negatives -- COUNT`.

use ptxsmith_gen::{Config, Coverage, Generator, Header};
use ptxsmith_syntax::{Declaration, print};

fn main() {
    let count: u64 = std::env::args().nth(1).and_then(|n| n.parse().ok()).expect("usage: negatives COUNT");
    let generator = Generator::new(Config::calm());
    let line = |declaration: Declaration| {
        let text = print(&Header::default().module([declaration]));
        text.lines().skip(3).collect::<Vec<_>>().join(" ")
    };
    for index in 0..count {
        let negative = generator.negative(1, index, &mut Coverage::new());
        println!("{}\t{}\t{}", negative.edit.name, line(negative.twin), line(negative.broken));
    }
}
