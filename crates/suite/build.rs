//! The corpus is compiled in: a case that is added or changed means a new build. `corpus` is a link, which a package follows: what
//! it needs must be in its own folder.

fn main() {
    println!("cargo:rerun-if-changed=../corpus");
}
