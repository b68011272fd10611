//! Converts between symbolic addresses and memory bytes.
//!
//! A subject that reads memory instead of relocations reports the address of each variable
//! ([`Variable::base`](crate::Variable::base)) and its raw bytes. A number does not always determine the
//! symbol that it was made from: one past the end of a variable is often the start of the next. So an
//! expectation is converted to memory ([`memory`]) and compared as bytes. The reverse direction, from a
//! number to symbol and addend ([`owner`]), serves only for messages, where exactly one variable holds the
//! number.

/// An address that a variable is expected to hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeldAddress<'a> {
    /// Byte offset within the variable.
    pub offset: u64,
    /// Size of the slot in bytes.
    pub width: u8,
    /// Name of the variable or function.
    pub symbol: &'a str,
    /// Bytes added to the address.
    pub addend: i64,
    /// Number of low bits of the sum that are known; 64 for all.
    pub bits: u32,
    /// The selected byte of the address (0 is the lowest); `None` for the whole address.
    pub byte: Option<u8>,
}

/// Returns the expected memory of a variable from its bytes and addresses. A byte is `None` if it is unknown:
/// it belongs to an address of a symbol without a known base.
///
/// A slot that reaches past the end is cut off there. Earlier slots overwrite later ones, as the driver's
/// loader does: ptxas lists the slots of a variable from its end (driver 580.159.04, ptxas 12.9 and 13.5).
pub fn memory<'a>(
    bytes: &[u8],
    slots: impl DoubleEndedIterator<Item = HeldAddress<'a>>,
    base_of: impl Fn(&str) -> Option<u64>,
) -> Vec<Option<u8>> {
    let mut memory: Vec<Option<u8>> = bytes.iter().copied().map(Some).collect();
    for slot in slots.rev() {
        let value = base_of(slot.symbol).map(|base| base.wrapping_add_signed(slot.addend));
        for index in 0..slot.width {
            let which = slot.byte.unwrap_or(index);
            let Some(place) = usize::try_from(slot.offset)
                .ok()
                .and_then(|offset| offset.checked_add(usize::from(index)))
                .and_then(|place| memory.get_mut(place))
            else {
                break;
            };
            let known = u32::from(which) * 8 + 8 <= slot.bits;
            *place = value.filter(|_| known).map(|value| (value >> (u32::from(which.min(7)) * 8)) as u8);
        }
    }
    memory
}

/// Returns the variable that contains an address (or ends at it) and the offset, if exactly one does.
/// `variables` are name, base and size of each. A variable that contains the address has precedence over one
/// that ends there.
pub fn owner<'a>(
    value: u64,
    variables: impl IntoIterator<Item = (&'a str, u64, u64)>,
) -> Option<(&'a str, i64)> {
    let mut inside = Vec::new();
    let mut behind = Vec::new();
    for (name, base, size) in variables {
        match value.checked_sub(base) {
            Some(offset) if offset < size => inside.push((name, offset as i64)),
            Some(offset) if offset == size => behind.push((name, offset as i64)),
            _ => {}
        }
    }
    let owners = if inside.is_empty() { behind } else { inside };
    // Two names at the same address are one variable.
    let is_unique = owners.windows(2).all(|pair| pair[0].1 == pair[1].1);
    owners.first().copied().filter(|_| is_unique)
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: HeldAddress<'_> =
        HeldAddress { offset: 0, width: 8, symbol: "g", addend: 4, bits: 64, byte: None };

    fn base_of(symbol: &str) -> Option<u64> {
        (symbol == "g").then_some(0x0102_0304_0506_0708)
    }

    fn known(memory: &[Option<u8>]) -> Vec<u8> {
        memory.iter().map(|byte| byte.unwrap()).collect()
    }

    #[test]
    fn an_address_is_written_lowest_byte_first() {
        assert_eq!(known(&memory(&[0; 8], [WHOLE].into_iter(), base_of)), [0x0c, 7, 6, 5, 4, 3, 2, 1]);
    }

    #[test]
    fn a_slot_is_cut_off_at_the_end_of_the_variable() {
        assert_eq!(
            known(&memory(&[9; 5], [HeldAddress { offset: 2, ..WHOLE }].into_iter(), base_of)),
            [9, 9, 0x0c, 7, 6]
        );
        assert_eq!(
            known(&memory(&[9], [HeldAddress { offset: u64::MAX, ..WHOLE }].into_iter(), base_of)),
            [9]
        );
    }

    #[test]
    fn of_two_that_overlap_the_earlier_one_is_whole() {
        let slots = [HeldAddress { addend: 0, ..WHOLE }, HeldAddress { offset: 4, addend: 0, ..WHOLE }];
        assert_eq!(
            known(&memory(&[0; 12], slots.into_iter(), base_of)),
            [8, 7, 6, 5, 4, 3, 2, 1, 4, 3, 2, 1]
        );
    }

    #[test]
    fn a_mask_takes_one_byte() {
        let slot = HeldAddress { offset: 1, width: 1, byte: Some(7), ..WHOLE };
        assert_eq!(known(&memory(&[9; 3], [slot].into_iter(), base_of)), [9, 1, 9]);
    }

    #[test]
    fn nothing_is_said_of_what_has_no_base_or_is_not_told() {
        let unknown = memory(&[9; 9], [HeldAddress { symbol: "f", ..WHOLE }].into_iter(), base_of);
        assert_eq!((unknown[0], unknown[7], unknown[8]), (None, None, Some(9)));
        let low = memory(&[0; 8], [HeldAddress { bits: 32, ..WHOLE }].into_iter(), base_of);
        assert_eq!((low[3], low[4]), (Some(5), None));
    }

    #[test]
    fn a_number_belongs_to_the_only_variable_that_holds_it() {
        let variables = [("a", 100, 8), ("b", 108, 4), ("c", 200, 8), ("alias", 200, 2), ("inner", 204, 2)];
        assert_eq!(owner(104, variables), Some(("a", 4)));
        assert_eq!(owner(108, variables), Some(("b", 0)), "not the end of a");
        assert_eq!(owner(112, variables), Some(("b", 4)));
        assert_eq!(owner(201, variables), Some(("c", 1)), "two names of one place");
        assert_eq!(owner(205, variables), None, "two hold it at different offsets");
        assert_eq!(owner(99, variables), None);
    }
}
