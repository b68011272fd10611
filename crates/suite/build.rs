//! Rebuilds the package when a case of the corpus changes, because the corpus is compiled in. `corpus` is a
//! symbolic link, so that the corpus is inside the package's directory when the package is published.

fn main() {
    println!("cargo:rerun-if-changed=../../corpus");
}
