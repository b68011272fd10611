//! The least PTX program that still answers yes to a question: not written yet.
//!
//! The package holds the place that the architecture gives it; nothing depends on it.
