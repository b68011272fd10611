#![allow(missing_docs)]
use ptxsmith_cuda::check;
fn main() {
    let f = std::env::args().nth(1).unwrap();
    let mut o = check::Options::new("/usr/bin/clang".into());
    o.directory = "/tmp/cuda".into();
    let t = std::time::Instant::now();
    let r = check::check(f.as_ref(), &o).unwrap();
    println!("{:#?} {:?}", r, t.elapsed());
}
