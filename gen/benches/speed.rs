//! Measures how fast expressions and declarations are generated, and generated and printed.

use std::hint::black_box;

use arbitrary::Unstructured;
use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use ptxsmith_gen::{Config, Coverage, Focus, Generator, Header, Odds, stream};
use ptxsmith_syntax::{Canonical, print_expr, print_to};

/// Creates a generator of expressions with about ten nodes each.
fn ten_nodes() -> Generator {
    Generator::new(Config { max_nodes: 21, early_leaf: Odds::NEVER, ..Config::default() })
}

fn expressions(c: &mut Criterion) {
    let generator = ten_nodes();
    let mut group = c.benchmark_group("ten-node integer expressions");
    group.throughput(Throughput::Elements(1));
    let mut coverage = Coverage::new();
    let mut index = 0;
    let mut bytes = [0; 128];
    let mut next = |into: &mut [u8; 128]| {
        index += 1;
        stream::case_bytes(1, index, into);
    };
    group.bench_function("made", |b| {
        b.iter(|| {
            next(&mut bytes);
            black_box(generator.integer(&mut Unstructured::new(&bytes), &mut coverage))
        });
    });
    let mut text = Canonical::default();
    group.bench_function("made as a tree and printed", |b| {
        b.iter(|| {
            next(&mut bytes);
            let expr = generator.integer(&mut Unstructured::new(&bytes), &mut coverage);
            text.0.clear();
            print_expr(&expr, &mut text);
            black_box(text.0.len())
        });
    });
    group.finish();
}

fn cases(c: &mut Criterion) {
    let generator = Generator::default();
    let header = Header::default();
    let mut coverage = Coverage::new();
    for focus in [Focus::Expressions, Focus::Initializers, Focus::Addresses] {
        let bytes: usize = (0..10_000)
            .map(|i| {
                ptxsmith_syntax::print(&generator.case(focus, 1, i, &mut coverage).module(&header)).len()
            })
            .sum();
        let mut group = c.benchmark_group(format!("cases: {}", focus.name()));
        group.throughput(Throughput::Elements(1));
        let mut index = 0;
        group.bench_function("made", |b| {
            b.iter(|| {
                index += 1;
                black_box(generator.case(focus, 1, index, &mut coverage))
            });
        });
        group.throughput(Throughput::Bytes(bytes as u64));
        group.bench_function("10,000 made and printed in one module", |b| {
            b.iter_batched(
                Canonical::default,
                |mut text| {
                    let items = (0..10_000).flat_map(|i| generator.case(focus, 1, i, &mut coverage).items());
                    print_to(&header.module(items), &mut text);
                    text
                },
                BatchSize::PerIteration,
            );
        });
        group.finish();
    }
}

criterion_group!(benches, expressions, cases);
criterion_main!(benches);
