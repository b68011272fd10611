//! Constants that expressions have in common, each written and read once.

use ptxsmith_oracle::{Rules, Step, Trace, Value};
use ptxsmith_syntax::{PoolConstant, Span};

/// Room for all but the longest binary numbers. Those are rare, and what is kept should be small.
pub(super) const LONGEST: usize = 32;

/// The constants of a pool, as far as any of them was needed.
pub(super) struct ConstantPool<'r> {
    rules: &'r Rules,
    /// By place. What is kept there may be of another pool.
    kept: Vec<Option<Constant>>,
}

/// A constant as it is written, and what it stands for.
pub(super) struct Constant {
    constant: PoolConstant,
    /// Zeros stand behind the number.
    pub text: [u8; LONGEST],
    pub length: usize,
    pub value: Value,
    /// What reading it rests on.
    pub trace: Trace,
}

impl<'r> ConstantPool<'r> {
    /// No constants yet; they are read under these rules.
    pub fn new(rules: &'r Rules) -> ConstantPool<'r> {
        ConstantPool { rules, kept: Vec::new() }
    }

    /// A constant that was kept.
    #[inline]
    pub fn get(&self, constant: PoolConstant) -> Option<&Constant> {
        let kept = self.kept.get(usize::from(constant.place))?.as_ref();
        kept.filter(|kept| kept.constant == constant)
    }

    /// Keeps a constant that is written so, unless it is long or has no value.
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
