//! Rebuilds when a known deviation changes, because their files are compiled in. `deviations` is a link to
//! their folder in the corpus.

fn main() {
    println!("cargo:rerun-if-changed=../../corpus/deviations/emitted");
}
