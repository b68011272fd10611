//! The files of the known faults are compiled in. `deviations` is a link to those of the corpus.

fn main() {
    println!("cargo:rerun-if-changed=../../corpus/deviations/emitted");
}
