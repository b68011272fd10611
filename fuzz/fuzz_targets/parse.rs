//! See `ptxsmith_fuzz::parse`.
#![cfg_attr(fuzzing, no_main)]

ptxsmith_fuzz::target!(PARSE, ptxsmith_fuzz::mutate::mutated);
