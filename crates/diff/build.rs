//! The files of the known deviations are compiled in. `deviations` is a link to those of the corpus, which a
//! package follows: what it needs must be in its own folder.

fn main() {
    println!("cargo:rerun-if-changed=../../corpus/deviations");
}
