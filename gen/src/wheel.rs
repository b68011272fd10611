//! Choosing a production with one byte.
//!
//! A wheel has 256 slots, and a byte is a turn of it: no sum of weights is walked while a program is made. One slot
//! may lead to a further wheel, which holds the productions that are rarer than one in 256.

use ptxsmith_syntax::{BinaryOp, Cast, ScalarType, StateSpace, UnaryOp};

use crate::{
    config::Config,
    grammar::{Form, GRAMMAR, Maker, Nonterminal, ProductionId, Speller, Weight, productions},
};

/// A slot that leads to the further wheel.
const RARE: u8 = u8::MAX;
const _: () =
    assert!(GRAMMAR.len() <= RARE as usize, "a slot is a byte, so that all wheels stay close at hand");

/// The least room, in nodes, of each class of room that has a wheel of its own.
const ROOMS: [u32; 7] = [0, 2, 3, 4, 5, 6, 8];

/// The class of this much room.
#[inline]
fn room_class(room: u32) -> usize {
    const CLASSES: [u8; 9] = [0, 0, 1, 2, 3, 4, 5, 5, 6];
    CLASSES[room.min(8) as usize] as usize
}

type Slots = [u8; 256];

/// The choices of one nonterminal with one class of room: a wheel, and those that each leads to further.
type Wheel = Vec<Slots>;

/// What a production is made of, in the few bytes that making it needs: a table of these stays close at hand, where
/// the table of productions with their names does not.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Step {
    Same(Nonterminal),
    Paren(Nonterminal),
    Prefix(UnaryOp, Nonterminal),
    Cast(Cast, Nonterminal),
    Infix(BinaryOp, Nonterminal, Nonterminal),
    Ternary(Nonterminal, Nonterminal, Nonterminal),
    /// And the place of the production among those of numbers.
    Number(u8, Speller),
    Made(Maker),
    OneOf(&'static [u64]),
    Type(ScalarType),
    Space(StateSpace),
    Choice(u8),
}

impl Step {
    /// `numbers` counts the productions of numbers before this one.
    fn of(form: Form, numbers: &mut u8) -> Step {
        match form {
            Form::Same(a) => Step::Same(a),
            Form::Paren(a) => Step::Paren(a),
            Form::Prefix(op, a) => Step::Prefix(op, a),
            Form::Cast(cast, a) => Step::Cast(cast, a),
            Form::Infix(op, a, b) => Step::Infix(op, a, b),
            Form::Ternary(a, b, c) => Step::Ternary(a, b, c),
            Form::Number(_, speller) => {
                *numbers += 1;
                Step::Number(*numbers - 1, speller)
            }
            Form::Made(_, _, maker) => Step::Made(maker),
            Form::OneOf(values) => Step::OneOf(values),
            Form::Type(ty) => Step::Type(ty),
            Form::Space(space) => Step::Space(space),
            Form::Choice(choice) => Step::Choice(choice),
        }
    }
}

/// The wheels of every nonterminal, and the fewest nodes that each takes.
#[derive(Clone, Debug)]
pub(crate) struct Wheels {
    /// Each wheel once, though several nonterminals and classes of room may share it: fewer stay closer at hand. Directly
    /// behind each stands that to which it leads further.
    wheels: Vec<Slots>,
    /// Which wheel a nonterminal has with each class of room.
    at: [[u16; ROOMS.len()]; Nonterminal::ALL.len()],
    least: [u32; Nonterminal::ALL.len()],
    /// By production, as many as a slot may name.
    steps: [Step; 256],
}

impl Wheels {
    /// The wheels that follow from a configuration.
    pub fn new(config: &Config) -> Wheels {
        let least = least_nodes(config);
        let closed = closed(config);
        let mut wheels: Vec<Slots> = Vec::new();
        let mut at = [[0; ROOMS.len()]; Nonterminal::ALL.len()];
        for (&of, at) in Nonterminal::ALL.iter().zip(&mut at) {
            *at = ROOMS.map(|room| {
                let wheel = wheel(&shares(config, of, room, &least, &closed));
                let place =
                    wheels.windows(wheel.len()).position(|others| *others == wheel).unwrap_or_else(|| {
                        wheels.extend(&wheel);
                        wheels.len() - wheel.len()
                    });
                u16::try_from(place).expect("there are fewer wheels")
            });
        }
        let mut steps = [Step::Choice(0); 256];
        let mut numbers = 0;
        for (step, production) in steps.iter_mut().zip(GRAMMAR) {
            *step = Step::of(production.form, &mut numbers);
        }
        Wheels { wheels, at, least, steps }
    }

    /// The fewest nodes that an expression of this nonterminal has.
    #[inline]
    pub fn least(&self, of: Nonterminal) -> u32 {
        self.least[of as usize]
    }

    /// What a production is made of.
    #[inline]
    pub fn step(&self, id: ProductionId) -> &Step {
        &self.steps[id.index()]
    }

    /// Chooses a production for this much room; `byte` gives the next byte.
    #[inline]
    pub fn choose(&self, of: Nonterminal, room: u32, mut byte: impl FnMut() -> u8) -> ProductionId {
        let mut wheel = self.at[of as usize][room_class(room)] as usize;
        loop {
            match self.wheels[wheel][byte() as usize] {
                RARE => wheel += 1,
                slot => return ProductionId(slot),
            }
        }
    }
}

/// Whether a production is part of the grammar under this configuration.
pub(crate) fn enabled(config: &Config, id: ProductionId) -> bool {
    let production = id.get();
    let share = match production.weight {
        Weight::Of(_) => true,
        Weight::Odds(odds) => odds(config).share() > 0.0,
    };
    (production.allowed)(config) && share && config.weights.get(id) > 0
}

/// The fewest nodes of each nonterminal, by repeated relaxation.
fn least_nodes(config: &Config) -> [u32; Nonterminal::ALL.len()] {
    let mut least = [u32::MAX / 4; Nonterminal::ALL.len()];
    loop {
        let mut changed = false;
        for id in productions().filter(|&id| enabled(config, id)) {
            let nodes = nodes(id, &least);
            let of = &mut least[id.get().of as usize];
            if nodes < *of {
                *of = nodes;
                changed = true;
            }
        }
        if !changed {
            return least;
        }
    }
}

/// The fewest nodes of a production. The parts of what is not an operator add nothing: its maker says how many it
/// takes.
fn nodes(id: ProductionId, least: &[u32]) -> u32 {
    let production = id.get();
    let parts = match production.form {
        Form::Made(..) | Form::Number(..) => 0,
        _ => production.parts().map(|part| least[part as usize]).fold(0, u32::saturating_add),
    };
    production.own_nodes().saturating_add(parts)
}

/// Which productions end: no expression of any size is among their parts.
fn closed(config: &Config) -> Vec<bool> {
    let mut open = vec![false; Nonterminal::ALL.len()];
    open[Nonterminal::Integer as usize] = true;
    open[Nonterminal::Float as usize] = true;
    loop {
        let mut changed = false;
        for id in productions().filter(|&id| enabled(config, id)) {
            let production = id.get();
            if !open[production.of as usize] && production.parts().any(|part| open[part as usize]) {
                open[production.of as usize] = true;
                changed = true;
            }
        }
        if !changed {
            break;
        }
    }
    productions().map(|id| !id.get().parts().any(|part| open[part as usize])).collect()
}

/// How often each production of a nonterminal is chosen with this much room. The shares add up to one.
fn shares(config: &Config, of: Nonterminal, room: u32, least: &[u32], closed: &[bool]) -> Vec<(u8, f64)> {
    let room = room.max(least[of as usize]);
    let fitting: Vec<ProductionId> = productions()
        .filter(|&id| id.get().of == of && enabled(config, id) && nodes(id, least) <= room)
        .collect();
    let weighted = |id: &ProductionId| matches!(id.get().weight, Weight::Of(_));
    let mut shares: Vec<(u8, f64)> = Vec::new();

    let odds = |id: ProductionId| match id.get().weight {
        Weight::Odds(odds) => odds(config).share(),
        Weight::Of(_) => 0.0,
    };
    let by_odds: f64 = fitting.iter().map(|&id| odds(id)).sum();
    let any_weighted = fitting.iter().any(weighted);
    // Odds that add up to more than one, or have nothing beside them, are shares of each other.
    let scale = if by_odds > 1.0 || !any_weighted { by_odds } else { 1.0 };
    let rest = 1.0 - (by_odds / scale).min(1.0);

    // With room for an operator, what ends takes the part that the knob says, whatever the weights are.
    let grows = matches!(of, Nonterminal::Integer | Nonterminal::Float);
    let sum = |ends: bool| -> f64 {
        let of_kind = fitting.iter().filter(|id| weighted(id) && closed[id.index()] == ends);
        of_kind.map(|&id| f64::from(config.weights.get(id))).sum()
    };
    let (ending, growing) = (sum(true), sum(false));
    let early = config.early_leaf.share();
    let part = |ends: bool| match (ends, grows && ending > 0.0 && growing > 0.0) {
        (_, false) => rest / (ending + growing),
        (true, true) => rest * early / ending,
        (false, true) => rest * (1.0 - early) / growing,
    };
    for &id in &fitting {
        let share = match id.get().weight {
            Weight::Odds(_) => odds(id) / scale,
            Weight::Of(_) => f64::from(config.weights.get(id)) * part(closed[id.index()]),
        };
        if share > 0.0 {
            shares.push((id.0, share));
        }
    }
    if shares.is_empty() {
        // Everything is switched off: the smallest form remains.
        let first = productions().find(|id| id.get().of == of).expect("every nonterminal has a production");
        shares.push((first.0, 1.0));
    }
    shares
}

fn wheel(shares: &[(u8, f64)]) -> Wheel {
    let (rare, common): (Vec<_>, Vec<_>) =
        shares.iter().copied().partition(|&(_, share)| share < 1.0 / 256.0);
    let rare_share: f64 = rare.iter().map(|&(_, share)| share).sum();
    let turns = (rare_share * 256.0).ceil();
    // Where most are rare, a further wheel would be no smaller.
    if rare.is_empty() || turns > 128.0 {
        return vec![slots(shares)];
    }
    let mut first = common.clone();
    first.push((RARE, turns / 256.0));
    // What is left of the slots that lead to the further wheel goes to the smallest common form, which also takes
    // byte zero.
    let mut further = Vec::new();
    let spare = 1.0 - rare_share * 256.0 / turns;
    if let (Some(&(smallest, _)), true) = (common.first(), spare > 0.0) {
        further.push((smallest, spare));
    }
    further.extend(rare.iter().map(|&(id, share)| (id, share * 256.0 / turns)));
    let mut wheels = wheel(&further);
    wheels.insert(0, slots(&first));
    wheels
}

/// Fills the slots in proportion to the shares, in order. Each share has at least one slot.
fn slots(shares: &[(u8, f64)]) -> Slots {
    let total: f64 = shares.iter().map(|&(_, share)| share).sum();
    let exact: Vec<f64> = shares.iter().map(|&(_, share)| share / total * 256.0).collect();
    let mut counts: Vec<usize> = exact.iter().map(|&e| (e as usize).max(1)).collect();
    // One slot at a time to or from whoever is furthest from its share.
    loop {
        let filled: usize = counts.iter().sum();
        let lacks = |i: &usize| exact[*i] - counts[*i] as f64;
        let by_lack = |a: &usize, b: &usize| lacks(a).total_cmp(&lacks(b));
        let at = 0..counts.len();
        let (most, fewest) = (at.clone().max_by(by_lack), at.filter(|&i| counts[i] > 1).min_by(by_lack));
        match (filled.cmp(&256), most, fewest) {
            (std::cmp::Ordering::Less, Some(i), _) => counts[i] += 1,
            (std::cmp::Ordering::Greater, _, Some(i)) => counts[i] -= 1,
            _ => break,
        }
    }
    let mut filled = shares.iter().zip(counts).flat_map(|(&(id, _), count)| std::iter::repeat_n(id, count));
    std::array::from_fn(|_| filled.next().expect("the counts add up to 256"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Odds;

    #[test]
    fn slots_follow_the_shares_and_none_is_left_out() {
        let slots = slots(&[(1, 0.5), (2, 0.4999), (3, 0.0001)]);
        let count = |id| slots.iter().filter(|&&s| s == id).count();
        assert_eq!((count(1), count(2), count(3)), (128, 127, 1));
    }

    #[test]
    fn byte_zero_chooses_the_first_production_of_each_nonterminal_that_has_a_weight() {
        let wheels = Wheels::new(&Config::default());
        for &of in Nonterminal::ALL {
            let chosen = wheels.choose(of, 0, || 0);
            let first = productions().find(|id| id.get().of == of).unwrap();
            assert_eq!(chosen.get().name, first.get().name);
        }
    }

    #[test]
    fn odds_of_a_hazard_are_kept_within_a_fifth() {
        let config = Config { division_by_zero: Odds::new(1, 1000), ..Config::default() };
        let wheels = Wheels::new(&config);
        let zero = crate::Production::by_name("divisor/zero").unwrap();
        let mut hits = 0;
        for first in 0..=255u8 {
            for second in 0..=255u8 {
                let mut bytes = [first, second].into_iter();
                let chosen = wheels.choose(Nonterminal::Divisor, 10, || bytes.next().unwrap());
                hits += u32::from(chosen == zero);
            }
        }
        assert!((52..=79).contains(&hits), "{hits} of 65536");
    }

    #[test]
    fn what_is_rarer_than_two_bytes_tell_has_a_third() {
        let wheel = wheel(&[(1, 0.9), (2, 0.1 - 1e-6), (3, 1e-6)]);
        let of = |wheel: &Slots, slot| wheel.iter().filter(|&&s| s == slot).count() as f64 / 256.0;
        assert_eq!(wheel.len(), 3);
        let share = of(&wheel[0], RARE) * of(&wheel[1], RARE) * of(&wheel[2], 3);
        assert!((0.8e-6..1.2e-6).contains(&share), "{share}");
    }

    #[test]
    fn odds_of_never_switch_a_production_off() {
        let config = Config { division_by_zero: Odds::NEVER, ..Config::default() };
        assert!(!enabled(&config, crate::Production::by_name("divisor/zero").unwrap()));
    }

    #[test]
    fn every_configuration_leaves_each_nonterminal_a_choice() {
        use arbitrary::{Arbitrary, Unstructured};
        for seed in 0..200 {
            let mut bytes = [0; 512];
            crate::stream::case_bytes(seed, 0, &mut bytes);
            let config = Config::arbitrary(&mut Unstructured::new(&bytes)).unwrap();
            let wheels = Wheels::new(&config);
            for &of in Nonterminal::ALL {
                for room in ROOMS {
                    assert_eq!(wheels.choose(of, room, || 200).get().of, of);
                }
            }
        }
    }
}
