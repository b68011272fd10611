//! Parallel work on all cores.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Applies `work` to each item on all cores, and returns the results in input order.
pub fn on_all_cores<T: Sync, R: Send>(all: &[T], work: impl Fn(usize, &T) -> R + Sync) -> Vec<R> {
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
    let next = AtomicUsize::new(0);
    let mut made: Vec<(usize, R)> = std::thread::scope(|scope| {
        let worker = || {
            let mut made = Vec::new();
            loop {
                let at = next.fetch_add(1, Ordering::Relaxed);
                let Some(one) = all.get(at) else { return made };
                made.push((at, work(at, one)));
            }
        };
        let running: Vec<_> = (0..cores).map(|_| scope.spawn(worker)).collect();
        running.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    made.sort_by_key(|(at, _)| *at);
    made.into_iter().map(|(_, made)| made).collect()
}
