//! Parallel work on all cores.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Applies `work` to each item on all cores, and returns the results in input order.
pub fn on_all_cores<T: Sync, R: Send>(items: &[T], work: impl Fn(usize, &T) -> R + Sync) -> Vec<R> {
    let cores = thread::available_parallelism().map_or(1, |cores| cores.get());
    let next = AtomicUsize::new(0);
    let mut results: Vec<(usize, R)> = thread::scope(|scope| {
        let threads: Vec<_> =
            (0..cores).map(|_| scope.spawn(|| process_items(items, &next, &work))).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    results.sort_by_key(|(index, _)| *index);
    results.into_iter().map(|(_, result)| result).collect()
}

/// Processes items, each with its index, until all threads together have started all of them.
fn process_items<T, R>(items: &[T], next: &AtomicUsize, work: impl Fn(usize, &T) -> R) -> Vec<(usize, R)> {
    let mut results = Vec::new();
    loop {
        let index = next.fetch_add(1, Ordering::Relaxed);
        let Some(item) = items.get(index) else { return results };
        results.push((index, work(index, item)));
    }
}
