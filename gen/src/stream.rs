//! Bytes from a seed.
//!
//! Every case has a stream of its own, which its seed and its index alone determine. So any case can be made again
//! by itself, on any shard, in any order. The generator of the bytes stands here rather than in a crate because
//! crates change theirs between releases, and an old seed would then mean another program.

/// The odd constant of SplitMix64: 2^64 divided by the golden ratio.
const GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;

/// SplitMix64 (Steele, Lea and Flood, 2014): a counter and a mixer.
#[derive(Clone, Debug)]
pub struct SplitMix64 {
    state: u64,
}

impl SplitMix64 {
    /// The stream that begins behind this state.
    pub fn new(state: u64) -> SplitMix64 {
        SplitMix64 { state }
    }

    /// The next 64 bits.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(GAMMA);
        mix(self.state)
    }

    /// Fills a slice, eight bytes a step, lowest byte first.
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

/// Fills `into` with the bytes of one case. A longer slice begins with the bytes of a shorter one.
///
/// Seed and index are mixed one after the other, so that neighbouring seeds do not share cases at shifted indices.
#[inline]
pub fn case_bytes(seed: u64, index: u64, into: &mut [u8]) {
    case_stream(seed, index).fill(into);
}

/// The stream that the bytes of one case come from.
#[inline]
pub(crate) fn case_stream(seed: u64, index: u64) -> SplitMix64 {
    let own = mix(seed.wrapping_add(GAMMA)).wrapping_add(index.wrapping_mul(0xd1b5_4a32_d192_ed03));
    SplitMix64::new(mix(own))
}

/// The stream that the bytes of a number of a pool come from.
pub(crate) fn number_stream((seed, pool): (u64, u64), place: u16) -> SplitMix64 {
    // Not as the streams of cases begin.
    let of_seed = mix(seed.wrapping_add(GAMMA.wrapping_mul(2)));
    let of_pool = mix(of_seed.wrapping_add(pool.wrapping_mul(0xd1b5_4a32_d192_ed03)));
    SplitMix64::new(mix(of_pool.wrapping_add(u64::from(place).wrapping_mul(GAMMA))))
}

/// Draws numbers and choices from a stream. The bias of a remainder is of no account here.
pub struct Draw(pub(crate) SplitMix64);

impl Draw {
    /// Draws from the stream of one case.
    pub fn new(seed: u64, index: u64) -> Draw {
        Draw(case_stream(seed, index))
    }

    /// A number of 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A number below `end`.
    pub fn below(&mut self, end: u64) -> u64 {
        self.bits() % end
    }

    /// A number of a range.
    pub fn within(&mut self, range: std::ops::Range<usize>) -> usize {
        range.start + self.below(range.len() as u64) as usize
    }

    /// Whether an event of this chance in a hundred happens.
    pub fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    /// One of some.
    pub fn of<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.within(0..all.len())]
    }

    /// One of some, each with its weight.
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
