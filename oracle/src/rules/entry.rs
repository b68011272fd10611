//! An entry of a table of rules.

/// The most changes that an entry can have at once. No explanation combines more.
pub(super) const MOST_CHANGES: usize = 8;

/// Defines the types of entries: a rule of the specification with the changes made to it.
macro_rules! entries {
    ($($(#[$meta:meta])* $name:ident($($argument:ident: $ty:ty),*) -> $result:ty;)+) => {$(
        $(#[$meta])*
        #[derive(Clone, Copy)]
        pub struct $name {
            text: fn($($ty),*) -> $result,
            /// The changes, the most recent first.
            changes: [Option<fn(&$name, $($ty),*) -> $result>; $crate::rules::entry::MOST_CHANGES],
        }

        impl $name {
            /// Creates an unchanged entry.
            pub(super) const fn new(text: fn($($ty),*) -> $result) -> $name {
                $name { text, changes: [None; $crate::rules::entry::MOST_CHANGES] }
            }

            /// Changes the entry. `change` receives the entry that it replaces, and can delegate to it.
            ///
            /// # Panics
            /// If the entry already has as many changes as explanations combine.
            pub fn change(&mut self, change: fn(&$name, $($ty),*) -> $result) {
                self.changes.rotate_right(1);
                assert!(self.changes[0].is_none(), "an entry is changed too often");
                self.changes[0] = Some(change);
            }

            /// Applies the rule.
            #[inline(always)]
            pub fn apply(&self, $($argument: $ty),*) -> $result {
                match self.changes[0] {
                    None => (self.text)($($argument),*),
                    Some(change) => change(&self.replaced(), $($argument),*),
                }
            }

            /// Returns the entry before the last change.
            #[cold]
            fn replaced(mut self) -> $name {
                self.changes[0] = None;
                self.changes.rotate_left(1);
                self
            }
        }
    )+};
}

pub(super) use entries;
