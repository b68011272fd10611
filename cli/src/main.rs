//! ptxsmith.

fn main() {}
