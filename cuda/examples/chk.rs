#![allow(missing_docs)]
use ptxsmith_cuda::{check, generate::Generator, language::print, oracle::*, reading::Readings};
use std::collections::BTreeMap;
fn main() {
    let mut args = std::env::args().skip(1);
    let n: u64 = args.next().unwrap().parse().unwrap();
    let g = Generator::new(args.next().unwrap().parse().unwrap());
    let r = Readings::default();
    let dir = std::path::PathBuf::from("/tmp/cuda");
    let cases: Vec<_> = (0..n).map(|i| g.case(i)).collect();
    let text: String = cases.iter().map(|c| print(c).line + "\n").collect();
    std::fs::write(dir.join("gen.cu"), text).unwrap();
    let t = std::time::Instant::now();
    let mut o = check::Options::new("/usr/bin/clang".into());
    o.directory = dir;
    let report = check::check("gen.cu".as_ref(), &o).unwrap();
    println!("{:?} {} findings, not analysed {}", t.elapsed(), report.findings.len(), report.not_analysed.len());
    for x in report.not_analysed.iter().take(5) { println!("  {}", &x[..x.len().min(300)]); }
    let mut by: BTreeMap<u32, Vec<&check::Finding>> = BTreeMap::new();
    for f in &report.findings { by.entry(f.line).or_default().push(f); }
    let (mut clear, mut right) = (0, 0);
    let mut groups: BTreeMap<String, (u64, String)> = BTreeMap::new();
    for (i, case) in cases.iter().enumerate() {
        let e = judge(case, r);
        if e.verdict.refuses().is_none() { continue; }
        let c = is_clear(case, r);
        let got = by.get(&(i as u32 + 1));
        let ok = match (e.verdict.primary(), got.map(|v| &v[..])) {
            (None, None) => true,
            (Some(k), Some([f])) => f.keys[0] == k && f.column as usize == print(case).column,
            _ => false,
        };
        if c { clear += 1; right += ok as u64; }
        if !ok {
            let key = format!("{} {} {} -> {:?}", if c {"clear"} else {"open "}, case.form.name, e.verdict.primary().map_or("none", |k| k.name()), got.map(|v| v.iter().map(|f| (f.keys[0].name(), f.column as i64 - print(case).column as i64)).collect::<Vec<_>>()));
            let en = groups.entry(key).or_insert((0, print(case).line));
            en.0 += 1;
        }
    }
    println!("clear {clear} right {right} {:.3}%", 100.0 * right as f64 / clear as f64);
    let mut v: Vec<_> = groups.into_iter().collect();
    v.sort_by_key(|x| std::cmp::Reverse(x.1.0));
    for (k, (n, l)) in v.iter().take(40) { println!("{n} {k}\n       {}", &l[..l.len().min(260)]); }
}
