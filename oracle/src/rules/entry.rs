//! An entry of a table of rules.

/// The most changes of one entry at once. No explanation combines as many.
pub(super) const MOST_CHANGES: usize = 8;

/// Makes the types of entries: what the specification says, under the changes that were made to it.
macro_rules! entries {
    ($($(#[$meta:meta])* $name:ident($($argument:ident: $ty:ty),*) -> $result:ty;)+) => {$(
        $(#[$meta])*
        #[derive(Clone, Copy)]
        pub struct $name {
            text: fn($($ty),*) -> $result,
            /// The last change first.
            changes: [Option<fn(&$name, $($ty),*) -> $result>; $crate::rules::entry::MOST_CHANGES],
        }

        impl $name {
            /// What the specification says.
            pub(super) const fn new(text: fn($($ty),*) -> $result) -> $name {
                $name { text, changes: [None; $crate::rules::entry::MOST_CHANGES] }
            }

            /// Changes the entry. The change is given the entry that it replaces, for all that it leaves as it is.
            ///
            /// # Panics
            /// Where the entry was changed more often than explanations combine changes.
            pub fn change(&mut self, change: fn(&$name, $($ty),*) -> $result) {
                self.changes.rotate_right(1);
                assert!(self.changes[0].is_none(), "an entry is changed too often");
                self.changes[0] = Some(change);
            }

            /// What the rule says.
            #[inline(always)]
            pub fn apply(&self, $($argument: $ty),*) -> $result {
                match self.changes[0] {
                    None => (self.text)($($argument),*),
                    Some(change) => change(&self.replaced(), $($argument),*),
                }
            }

            /// The entry before the last change.
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
