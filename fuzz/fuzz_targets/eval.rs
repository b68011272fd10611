//! See `ptxsmith_fuzz::eval`.
#![cfg_attr(fuzzing, no_main)]

ptxsmith_fuzz::target!(EVAL, ptxsmith_fuzz::mutate::mutated);
