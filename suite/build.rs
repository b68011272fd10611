//! The corpus is compiled in: a case that is added or changed means a new build.

fn main() {
    println!("cargo:rerun-if-changed=../corpus");
}
