//! See `ptxsmith_fuzz::differential`.
#![cfg_attr(fuzzing, no_main)]

ptxsmith_fuzz::target!(DIFFERENTIAL, ptxsmith_fuzz::differential::long_bytes);
