//! The bytes that programs are made of, one at a time.

use arbitrary::Unstructured;

use crate::stream::{SplitMix64, case_stream};

/// Bytes from a slice, or from the stream of a case; behind the last, zeros follow for ever.
///
/// [`Unstructured`] gives single bytes at the price of a call, and a stream that is written out first costs as much as what
/// is made of it: a block at a time, which is enough for most expressions, costs neither.
#[derive(Clone, Debug)]
pub(crate) struct Bytes<'d> {
    block: [u8; BLOCK],
    /// The next one of the block.
    at: usize,
    /// How many of the block there are, and [`usize::MAX`] behind the last of all, where the block holds zeros.
    end: usize,
    rest: Rest<'d>,
}

const BLOCK: usize = 32;
const WORD: usize = size_of::<u64>();

#[derive(Clone, Debug)]
enum Rest<'d> {
    Slice(&'d [u8]),
    /// And how many words are left of it.
    Stream(SplitMix64, usize),
}

impl<'d> Bytes<'d> {
    fn new(rest: Rest<'d>) -> Bytes<'d> {
        Bytes { block: [0; BLOCK], at: 0, end: 0, rest }
    }

    /// The bytes that are left.
    pub fn of(u: &Unstructured<'d>) -> Bytes<'d> {
        Bytes::new(Rest::Slice(u.peek_bytes(u.len()).unwrap_or(&[])))
    }

    /// So many words of the bytes of a case: see [`crate::stream::case_bytes`].
    pub fn of_case(seed: u64, index: u64, words: usize) -> Bytes<'static> {
        Bytes::of_stream(case_stream(seed, index), words)
    }

    /// So many words of a stream.
    pub fn of_stream(stream: SplitMix64, words: usize) -> Bytes<'static> {
        Bytes::new(Rest::Stream(stream, words))
    }

    /// Takes from `u`, which these bytes are of, those that were used.
    pub fn give_back(&self, u: &mut Unstructured<'_>) {
        let left = match self.rest {
            Rest::Slice(rest) if self.end <= BLOCK => rest.len() + self.end - self.at,
            _ => 0,
        };
        u.bytes(u.len() - left).expect("no more bytes were used than there were");
    }

    /// The next byte.
    #[inline]
    pub fn byte(&mut self) -> u8 {
        if self.at >= self.end {
            self.fill();
        }
        let byte = self.block[self.at % BLOCK];
        self.at += 1;
        byte
    }

    /// The next eight bytes as a number, lowest first.
    #[inline]
    pub fn word(&mut self) -> u64 {
        match self.block.get(self.at..).and_then(<[u8]>::first_chunk) {
            Some(&word) if self.at + WORD <= self.end => {
                self.at += WORD;
                u64::from_le_bytes(word)
            }
            // The end of the block is near.
            _ => (0..WORD).fold(0, |word, place| word | u64::from(self.byte()) << (8 * place)),
        }
    }

    /// Puts the next bytes into the block, and zeros behind them.
    #[inline(never)]
    fn fill(&mut self) {
        let count = match &mut self.rest {
            // Nearly always: a fixed number of words.
            Rest::Stream(stream, words) if *words >= BLOCK / WORD => {
                *words -= BLOCK / WORD;
                for word in self.block.as_chunks_mut::<WORD>().0 {
                    *word = stream.next_u64().to_le_bytes();
                }
                (self.at, self.end) = (0, BLOCK);
                return;
            }
            Rest::Stream(stream, words) => {
                let count = (*words).min(BLOCK / WORD);
                *words -= count;
                for word in self.block.as_chunks_mut::<WORD>().0.iter_mut().take(count) {
                    *word = stream.next_u64().to_le_bytes();
                }
                count * WORD
            }
            Rest::Slice(rest) => {
                let (block, behind) = rest.split_at(rest.len().min(BLOCK));
                *rest = behind;
                self.block[..block.len()].copy_from_slice(block);
                block.len()
            }
        };
        (self.at, self.end) = (0, if count > 0 { count } else { usize::MAX });
        self.block[count..].fill(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stream::case_bytes;

    #[test]
    fn words_and_bytes_are_those_of_the_slice_wherever_they_begin_and_then_zeros() {
        // Past the second block.
        let bytes: Vec<u8> = (1..=75).collect();
        for length in 0..=bytes.len() {
            for before in 0..=40 {
                let mut padded = bytes[..length].to_vec();
                padded.resize(128, 0);
                let mut taken = Bytes::of(&Unstructured::new(&bytes[..length]));
                let first: Vec<u8> = (0..before).map(|_| taken.byte()).collect();
                assert_eq!(first, padded[..before]);
                for word in padded[before..before + 32].chunks_exact(8) {
                    assert_eq!(taken.word().to_le_bytes(), word, "{before} of {length}");
                }
                assert_eq!(taken.byte(), padded[before + 32]);
            }
        }
    }

    #[test]
    fn what_is_left_of_a_slice_is_what_was_not_taken() {
        let bytes = [7; 75];
        for count in 0..90 {
            let mut u = Unstructured::new(&bytes);
            let mut taken = Bytes::of(&u);
            for _ in 0..count {
                taken.byte();
            }
            taken.give_back(&mut u);
            assert_eq!(u.len(), 75_usize.saturating_sub(count));
        }
    }

    #[test]
    fn the_stream_of_a_case_has_the_bytes_of_the_case_and_then_zeros() {
        let mut bytes = [0; 90];
        case_bytes(5, 9, &mut bytes[..72]);
        let mut taken = Bytes::of_case(5, 9, 9);
        assert!(bytes.iter().all(|byte| taken.byte() == *byte));
    }
}
