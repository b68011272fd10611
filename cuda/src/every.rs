//! Enums that are gone through.

/// An enum with [`ALL`](crate::language::Site::ALL) its variants in order, and their names where they are given.
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
        every! { $(#[$meta])* pub enum $enum { $($(#[$doc])* $variant),+ } }

        impl $enum {
            /// Its name in reports.
            pub const fn name(self) -> &'static str {
                match self { $($enum::$variant => $name),+ }
            }
        }
    };
}

pub(crate) use every;
