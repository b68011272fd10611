//! The CUDA C++ suite: when may device code use a `const` variable of the host?
//!
//! The rule is CUDASafety-1.5 ([`rule`]). One direction, as in the whole project: [`generate`] makes cases in a small
//! [`language`]; [`oracle`] says of each what the rule's text says, under a [`reading`]; [`subjects`] shows them to
//! compilers; [`compare`] judges. Generator and oracle know no subject. [`check`] is apart from all of them: it finds
//! violations in users' own sources, and the generator's cases test it.

pub mod check;
pub mod compare;
pub mod generate;
pub mod known;
pub mod language;
pub mod oracle;
pub mod reading;
pub mod rule;
pub mod subjects;
