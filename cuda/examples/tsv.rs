#![allow(missing_docs)]
use ptxsmith_cuda::{generate::Generator, language::*, oracle::*, reading::Readings, subjects::*};
use ptxsmith_subject::{Cancel, toolchain::Toolchains};
fn main() {
    let mut args = std::env::args().skip(1);
    let n: u64 = args.next().unwrap().parse().unwrap();
    let g = Generator::new(args.next().unwrap().parse().unwrap());
    let toolchains = Toolchains::of_user().unwrap();
    let cancel = Cancel::new();
    let options = Options { toolchains: &toolchains, install: true, timeout: std::time::Duration::from_secs(120), cancel: &cancel, progress: &|t| eprintln!("{t}") };
    for spec in args {
        let c = open(&parse_spec(&spec).unwrap(), &options).unwrap().remove(0);
        for k in 0..n.div_ceil(5000) {
            let cases: Vec<_> = (k * 5000..((k + 1) * 5000).min(n)).map(|i| g.case(i)).collect();
            let lines: Vec<_> = cases.iter().map(|c| print(c).line).collect();
            let refs: Vec<_> = lines.iter().map(|l| &**l).collect();
            for (case, told) in cases.iter().zip(show(&*c, &refs).unwrap()) {
                let d = &case.declaration;
                let e = judge(case, Readings::default());
                let t = match told { Told::Accepted => "A".to_owned(), Told::Refused(_) => "R".to_owned(), Told::IllFormed(m) => format!("I {m}"), o => format!("{o:?}") };
                println!("{}\t{}\t{}\t{:?}\t{:?}\t{:?}\t{:?}\t{}\t{:?}\t{:?}\t{:?}\t{}\t{}\t{}", case.id, case.form.name, case.place.name(), d.site, d.ty, d.qualifier, d.order, d.kind, std::mem::discriminant(&constant::of(d)) , d.annotation, e.verdict, is_clear(case, Readings::default()), t, print(case).line);
            }
        }
    }
}
