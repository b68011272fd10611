//! See `ptxsmith_fuzz::serve`.
#![cfg_attr(fuzzing, no_main)]

ptxsmith_fuzz::target!(SERVE);
