//! The bytes that programs are made of, one at a time.

use arbitrary::Unstructured;

use crate::stream::{SplitMix64, case_stream};

/// Bytes from a slice, or from the stream of a case; behind the last, zeros follow for ever.
///
/// [`Unstructured`] gives single bytes at the price of a call, and a stream that is written out first costs as much as what
/// is made of it: a word at a time costs neither.
#[derive(Clone, Debug)]
pub(crate) struct Bytes<'d> {
    /// The next bytes, lowest first.
    window: u64,
    /// How many bytes the window holds.
    held: u32,
    rest: Rest<'d>,
}

#[derive(Clone, Debug)]
enum Rest<'d> {
    Slice(&'d [u8]),
    /// And how many words are left of it.
    Stream(SplitMix64, usize),
}

impl<'d> Bytes<'d> {
    /// The bytes that are left.
    pub fn of(u: &Unstructured<'d>) -> Bytes<'d> {
        Bytes { window: 0, held: 0, rest: Rest::Slice(u.peek_bytes(u.len()).unwrap_or(&[])) }
    }

    /// So many words of the bytes of a case: see [`crate::stream::case_bytes`].
    pub fn of_case(seed: u64, index: u64, words: usize) -> Bytes<'static> {
        Bytes::of_stream(case_stream(seed, index), words)
    }

    /// So many words of a stream.
    pub fn of_stream(stream: SplitMix64, words: usize) -> Bytes<'static> {
        Bytes { window: 0, held: 0, rest: Rest::Stream(stream, words) }
    }

    /// Takes from `u`, which these bytes are of, those that were used.
    pub fn give_back(&self, u: &mut Unstructured<'_>) {
        let left = match self.rest {
            Rest::Slice(rest) if self.held <= 8 => rest.len() + self.held as usize,
            _ => 0,
        };
        u.bytes(u.len() - left).expect("no more bytes were used than there were");
    }

    /// The next byte.
    #[inline]
    pub fn byte(&mut self) -> u8 {
        if self.held == 0 {
            self.fill();
        }
        let byte = self.window as u8;
        self.window >>= 8;
        self.held -= 1;
        byte
    }

    /// The next eight bytes as a number, lowest first.
    #[inline]
    pub fn word(&mut self) -> u64 {
        if self.held == 0 {
            self.fill();
        }
        let (low, held) = (self.window, self.held);
        match held {
            8 => {
                self.held = 0;
                low
            }
            1..8 => {
                self.fill();
                if self.held == 8 {
                    let word = low | self.window << (8 * held);
                    self.window >>= 64 - 8 * held;
                    self.held = held;
                    return word;
                }
                // The end is near.
                (held..8).fold(low, |word, place| word | u64::from(self.byte()) << (8 * place))
            }
            _ => 0,
        }
    }

    /// Puts the next bytes into the window, of which there are no more than these.
    #[inline(never)]
    fn fill(&mut self) {
        (self.window, self.held) = match &mut self.rest {
            Rest::Stream(stream, words @ 1..) => {
                *words -= 1;
                (stream.next_u64(), 8)
            }
            Rest::Slice(rest) => match rest.split_first_chunk() {
                Some((&next, behind)) => {
                    *rest = behind;
                    (u64::from_le_bytes(next), 8)
                }
                None if !rest.is_empty() => {
                    let last = std::mem::take(rest);
                    let window = last.iter().rev().fold(0, |window, &byte| window << 8 | u64::from(byte));
                    (window, last.len() as u32)
                }
                None => (0, u32::MAX),
            },
            Rest::Stream(..) => (0, u32::MAX),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stream::case_bytes;

    #[test]
    fn words_and_bytes_are_those_of_the_slice_wherever_they_begin_and_then_zeros() {
        let bytes: Vec<u8> = (1..=27).collect();
        for length in 0..=bytes.len() {
            for before in 0..=10 {
                let mut padded = bytes[..length].to_vec();
                padded.resize(64, 0);
                let mut taken = Bytes::of(&Unstructured::new(&bytes[..length]));
                let first: Vec<u8> = (0..before).map(|_| taken.byte()).collect();
                assert_eq!(first, padded[..before]);
                for word in padded[before..before + 32].chunks_exact(8) {
                    assert_eq!(taken.word().to_le_bytes(), word, "{before} of {length}");
                }
                assert_eq!(taken.byte(), 0);
            }
        }
    }

    #[test]
    fn what_is_left_of_a_slice_is_what_was_not_taken() {
        let bytes = [7; 21];
        for count in 0..30 {
            let mut u = Unstructured::new(&bytes);
            let mut taken = Bytes::of(&u);
            for _ in 0..count {
                taken.byte();
            }
            taken.give_back(&mut u);
            assert_eq!(u.len(), 21_usize.saturating_sub(count));
        }
    }

    #[test]
    fn the_stream_of_a_case_has_the_bytes_of_the_case_and_then_zeros() {
        let mut bytes = [0; 40];
        case_bytes(5, 9, &mut bytes[..32]);
        let mut taken = Bytes::of_case(5, 9, 4);
        assert!(bytes.iter().all(|byte| taken.byte() == *byte));
    }
}
