#![allow(missing_docs)]
use ptxsmith_cuda::{compare, generate::Generator, language::print, reading::Readings, subjects::*};
use ptxsmith_subject::{Cancel, toolchain::Toolchains};
fn main() {
    let mut args = std::env::args().skip(1);
    let n: u64 = args.next().unwrap().parse().unwrap();
    let g = Generator::new(args.next().unwrap().parse().unwrap());
    let toolchains = Toolchains::of_user().unwrap();
    let cancel = Cancel::new();
    let options = Options { toolchains: &toolchains, install: true, timeout: std::time::Duration::from_secs(120), cancel: &cancel, progress: &|t| eprintln!("{t}") };
    for spec in args {
        for c in open(&parse_spec(&spec).unwrap(), &options).unwrap() {
            let t = std::time::Instant::now();
            let mut ledger = compare::Ledger::default();
            for k in 0..n.div_ceil(5000) {
                let cases: Vec<_> = (k * 5000..((k + 1) * 5000).min(n)).map(|i| g.case(i)).collect();
                ledger.merge(compare::batch(&*c, &cases, Readings::default()).unwrap());
            }
            println!("== {:?} {:?}", c.description(), t.elapsed());
            println!("cases {} compared {} conform {} reading {} notcmp {:?} allowed {:?} refusals {:?} right {} unseen {} absent {}", ledger.cases, ledger.compared, ledger.conform, ledger.conform_under_reading, ledger.not_compared, ledger.allowed, ledger.refusals, ledger.values_right, ledger.values_unseen, ledger.absent_in_ptx);
            for (q, s) in &ledger.sides { println!("  {} {:?}", q.name(), s); }
            for (k, gr) in &ledger.known { println!("  known {k} {}", gr.count); }
            println!("  gone {:?} families {:?}", ledger.gone(), ledger.families);
            for (k, gr) in &ledger.new { println!("  {:?} {} {} {}\n        {} {:?}", k.class, k.verdict, k.form, gr.count, print(&gr.example).line, gr.observed.told); }
        }
    }
}
