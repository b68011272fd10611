//! All that is ours of a campaign of expressions: made, printed, evaluated and compared, with no compiler in
//! between.

use std::hint::black_box;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use ptxsmith_diff::{Generation, Judge, JudgeOptions, judge_in_bulk};
use ptxsmith_gen::{CaseId, Config, Coverage, Focus, Generator, Odds};
use ptxsmith_oracle::{Expectation, Rules, expect};
use ptxsmith_subject::{Description, FnSubject, Observation, Outcome, Request, Subject, Variable};
use ptxsmith_syntax::parse;

/// As many cases as a task of a campaign has.
const CASES: u64 = 100_000;

/// An implementation that does what the specification says, and knows each module by heart from the second
/// time on.
fn learned() -> impl Subject {
    let known: Mutex<Vec<(String, Observation)>> = Mutex::default();
    let subject = FnSubject::new("learned", move |request: &Request<'_>| {
        let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, observation)) = known.iter().find(|(text, _)| text == request.ptx) {
            return observation.clone();
        }
        let module = parse(request.ptx).expect("modules that are shown parse");
        let Expectation::Accepted { variables, .. } = expect(&module, &Rules::default()) else {
            panic!("what is judged in bulk is accepted")
        };
        let mut observation = Observation::new(Outcome::Accepted);
        for v in variables {
            let (bytes, addresses) = (Some(v.bytes), Some(Vec::new()));
            let (space, size, align) = (Some(v.space.name().into()), Some(v.size), Some(v.align));
            let variable = Variable { space, size, align, addresses, bytes, ..Variable::default() };
            observation.variables.insert(v.name.clone(), variable);
        }
        known.push((request.ptx.to_owned(), observation.clone()));
        observation
    });
    let description = Description {
        lineage: Some("nvidia".into()),
        version: Some("13.5.37".into()),
        lists: Some(true),
        ..subject.description().clone()
    };
    subject.described(description)
}

fn bulk(c: &mut Criterion) {
    let ten_nodes = Config { max_nodes: 21, early_leaf: Odds::NEVER, ..Config::bulk() };
    let configurations = [("expressions of ten nodes", ten_nodes), ("bulk", Config::bulk())];
    let mut group = c.benchmark_group("bulk");
    group.throughput(Throughput::Elements(CASES)).sample_size(20).warm_up_time(Duration::from_secs(1));
    for (name, config) in configurations {
        let generator = Generator::new(config);
        let subject = learned();
        let options = JudgeOptions { recheck_every: 0, ..JudgeOptions::default() };
        let judge = Judge::new(&subject, Rules::default(), options);
        let mut coverage = Coverage::new();
        group.bench_function(name, |b| {
            b.iter(|| {
                let make = |index, _: Generation, into: &mut dyn ptxsmith_syntax::Assemble| {
                    generator.assemble_case(CaseId { seed: 1, index }, &mut coverage, into)
                };
                black_box(judge_in_bulk(&judge, 0..CASES, make).expect("nothing of ours fails").conform)
            });
        });
        let nodes: usize = (0..1000)
            .filter_map(|case| match generator.case(Focus::Expressions, 1, case, &mut coverage).body {
                ptxsmith_gen::Body::Expression { expr, .. } => Some(expr.nodes().len()),
                _ => None,
            })
            .sum();
        eprintln!("{name}: {:.1} nodes on average", nodes as f64 / 1000.0);
    }
    group.finish();
}

criterion_group!(benches, bulk);
criterion_main!(benches);
