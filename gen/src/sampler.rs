//! Chooses a production with one byte.
//!
//! A table has 256 slots, filled with productions in proportion to their shares. A byte selects a slot, so no weights are summed
//! while a program is generated. Some slots may lead to a further table with the productions that are rarer than 1 in 256.

use crate::nonterminal::{Nonterminal, ProductionId};

/// A slot that leads to the further table.
const RARE: u16 = ProductionId::NONE.0;

/// The smallest node limit of each class of node limits. Each class has its own tables.
pub(crate) const ROOMS: [u32; 7] = [0, 2, 3, 4, 5, 6, 8];

/// Returns the class of a node limit.
#[inline]
fn room_class(room: u32) -> usize {
    const CLASSES: [u8; 9] = [0, 0, 1, 2, 3, 4, 5, 5, 6];
    CLASSES[room.min(8) as usize] as usize
}

type Slots = [u16; 256];

/// Productions with their probabilities, which add up to 1.
pub(crate) type Shares = Vec<(ProductionId, f64)>;

/// Maps bytes to productions.
#[derive(Clone, Debug)]
pub(crate) struct Sampler {
    /// The distinct tables. Nonterminals and classes with equal tables share them, so that fewer tables compete for the cache.
    /// The further table that a table leads to follows directly.
    tables: Vec<Slots>,
    /// The index of the table for each nonterminal and class.
    at: [[u16; ROOMS.len()]; Nonterminal::ALL.len()],
}

impl Sampler {
    /// Creates a sampler. `shares` returns the shares of a nonterminal's productions under a node limit.
    pub fn new(shares: impl Fn(Nonterminal, u32) -> Shares) -> Sampler {
        let mut tables: Vec<Slots> = Vec::new();
        let mut at = [[0; ROOMS.len()]; Nonterminal::ALL.len()];
        for (&of, at) in Nonterminal::ALL.iter().zip(&mut at) {
            *at = ROOMS.map(|room| {
                let own = tables_of(&shares(of, room));
                let place =
                    tables.windows(own.len()).position(|others| *others == own).unwrap_or_else(|| {
                        tables.extend(&own);
                        tables.len() - own.len()
                    });
                u16::try_from(place).expect("there are fewer tables")
            });
        }
        Sampler { tables, at }
    }

    /// Chooses a production under a node limit. `byte` returns the next byte.
    #[inline]
    pub fn choose(&self, of: Nonterminal, room: u32, mut byte: impl FnMut() -> u8) -> ProductionId {
        let mut table = self.at[of as usize][room_class(room)] as usize;
        loop {
            match self.tables[table][byte() as usize] {
                RARE => table += 1,
                slot => return ProductionId(slot),
            }
        }
    }
}

/// Computes the table for these shares, followed by the further tables that it leads to.
fn tables_of(shares: &[(ProductionId, f64)]) -> Vec<Slots> {
    let (rare, common): (Vec<_>, Vec<_>) =
        shares.iter().copied().partition(|&(_, share)| share < 1.0 / 256.0);
    let rare_share: f64 = rare.iter().map(|&(_, share)| share).sum();
    let leading = (rare_share * 256.0).ceil();
    // If most of the share belongs to rare productions, a further table would be no smaller.
    if rare.is_empty() || leading > 128.0 {
        return vec![slots(shares)];
    }
    let mut first = common.clone();
    first.push((ProductionId::NONE, leading / 256.0));
    // The number of slots that lead to the further table is rounded up. The excess goes to the smallest common form, which is
    // also at byte zero of the further table.
    let mut further = Vec::new();
    let spare = 1.0 - rare_share * 256.0 / leading;
    if let (Some(&(smallest, _)), true) = (common.first(), spare > 0.0) {
        further.push((smallest, spare));
    }
    further.extend(rare.iter().map(|&(id, share)| (id, share * 256.0 / leading)));
    let mut tables = tables_of(&further);
    tables.insert(0, slots(&first));
    tables
}

/// Fills the slots in proportion to the shares, in order. Each share has at least one slot.
fn slots(shares: &[(ProductionId, f64)]) -> Slots {
    let total: f64 = shares.iter().map(|&(_, share)| share).sum();
    let exact: Vec<f64> = shares.iter().map(|&(_, share)| share / total * 256.0).collect();
    let mut counts: Vec<usize> = exact.iter().map(|&e| (e as usize).max(1)).collect();
    // Add or remove one slot at a time, at the production furthest from its share.
    loop {
        let filled: usize = counts.iter().sum();
        let missing: Vec<f64> =
            exact.iter().zip(&counts).map(|(exact, &count)| exact - count as f64).collect();
        let places = 0..counts.len();
        if filled < 256 {
            let Some(most) = places.max_by(|&a, &b| missing[a].total_cmp(&missing[b])) else { break };
            counts[most] += 1;
        } else if filled > 256 {
            let reducible = places.filter(|&place| counts[place] > 1);
            let Some(least) = reducible.min_by(|&a, &b| missing[a].total_cmp(&missing[b])) else { break };
            counts[least] -= 1;
        } else {
            break;
        }
    }
    let mut filled = shares.iter().zip(counts).flat_map(|(&(id, _), count)| std::iter::repeat_n(id.0, count));
    std::array::from_fn(|_| filled.next().expect("the counts add up to 256"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shares(of: &[(u16, f64)]) -> Shares {
        of.iter().map(|&(id, share)| (ProductionId(id), share)).collect()
    }

    #[test]
    fn slots_follow_the_shares_and_none_is_left_out() {
        let slots = slots(&shares(&[(1, 0.5), (2, 0.4999), (3, 0.0001)]));
        let count = |id| slots.iter().filter(|&&s| s == id).count();
        assert_eq!((count(1), count(2), count(3)), (128, 127, 1));
    }

    #[test]
    fn rare_productions_use_a_third_byte() {
        let tables = tables_of(&shares(&[(1, 0.9), (2, 0.1 - 1e-6), (3, 1e-6)]));
        let of = |table: &Slots, slot| table.iter().filter(|&&s| s == slot).count() as f64 / 256.0;
        assert_eq!(tables.len(), 3);
        let share = of(&tables[0], RARE) * of(&tables[1], RARE) * of(&tables[2], 3);
        assert!((0.8e-6..1.2e-6).contains(&share), "{share}");
    }
}
