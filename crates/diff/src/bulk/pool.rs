//! A pool of constants that expressions share. Each constant is printed and evaluated once.

use ptxsmith_oracle::{Rules, Step, Trace, Value};
use ptxsmith_syntax::{PoolConstant, Span};

/// The maximum length of a stored constant. Only long binary numbers exceed it; they are rare, and entries
/// should be small.
pub(super) const LONGEST: usize = 32;

/// The constants that were needed so far.
pub(super) struct ConstantPool<'r> {
    rules: &'r Rules,
    /// Indexed by place. An entry may belong to another pool of constants.
    kept: Vec<Option<Constant>>,
}

/// The text and the value of a constant.
pub(super) struct Constant {
    constant: PoolConstant,
    /// The number, padded with zero bytes.
    pub text: [u8; LONGEST],
    pub length: usize,
    pub value: Value,
    /// The clauses and questions that the value rests on.
    pub trace: Trace,
}

impl<'r> ConstantPool<'r> {
    /// Creates an empty pool. These rules evaluate its constants.
    pub fn new(rules: &'r Rules) -> ConstantPool<'r> {
        ConstantPool { rules, kept: Vec::new() }
    }

    /// Returns a stored constant.
    #[inline]
    pub fn get(&self, constant: PoolConstant) -> Option<&Constant> {
        let kept = self.kept.get(usize::from(constant.place))?.as_ref();
        kept.filter(|kept| kept.constant == constant)
    }

    /// Stores a constant with this spelling, unless it is too long or has no value.
    pub fn keep(&mut self, constant: PoolConstant, number: &[u8]) {
        let (mut trace, mut pending) = (Trace::default(), None);
        let readings = &self.rules.readings;
        let mut step = Step { readings, trace: &mut trace, span: Span::NONE, pending: &mut pending };
        let value = self.rules.expressions.number.apply(&mut step, number);
        let mut text = [0; LONGEST];
        let (Ok(value), None, Some(room)) = (value, pending, text.get_mut(..number.len())) else { return };
        room.copy_from_slice(number);
        let place = usize::from(constant.place);
        if self.kept.len() <= place {
            self.kept.resize_with(place + 1, || None);
        }
        self.kept[place] = Some(Constant { constant, text, length: number.len(), value, trace });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_constant_is_kept_until_another_takes_its_place_and_a_long_one_is_not() {
        let rules = Rules::default();
        let mut pool = ConstantPool::new(&rules);
        let [one, other] = [0, 1].map(|number| PoolConstant { pool: (7, number), place: 3 });
        let text = |pool: &ConstantPool<'_>, constant| {
            pool.get(constant).map(|kept| String::from_utf8_lossy(&kept.text[..kept.length]).into_owned())
        };
        pool.keep(one, b"0x10");
        assert_eq!((text(&pool, one).as_deref(), text(&pool, other)), (Some("0x10"), None));
        pool.keep(other, b"5");
        assert_eq!((text(&pool, one), text(&pool, other).as_deref()), (None, Some("5")));
        pool.keep(one, &[b'1'; LONGEST + 1]);
        assert_eq!(text(&pool, one), None);
        pool.keep(one, b"08");
        assert_eq!(text(&pool, one), None);
    }
}
