//! Computes the probability of each production under a configuration.

use crate::{
    config::Config,
    draft::Expansion,
    grammar::{Nonterminal, Production, ProductionId, Weight, productions},
    sampler::Shares,
    weights::{UnknownProduction, Weights},
};

impl Weights {
    /// Returns the weight of a production: the weight in the grammar table, unless it was changed.
    pub fn get(&self, production: ProductionId) -> u16 {
        self.changed(production).unwrap_or(match production.get().weight {
            Weight::Of(weight) => weight,
            Weight::Odds(_) => 1,
        })
    }

    /// Changes the weight of a production.
    ///
    /// The first production of a nonterminal has a weight of at least 1.
    pub fn set(&mut self, production: ProductionId, weight: u16) {
        self.change(production, weight.max(production.is_first().into()));
    }

    /// Changes the weight of the production with this name.
    ///
    /// # Errors
    /// If there is no production of this name.
    pub fn set_by_name(&mut self, name: &str, weight: u16) -> Result<(), UnknownProduction> {
        let production = Production::by_name(name).ok_or_else(|| UnknownProduction(name.to_owned()))?;
        self.set(production, weight);
        Ok(())
    }
}

/// Returns true if the configuration enables a production.
pub(crate) fn enabled(config: &Config, id: ProductionId) -> bool {
    let production = id.get();
    let share = match production.weight {
        Weight::Of(_) => true,
        Weight::Odds(odds) => odds(config).share() > 0.0,
    };
    (production.allowed)(config) && share && config.weights.get(id) > 0
}

/// Computes the minimum number of nodes of each nonterminal by repeated relaxation.
pub(crate) fn least_nodes(config: &Config) -> [u32; Nonterminal::ALL.len()] {
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

/// Returns the minimum number of nodes of a production. The minimum of a form with its own maker already includes the parts.
fn nodes(id: ProductionId, least: &[u32]) -> u32 {
    let production = id.get();
    let parts = match production.form {
        Expansion::Made(..) | Expansion::Number(..) | Expansion::Piece(..) => 0,
        _ => production.parts().map(|part| least[part as usize]).fold(0, u32::saturating_add),
    };
    production.own_nodes().saturating_add(parts)
}

/// Returns which productions are closed: none of their parts can be an expression of any size.
pub(crate) fn closed(config: &Config) -> Vec<bool> {
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

fn is_weighted(id: ProductionId) -> bool {
    matches!(id.get().weight, Weight::Of(_))
}

/// Returns the share of a production that is chosen by odds; zero for a weighted production.
fn odds_share(id: ProductionId, config: &Config) -> f64 {
    match id.get().weight {
        Weight::Odds(odds) => odds(config).share(),
        Weight::Of(_) => 0.0,
    }
}

/// Computes how often each production of a nonterminal is chosen under this node limit. The shares add up to 1.
pub(crate) fn shares(config: &Config, of: Nonterminal, room: u32, least: &[u32], closed: &[bool]) -> Shares {
    let room = room.max(least[of as usize]);
    let fitting: Vec<ProductionId> = productions()
        .filter(|&id| id.get().of == of && enabled(config, id) && nodes(id, least) <= room)
        .collect();
    let mut shares = Shares::new();

    let by_odds: f64 = fitting.iter().map(|&id| odds_share(id, config)).sum();
    let any_weighted = fitting.iter().any(|&id| is_weighted(id));
    // If the odds add up to more than 1, or there is no weighted production, normalize them.
    let scale = if by_odds > 1.0 || !any_weighted { by_odds } else { 1.0 };
    let rest = 1.0 - (by_odds / scale).min(1.0);

    // If an operator fits, the knob `early_leaf` determines the total share of closed productions, independent of weights.
    let grows = matches!(of, Nonterminal::Integer | Nonterminal::Float);
    let weighted = fitting.iter().copied().filter(|&id| is_weighted(id));
    let (ending, growing): (Vec<ProductionId>, Vec<ProductionId>) =
        weighted.partition(|id| closed[id.index()]);
    let ending: f64 = ending.into_iter().map(|id| f64::from(config.weights.get(id))).sum();
    let growing: f64 = growing.into_iter().map(|id| f64::from(config.weights.get(id))).sum();
    // The shares per weight of closed productions and of the others.
    let early = config.early_leaf.share();
    let (ending, growing) = if grows && ending > 0.0 && growing > 0.0 {
        (rest * early / ending, rest * (1.0 - early) / growing)
    } else {
        (rest / (ending + growing), rest / (ending + growing))
    };
    for &id in &fitting {
        let share = match id.get().weight {
            Weight::Odds(_) => odds_share(id, config) / scale,
            Weight::Of(_) => {
                let per_weight = if closed[id.index()] { ending } else { growing };
                f64::from(config.weights.get(id)) * per_weight
            }
        };
        if share > 0.0 {
            shares.push((id, share));
        }
    }
    if shares.is_empty() {
        // All productions are disabled: use the smallest form.
        let first = productions().find(|id| id.get().of == of).expect("every nonterminal has a production");
        shares.push((first, 1.0));
    }
    shares
}
