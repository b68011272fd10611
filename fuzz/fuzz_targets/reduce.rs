//! See `ptxsmith_fuzz::reduce`.
#![cfg_attr(fuzzing, no_main)]

ptxsmith_fuzz::target!(REDUCE, ptxsmith_fuzz::mutate::mutated);
