//! Derives random bytes from a seed.
//!
//! Each case has its own stream, determined by its seed and index alone. Any case can therefore be generated again by
//! itself, on any shard and in any order. The random generator is implemented here because external crates may change
//! theirs between releases, and an old seed would then give another program.

/// The odd constant of SplitMix64: 2^64 divided by the golden ratio.
const GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;

/// SplitMix64 (Steele, Lea and Flood, 2014): a counter and a mixer.
#[derive(Clone, Debug)]
pub struct SplitMix64 {
    state: u64,
}

impl SplitMix64 {
    /// Creates a stream that begins after this state.
    pub fn new(state: u64) -> SplitMix64 {
        SplitMix64 { state }
    }

    /// Returns the next 64 bits.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(GAMMA);
        mix(self.state)
    }

    /// Fills a slice, eight bytes at a time, in little-endian order.
    pub fn fill(&mut self, into: &mut [u8]) {
        let mut chunks = into.chunks_exact_mut(8);
        for chunk in &mut chunks {
            chunk.copy_from_slice(&self.next_u64().to_le_bytes());
        }
        let rest = chunks.into_remainder();
        let bytes = self.next_u64().to_le_bytes();
        rest.copy_from_slice(&bytes[..rest.len()]);
    }
}

#[inline]
fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Fills `into` with the bytes of a case. A longer slice begins with the bytes of a shorter one.
///
/// The seed is mixed before the index is added, so that neighbouring seeds do not share cases at shifted indices.
#[inline]
pub fn case_bytes(seed: u64, index: u64, into: &mut [u8]) {
    case_stream(seed, index).fill(into);
}

/// Returns the byte stream of a case.
#[inline]
pub(crate) fn case_stream(seed: u64, index: u64) -> SplitMix64 {
    let of_seed = mix(seed.wrapping_add(GAMMA));
    SplitMix64::new(mix(of_seed.wrapping_add(index.wrapping_mul(0xd1b5_4a32_d192_ed03))))
}

/// Returns the byte stream of a number in a pool shared by several cases.
pub(crate) fn number_stream((seed, pool): (u64, u64), place: u16) -> SplitMix64 {
    // Start differently from the streams of cases.
    let of_seed = mix(seed.wrapping_add(GAMMA.wrapping_mul(2)));
    let of_pool = mix(of_seed.wrapping_add(pool.wrapping_mul(0xd1b5_4a32_d192_ed03)));
    SplitMix64::new(mix(of_pool.wrapping_add(u64::from(place).wrapping_mul(GAMMA))))
}

/// Draws numbers and choices from a stream. The modulo bias does not matter here.
pub struct Draw(pub(crate) SplitMix64);

impl Draw {
    /// Draws from the stream of a case.
    pub fn new(seed: u64, index: u64) -> Draw {
        Draw(case_stream(seed, index))
    }

    /// Returns 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Returns a number below `end`, which must not be 0.
    pub fn below(&mut self, end: u64) -> u64 {
        self.bits() % end
    }

    /// Returns a number in a range, which must not be empty.
    pub fn within(&mut self, range: std::ops::Range<usize>) -> usize {
        range.start + self.below(range.len() as u64) as usize
    }

    /// Returns true with a probability of `percent` in a hundred.
    pub fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    /// Returns one element of a non-empty slice.
    pub fn pick<'a, T>(&mut self, choices: &'a [T]) -> &'a T {
        &choices[self.within(0..choices.len())]
    }

    /// Returns one element, chosen by weight.
    pub fn weighted<T: Copy>(&mut self, all: &[(T, u64)]) -> T {
        let mut left = self.below(all.iter().map(|(_, weight)| weight).sum());
        for &(choice, weight) in all {
            if left < weight {
                return choice;
            }
            left -= weight;
        }
        unreachable!("the number is below the sum of the weights")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stream_is_that_of_the_published_splitmix64() {
        let mut stream = SplitMix64::new(1_234_567);
        let expected = [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423];
        assert_eq!([stream.next_u64(), stream.next_u64(), stream.next_u64()], expected);
    }

    #[test]
    fn a_longer_slice_begins_with_the_bytes_of_a_shorter_one() {
        let (mut short, mut long) = ([0; 13], [0; 64]);
        case_bytes(7, 9, &mut short);
        case_bytes(7, 9, &mut long);
        assert_eq!(short, long[..13]);
    }

    #[test]
    fn no_two_of_many_seeds_and_indices_share_a_stream() {
        let mut first = Vec::new();
        for seed in 0..100 {
            for index in 0..100 {
                let mut bytes = [0; 8];
                case_bytes(seed, index, &mut bytes);
                first.push(bytes);
            }
        }
        first.sort_unstable();
        first.dedup();
        assert_eq!(first.len(), 10_000);
    }
}
