//! See `ptxsmith_fuzz::cubin`.
#![cfg_attr(fuzzing, no_main)]

ptxsmith_fuzz::target!(CUBIN);
