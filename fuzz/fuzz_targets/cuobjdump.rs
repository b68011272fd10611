//! See `ptxsmith_fuzz::cuobjdump`.
#![cfg_attr(fuzzing, no_main)]

ptxsmith_fuzz::target!(CUOBJDUMP);
