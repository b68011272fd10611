//! Numbers that cases have in common.
//!
//! To spell a number and to read it again is a good part of what it takes to make an expression and to evaluate it. Where a
//! configuration says so, cases that follow each other take their numbers from the same few of each production: each number
//! then comes several times, each time under other operators and beside other numbers.

use ptxsmith_syntax::Numeral;

use crate::stream::number_stream;

/// How many numbers of each production a group of cases has: few enough that those of the common productions stay close at
/// hand, and enough that hardly any wrong rule is told later for it.
const NUMBERS: u16 = 64;

/// The numbers of one group of cases, as far as any of them was needed.
///
/// It only spares work: which number a case takes, and how that is spelled, follow from the configuration, the seed and the
/// number of the case. A stock serves one generator only, since another may spell otherwise.
/// What is chosen to spell a number counts in a coverage as often as it is spelled, which is less often with a stock.
#[derive(Clone, Debug, Default)]
pub struct Stock {
    /// By place. What was put there before the group changed is of another group.
    numerals: Vec<(u32, Option<Numeral>)>,
    /// The seed and the group that the numbers are of.
    group: Option<(u64, u64)>,
    /// How often the group changed.
    changes: u32,
}

impl Stock {
    /// Forgets the numbers of other groups.
    fn turn_to(&mut self, group: (u64, u64)) {
        if self.group != Some(group) {
            self.group = Some(group);
            self.changes += 1;
        }
    }
}

/// Where the cases of a group have their numbers from.
pub(crate) struct Shared<'s> {
    /// The seed of the cases, and the number of the group.
    group: (u64, u64),
    stock: Option<&'s mut Stock>,
}

impl<'s> Shared<'s> {
    /// The numbers of the cases of this seed and group.
    pub fn of(seed: u64, group: u64) -> Shared<'static> {
        Shared { group: (seed, group), stock: None }
    }

    /// Keeps them in stock.
    pub fn keeping(self, stock: &mut Stock) -> Shared<'_> {
        stock.turn_to(self.group);
        Shared { stock: Some(stock), ..self }
    }

    /// The place of a number: the kind of its production, and a byte that says which of its numbers.
    #[inline]
    pub fn place(kind: u8, byte: u8) -> u16 {
        u16::from(kind) * NUMBERS + u16::from(byte) % NUMBERS
    }

    /// The number of this place, if it is in stock.
    #[inline]
    pub fn get(&self, place: u16) -> Option<&Numeral> {
        let stock = self.stock.as_ref()?;
        let (changes, numeral) = stock.numerals.get(usize::from(place))?;
        numeral.as_ref().filter(|_| *changes == stock.changes)
    }

    /// Keeps a number.
    pub fn put(&mut self, numeral: Numeral) {
        if let Some(stock) = &mut self.stock {
            if stock.numerals.len() <= numeral.place() {
                stock.numerals.resize(numeral.place() + 1, (0, None));
            }
            let at = numeral.place();
            stock.numerals[at] = (stock.changes, Some(numeral));
        }
    }

    /// The bytes that the number of this place is made of.
    pub fn bytes(&self, place: u16) -> [u8; 64] {
        let (seed, group) = self.group;
        // More than any number takes.
        let mut bytes = [0; 64];
        number_stream(seed, group, place.into()).fill(&mut bytes);
        bytes
    }
}
