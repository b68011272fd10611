//! Draws from the stream of one case.

use ptxsmith_gen::stream::{SplitMix64, case_bytes};

/// Draws numbers and choices. The bias of a remainder is of no account here.
pub struct Draw(SplitMix64);

impl Draw {
    /// The stream of a case.
    pub fn new(seed: u64, number: u64) -> Draw {
        let mut state = [0; 8];
        case_bytes(seed, number, &mut state);
        Draw(SplitMix64::new(u64::from_le_bytes(state)))
    }

    /// A number of 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A number below `end`.
    pub fn below(&mut self, end: u64) -> u64 {
        self.bits() % end
    }

    /// Whether an event of this chance in a hundred happens.
    pub fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    /// One of some.
    pub fn choose<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len() as u64) as usize]
    }

    /// One of some by weight.
    pub fn weighted<T: Copy>(&mut self, all: &[(T, u64)]) -> T {
        let mut left = self.below(all.iter().map(|(_, weight)| weight).sum());
        for &(choice, weight) in all {
            if left < weight {
                return choice;
            }
            left -= weight;
        }
        all[0].0
    }
}
