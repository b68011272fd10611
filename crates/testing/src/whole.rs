//! How much a test repeats: enough for every change, or everything.

/// Whether tests judge everything there is instead of a sample: `cargo xtask test --whole` sets
/// `PTXSMITH_WHOLE`, and the nightly job runs it. A test that takes a sample otherwise says which.
pub fn is_whole() -> bool {
    std::env::var_os("PTXSMITH_WHOLE").is_some()
}
