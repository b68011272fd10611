//! Enums with a list of their variants and optional names.

/// An enum whose variants are in `ALL`, in order. Where they are given names, it has `name()`, the way back `from_name()`, and
/// a `Display`; where they are given sentences behind these as well, those are `summary()` and document the variants.
///
/// ```
/// ptxsmith_syntax::every! {
///     /// Answers.
///     pub enum Answer { Yes = "yes", "it is so"; No = "no", "it is not so"; }
/// }
/// assert_eq!(Answer::ALL.map(Answer::name), ["yes", "no"]);
/// assert_eq!((Answer::from_name("no"), Answer::No.summary()), (Some(Answer::No), "it is not so"));
/// ```
#[macro_export]
macro_rules! every {
    ($(#[$meta:meta])* pub enum $enum:ident { $($(#[$doc:meta])* $variant:ident),+ $(,)? }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $enum { $($(#[$doc])* $variant),+ }

        impl $enum {
            /// All, in order.
            pub const ALL: [$enum; [$(stringify!($variant)),+].len()] = [$($enum::$variant),+];
        }
    };
    ($(#[$meta:meta])* pub enum $enum:ident { $($(#[$doc:meta])* $variant:ident = $name:literal),+ $(,)? }) => {
        $crate::every! { $(#[$meta])* pub enum $enum { $($(#[$doc])* $variant),+ } }

        impl $enum {
            /// Its name in reports, in files and on the command line.
            pub const fn name(self) -> &'static str {
                match self { $($enum::$variant => $name),+ }
            }

            /// What has this name.
            pub fn from_name(name: &str) -> Option<$enum> {
                Self::ALL.into_iter().find(|one| one.name() == name)
            }
        }

        impl std::fmt::Display for $enum {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.name())
            }
        }
    };
    ($(#[$meta:meta])* pub enum $enum:ident { $($variant:ident = $name:literal, $summary:literal;)+ }) => {
        $crate::every! { $(#[$meta])* pub enum $enum { $(#[doc = $summary] $variant = $name),+ } }

        impl $enum {
            /// What it is, in words.
            pub const fn summary(self) -> &'static str {
                match self { $($enum::$variant => $summary),+ }
            }
        }
    };
}
