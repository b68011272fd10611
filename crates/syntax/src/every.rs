//! Enums with a list of their variants and optional names.

/// Defines an enum with `ALL`, the list of its variants in order. If the variants have names, the enum also has `name()`,
/// its inverse `from_name()`, and a `Display`. If they have summaries too, `summary()` returns them, and they document the
/// variants.
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
            /// All variants, in order.
            pub const ALL: [$enum; [$(stringify!($variant)),+].len()] = [$($enum::$variant),+];
        }
    };
    ($(#[$meta:meta])* pub enum $enum:ident { $($(#[$doc:meta])* $variant:ident = $name:literal),+ $(,)? }) => {
        $crate::every! { $(#[$meta])* pub enum $enum { $($(#[$doc])* $variant),+ } }

        impl $enum {
            /// Returns the name in reports, in files and on the command line.
            pub const fn name(self) -> &'static str {
                match self { $($enum::$variant => $name),+ }
            }

            /// Returns the variant with this name.
            pub fn from_name(name: &str) -> Option<$enum> {
                Self::ALL.into_iter().find(|variant| variant.name() == name)
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
            /// Returns a description in a few words.
            pub const fn summary(self) -> &'static str {
                match self { $($enum::$variant => $summary),+ }
            }
        }
    };
}
