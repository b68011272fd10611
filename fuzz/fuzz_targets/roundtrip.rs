//! See `ptxsmith_fuzz::roundtrip`.
#![cfg_attr(fuzzing, no_main)]

ptxsmith_fuzz::target!(ROUNDTRIP);
