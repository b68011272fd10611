//! The corpus and PTX of compilers are compiled in: a case that is added or changed means a new build. `corpus` and `emitted` are links, which
//! a package follows: what it needs must be in its own folder.

fn main() {
    println!("cargo:rerun-if-changed=../corpus");
    println!("cargo:rerun-if-changed=../emitters/ptx");
}
