//! What registers of generated code hold, as far as it is known: numbers, and halves of addresses.

use std::rc::Rc;

/// What an address is counted from.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Root {
    /// A variable in global memory, or in a state space of 32-bit addresses.
    Variable { name: Rc<str>, space: Space },
    /// A function, or the descriptor of a kernel.
    Function(Rc<str>),
    /// The output buffer.
    Output,
    /// The stack of the thread, in `.local` space.
    Stack,
    /// Address zero of a state space of 32-bit addresses.
    Zero(Space),
    /// Where a state space begins in the generic address space.
    Window(Space),
}

/// A state space.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Space {
    Global,
    Const,
    Shared,
    Local,
}

impl Root {
    /// The state space in which it has a 32-bit address; `None` for 64-bit addresses.
    pub fn small(&self) -> Option<Space> {
        match self {
            Root::Variable { space: Space::Global, .. } => None,
            Root::Variable { space, .. } => Some(*space),
            Root::Stack => Some(Space::Local),
            Root::Zero(space) => Some(*space),
            Root::Function(_) | Root::Output | Root::Window(_) => None,
        }
    }
}

/// An address.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Symbol {
    pub root: Root,
    /// Whether it is the generic address of something that has a 32-bit address of its own.
    pub generic: bool,
    pub addend: i64,
}

impl Symbol {
    pub fn of(root: Root) -> Symbol {
        Symbol { root, generic: false, addend: 0 }
    }

    /// Whether it fits in 32 bits, so that its upper half is zero.
    pub fn is_small(&self) -> bool {
        !self.generic && self.root.small().is_some()
    }

    pub fn plus(&self, bytes: i64) -> Symbol {
        let addend = self.addend.wrapping_add(bytes);
        // A 32-bit address wraps where 32 bits end.
        let addend = if self.is_small() { i64::from(addend as i32) } else { addend };
        Symbol { addend, ..self.clone() }
    }
}

/// What a register of 32 bits holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Word {
    Known(u32),
    /// The lower half of an address, or all of a small one.
    Low(Symbol),
    /// The upper half of an address.
    High(Symbol),
    Unknown,
}

/// What a predicate holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Truth {
    Known(bool),
    /// The carry of adding a number to the lower half of an address.
    Carry(Symbol, u64),
    Unknown,
}

/// What a pair of registers holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Wide {
    Known(u64),
    Address(Symbol),
    Unknown,
}

/// The two halves as one value.
pub(super) fn wide(low: &Word, high: &Word) -> Wide {
    match (low, high) {
        (Word::Known(low), Word::Known(high)) => Wide::Known(u64::from(*high) << 32 | u64::from(*low)),
        (Word::Low(symbol), Word::Known(0)) if symbol.is_small() => Wide::Address(symbol.clone()),
        // The lower half tells the addend in its 32 bits only.
        (Word::Low(low), Word::High(high))
            if low.root == high.root
                && low.generic == high.generic
                && low.addend as u32 == high.addend as u32 =>
        {
            Wide::Address(high.clone())
        }
        _ => Wide::Unknown,
    }
}

/// A value as its two halves.
pub(super) fn halves(value: &Wide) -> (Word, Word) {
    match value {
        Wide::Known(value) => (Word::Known(*value as u32), Word::Known((value >> 32) as u32)),
        Wide::Address(symbol) if symbol.is_small() => (Word::Low(symbol.clone()), Word::Known(0)),
        Wide::Address(symbol) => (Word::Low(symbol.clone()), Word::High(symbol.clone())),
        Wide::Unknown => (Word::Unknown, Word::Unknown),
    }
}

/// One operand of a sum.
#[derive(Clone, Debug)]
pub(super) enum Term {
    Plain(Word),
    /// The word, negated.
    Minus(Word),
    /// The word, complemented.
    Not(Word),
}

/// The sum of words and carries, and its carry.
pub(super) fn sum(terms: &[Term], carries: &[Truth]) -> (Word, Truth) {
    let mut number = 0u64;
    let (mut lows, mut highs, mut carried) = (Vec::new(), Vec::new(), None);
    for term in terms {
        match term {
            Term::Plain(Word::Known(word)) => number += u64::from(*word),
            Term::Minus(Word::Known(word)) => number += (1 << 32) - u64::from(*word),
            Term::Not(Word::Known(word)) => number += u64::from(!*word),
            Term::Plain(Word::Low(symbol)) => lows.push(symbol.clone()),
            Term::Plain(Word::High(symbol)) => highs.push(symbol.clone()),
            _ => return (Word::Unknown, Truth::Unknown),
        }
    }
    for carry in carries {
        match carry {
            Truth::Known(carry) => number += u64::from(*carry),
            Truth::Carry(symbol, added) if carried.is_none() => carried = Some((symbol.clone(), *added)),
            Truth::Carry(..) | Truth::Unknown => return (Word::Unknown, Truth::Unknown),
        }
    }
    match (lows.as_slice(), highs.as_slice(), carried) {
        ([], [], None) => (Word::Known(number as u32), known_carry(number)),
        ([symbol], [], None) => (Word::Low(symbol.plus(number as i64)), Truth::Carry(symbol.clone(), number)),
        // A small address and the window of its space make the generic address.
        ([a, b], [], None) => match generic(a, b) {
            Some(symbol) => (Word::Low(symbol.plus(number as i64)), Truth::Carry(symbol, number)),
            None => (Word::Unknown, Truth::Unknown),
        },
        ([], [symbol], None) => {
            (Word::High(symbol.plus(((number as u32 as u64) << 32) as i64)), Truth::Unknown)
        }
        ([], [high], Some((low, added))) => {
            let upper = ((number as u32 as u64) << 32) as i64;
            let window = low.generic && high.root == Root::Window(low.root.small().unwrap_or(Space::Global));
            if window {
                return (Word::High(low.plus(added as i64).plus(upper)), Truth::Unknown);
            }
            let same = low.root == high.root
                && low.generic == high.generic
                && low.addend as u32 == high.addend as u32;
            if same {
                return (Word::High(high.plus(added as i64).plus(upper)), Truth::Unknown);
            }
            (Word::Unknown, Truth::Unknown)
        }
        // The upper half of a small address is zero, and stays zero unless the sum leaves the space.
        ([], [], Some((low, added))) if low.is_small() => {
            let moved = low.addend.wrapping_add(i64::from(added as i32));
            let carry = u64::from(added & 0xffff_ffff >= 1 << 31 || added >> 32 != 0);
            let word = if moved >= 0 { Word::Known((number + carry) as u32) } else { Word::Unknown };
            (word, Truth::Unknown)
        }
        _ => (Word::Unknown, Truth::Unknown),
    }
}

fn known_carry(number: u64) -> Truth {
    match number >> 32 {
        0 => Truth::Known(false),
        1 => Truth::Known(true),
        _ => Truth::Unknown,
    }
}

fn generic(a: &Symbol, b: &Symbol) -> Option<Symbol> {
    let (small, window) = if a.is_small() { (a, b) } else { (b, a) };
    let fits = small.is_small() && Root::Window(small.root.small()?) == window.root && window.addend == 0;
    fits.then(|| Symbol { generic: true, ..small.clone() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variable(space: Space) -> Symbol {
        Symbol::of(Root::Variable { name: "a".into(), space })
    }

    /// A 64-bit sum as two 32-bit ones.
    fn add(value: &Wide, number: u64) -> Wide {
        let (low, high) = halves(value);
        let plain = |word| Term::Plain(word);
        let known = |number| plain(Word::Known(number));
        let (low, carry) = sum(&[plain(low), known(number as u32)], &[]);
        let (high, _) = sum(&[plain(high), known((number >> 32) as u32)], &[carry]);
        wide(&low, &high)
    }

    #[test]
    fn a_64_bit_sum_of_two_halves_is_the_address_moved() {
        let a = variable(Space::Global);
        for moved in [4i64, -4, 1 << 31, -(1 << 31), 0xffff_fffc, i64::MIN] {
            let expected = Symbol { addend: moved, ..a.clone() };
            assert_eq!(add(&Wide::Address(a.clone()), moved as u64), Wide::Address(expected), "{moved}");
        }
        // Half a carry is no address: 2^32 was added to the lower half alone.
        let (low, high) = halves(&Wide::Address(a.clone()));
        let (low, _) = sum(&[Term::Plain(low), Term::Plain(Word::Known(0xffff_fffc))], &[]);
        assert_eq!(wide(&low, &high), Wide::Unknown);
    }

    #[test]
    fn a_small_address_stays_small() {
        let s = Symbol { addend: 8, ..variable(Space::Shared) };
        let moved = |addend| Wide::Address(Symbol { addend, ..s.clone() });
        assert_eq!(add(&Wide::Address(s.clone()), 4), moved(12));
        assert_eq!(add(&Wide::Address(s.clone()), -8i64 as u64), moved(0));
        assert_eq!(add(&Wide::Address(s.clone()), -12i64 as u64), Wide::Unknown);
    }

    #[test]
    fn a_small_address_and_its_window_are_the_generic_address() {
        let s = variable(Space::Shared);
        let window = Symbol::of(Root::Window(Space::Shared));
        let (low, carry) =
            sum(&[Term::Plain(Word::Low(s.clone())), Term::Plain(Word::Low(window.clone()))], &[]);
        let (high, _) = sum(&[Term::Plain(Word::Known(0)), Term::Plain(Word::High(window))], &[carry]);
        assert_eq!(wide(&low, &high), Wide::Address(Symbol { generic: true, ..s.clone() }));
        let other = Word::Low(Symbol::of(Root::Window(Space::Const)));
        assert_eq!(sum(&[Term::Plain(Word::Low(s)), Term::Plain(other)], &[]).0, Word::Unknown);
    }

    #[test]
    fn numbers_add_and_carry_as_numbers_do() {
        let known = |a, b| sum(&[Term::Plain(Word::Known(a)), Term::Plain(Word::Known(b))], &[]);
        assert_eq!(known(u32::MAX, 2), (Word::Known(1), Truth::Known(true)));
        assert_eq!(known(3, 4), (Word::Known(7), Truth::Known(false)));
        let minus = sum(&[Term::Plain(Word::Known(3)), Term::Minus(Word::Known(3))], &[]);
        assert_eq!(minus, (Word::Known(0), Truth::Known(true)));
    }
}
