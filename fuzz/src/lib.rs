//! libFuzzer targets over ptxsmith's libraries: not written yet.
//!
//! The package holds the place that the architecture gives it; nothing depends on it.
