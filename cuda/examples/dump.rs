#![allow(missing_docs)]
use ptxsmith_cuda::{generate::Generator, language::print, oracle::*, reading::Readings};
fn main() {
    let n: u64 = std::env::args().nth(1).unwrap().parse().unwrap();
    let g = Generator::new(1);
    println!("// table {}", Generator::table_len());
    for id in 0..n {
        let case = g.case(id);
        let r = Readings::default();
        let e = judge(&case, r);
        println!("{} // {} {} {:?} {} {} {}", print(&case).line, case.form.name, case.place.name(), e.verdict, is_clear(&case, r), case.declaration.kind, format!("{:?}", e.value).replace(' ', ""));
    }
}
