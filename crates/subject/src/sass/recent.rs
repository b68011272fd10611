//! Remembers the listings of recent cubins.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use sha2::{Digest as _, Sha256};

use super::listing::CodeListing;

/// The number of listings that are remembered: those of the programs that a few threads show to a few
/// releases.
const LISTINGS: usize = 64;
/// The maximum size in bytes of a cubin to remember the listing for.
const MOST_BYTES: usize = 1 << 18;

/// The hash of a cubin.
type Hash = [u8; 32];

/// The listings of the cubins that were listed last. A subject is asked about one program several times, and
/// nvdisasm needs a third of a second for the smallest cubin.
#[derive(Debug, Default)]
pub(super) struct Recent(Mutex<VecDeque<(Hash, Arc<CodeListing>)>>);

impl Recent {
    /// Returns the listing of a cubin, which `list` makes if it is not remembered.
    ///
    /// # Errors
    /// Those of `list`.
    pub fn listing<E>(
        &self,
        cubin: &[u8],
        list: impl FnOnce() -> Result<CodeListing, E>,
    ) -> Result<Arc<CodeListing>, E> {
        if cubin.len() > MOST_BYTES {
            return list().map(Arc::new);
        }
        let hash: Hash = Sha256::digest(cubin).into();
        if let Some(listing) = self.find(&hash) {
            return Ok(listing);
        }
        let listing = Arc::new(list()?);
        let mut listings = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        listings.push_front((hash, listing.clone()));
        listings.truncate(LISTINGS);
        Ok(listing)
    }

    fn find(&self, hash: &Hash) -> Option<Arc<CodeListing>> {
        let listings = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        listings.iter().find(|(other, _)| other == hash).map(|(_, listing)| listing.clone())
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn a_cubin_is_listed_again_only_behind_many_others_or_after_an_error() {
        let recent = Recent::default();
        let listed = Cell::new(0);
        let list = |cubin: &[u8], answer: Result<CodeListing, ()>| {
            recent.listing(cubin, || {
                listed.set(listed.get() + 1);
                answer
            })
        };
        assert!(list(b"a", Err(())).is_err());
        for _ in 0..2 {
            assert!(list(b"a", Ok(CodeListing::default())).is_ok());
        }
        assert_eq!(listed.get(), 2);
        for other in 0..LISTINGS {
            list(&other.to_le_bytes(), Ok(CodeListing::default())).unwrap();
        }
        list(b"a", Ok(CodeListing::default())).unwrap();
        assert_eq!(listed.get(), 3 + LISTINGS);
    }
}
