//! Generated programs by number, as trials.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex};

use ptxsmith_diff::{Body, Header, Trial};
use ptxsmith_gen::{Case, CaseId, Config, Coverage, Enumeration, Focus, Generator, Weights};
use ptxsmith_subject::OutputForm;
use ptxsmith_syntax::{Assemble, ScalarType, StateSpace};

use crate::failure::Failure;
use crate::input::read_text;
use crate::pool::lock_of;

/// What a case is made into: what is shown, under which header, and beside what.
pub struct Made {
    /// What is judged.
    pub trial: Trial,
    /// The header that it needs, where that is not the usual one.
    pub header: Option<Header>,
    /// Of a program that must be refused, its valid counterpart, with the header that that one needs.
    pub counterpart: Option<Box<(Trial, Option<Header>)>>,
    /// The form of output that shows what it holds.
    pub form: OutputForm,
    /// Whether it is a kernel, which is judged by what it leaves in its output buffer.
    pub kernel: bool,
}

impl Made {
    /// A program that needs nothing else beside it.
    pub fn of(trial: Trial, form: OutputForm) -> Made {
        Made { trial, header: None, counterpart: None, form, kernel: false }
    }

    /// What is shown of it, or of its valid counterpart, and under which header where the usual one is this.
    ///
    /// # Panics
    /// If the valid counterpart is asked for of a case that has none.
    pub fn shown<'m>(&'m self, counterpart: bool, usual: &'m Header) -> (&'m Trial, &'m Header) {
        let (trial, header) = match (counterpart, self.counterpart.as_deref()) {
            (false, _) => (&self.trial, &self.header),
            (true, Some((trial, header))) => (trial, header),
            (true, None) => panic!("the counterpart is asked for of a case that has none"),
        };
        (trial, header.as_ref().unwrap_or(usual))
    }
}

/// Where cases come from.
enum Source {
    Drawn(Box<Drawn>),
    Listed(Enumeration),
}

struct Drawn {
    generator: Arc<Generator>,
    /// What needs a later version and target than the usual header states is made by this one only.
    wide: Arc<Generator>,
    focus: Focus,
    seed: u64,
    /// Of the blocks of cases that have a feature set of their own, those that were last asked for. None where the user chose the
    /// weights, and for expressions alone, of which millions are made with numbers in common.
    featured: Option<Mutex<Blocks>>,
}

/// The generators of blocks, by their numbers, with and without what needs a later version and target.
type Blocks = BTreeMap<(u64, bool), Arc<Generator>>;

/// How many cases in a row have a feature set in common. Every second block has all features.
pub const BLOCK: u64 = 250;
/// How many blocks are remembered.
const MOST_BLOCKS: usize = 16;

impl Drawn {
    /// What makes a case.
    fn generator_of(&self, index: u64, wide: bool) -> Arc<Generator> {
        let block = index / BLOCK;
        let usual = if wide { &self.wide } else { &self.generator };
        let Some(featured) = self.featured.as_ref().filter(|_| {
            // The edits take turns, so that each is made.
            !block.is_multiple_of(2) && self.focus.of(index) != Focus::Negatives
        }) else {
            return Arc::clone(usual);
        };
        let mut featured = lock_of(featured);
        if featured.len() >= MOST_BLOCKS && !featured.contains_key(&(block, wide)) {
            featured.pop_first();
        }
        let made =
            featured.entry((block, wide)).or_insert_with(|| Arc::new(usual.featuring(self.seed, block)));
        Arc::clone(made)
    }
}

/// The cases of a run. Any of them can be made without the others, on any thread.
pub struct Cases {
    source: Source,
}

/// The version and target that every production of the grammar can do with.
pub fn wide_header() -> Header {
    Header { version: "8.3".into(), target: "sm_90".into(), ..Header::default() }
}

/// The generator of a campaign with these options.
pub fn generator_of(options: &BTreeMap<String, String>, wide: bool) -> Result<Generator, Failure> {
    if options.contains_key("exhaustive") {
        return Ok(Generator::default());
    }
    let weights = options.get("weights").map(|text| parse_weights(text)).transpose();
    Ok(Cases::drawn(0, Focus::Mixed, weights.map_err(Failure::BadInput)?).generator(wide))
}

impl Cases {
    /// Cases drawn from a seed, with other weights than the usual ones if any are given.
    pub fn drawn(seed: u64, focus: Focus, weights: Option<Weights>) -> Cases {
        let knobs = if focus == Focus::Expressions { Config::bulk() } else { Config::default() };
        let featured = (weights.is_none() && focus != Focus::Expressions).then(Mutex::default);
        let weights = weights.unwrap_or_else(|| knobs.weights.clone());
        let config = Config { weights, operands: focus == Focus::Operands, ..knobs };
        let wide = Config { unified: true, b128: true, ..config.clone() };
        let [generator, wide] = [config, wide].map(|config| Arc::new(Generator::new(config)));
        Cases { source: Source::Drawn(Box::new(Drawn { generator, wide, focus, seed, featured })) }
    }

    /// Every small program.
    pub fn listed(depth: u32) -> Cases {
        Cases { source: Source::Listed(Enumeration::new(depth)) }
    }

    /// How many there are; `None` where there is no end.
    pub fn count(&self) -> Option<u64> {
        match &self.source {
            Source::Drawn(_) => None,
            Source::Listed(all) => Some(all.count()),
        }
    }

    /// The generator with the most productions that these cases are made by.
    pub fn generator(&self, wide: bool) -> Generator {
        match &self.source {
            Source::Drawn(drawn) if wide => Generator::clone(&drawn.wide),
            Source::Drawn(drawn) => Generator::clone(&drawn.generator),
            Source::Listed(_) => Generator::default(),
        }
    }

    /// One case as the generator makes it. `wide` asks for what needs [`wide_header`].
    ///
    /// # Panics
    /// Behind the last case.
    pub fn case(&self, index: u64, wide: bool, coverage: &mut Coverage) -> Case {
        match &self.source {
            Source::Drawn(drawn) => {
                drawn.generator_of(index, wide).case(drawn.focus, drawn.seed, index, coverage)
            }
            Source::Listed(all) => all.case(index).expect("a case is asked for that there is"),
        }
    }

    /// Whether all cases are expressions, which can be judged in bulk.
    pub fn are_expressions(&self) -> bool {
        matches!(&self.source, Source::Drawn(drawn) if drawn.focus == Focus::Expressions)
    }

    /// The nodes of one expression, its type and its state space; nothing of one that is spaced oddly.
    ///
    /// # Panics
    /// If not all cases are expressions.
    pub fn assemble(
        &self,
        index: u64,
        wide: bool,
        coverage: &mut Coverage,
        into: &mut dyn Assemble,
    ) -> Option<(ScalarType, StateSpace)> {
        let Source::Drawn(drawn) = &self.source else { panic!("only what is drawn can be assembled") };
        let generator = if wide { &drawn.wide } else { &drawn.generator };
        generator.assemble_case(CaseId { seed: drawn.seed, index }, coverage, into)
    }

    /// One case as it is judged.
    pub fn made(&self, index: u64, wide: bool, coverage: &mut Coverage) -> Made {
        let Case { body, spacing, .. } = self.case(index, wide, coverage);
        let trial = |body| Trial { id: index, body, spacing };
        let (executable, relocatable) = (OutputForm::Executable, OutputForm::Relocatable);
        let made = |body, form| Made::of(trial(body), form);
        match body {
            ptxsmith_gen::Body::Expression { ty, space, expr } => {
                made(Body::Expression { ty, space, expr }, executable)
            }
            ptxsmith_gen::Body::Contexts(items) => made(Body::Contexts(items), executable),
            ptxsmith_gen::Body::Items(items) => {
                let of_addresses = wide || self.focus_of(index) == Some(Focus::Addresses);
                made(Body::Items(items), if of_addresses { relocatable } else { executable })
            }
            ptxsmith_gen::Body::Kernel(items) => {
                Made { kernel: true, ..made(Body::Items(items), relocatable) }
            }
            ptxsmith_gen::Body::Negative(negative) => {
                let counterpart = (trial(Body::Items(negative.counterpart)), negative.counterpart_header);
                let broken = made(Body::Items(negative.broken), relocatable);
                Made { header: negative.header, counterpart: Some(Box::new(counterpart)), ..broken }
            }
        }
    }

    fn focus_of(&self, index: u64) -> Option<Focus> {
        match &self.source {
            Source::Drawn(drawn) => Some(drawn.focus.of(index)),
            Source::Listed(_) => None,
        }
    }
}

/// The weights that a file states, and its text: a line a production, `NAME = WEIGHT`; `#` begins a comment.
///
/// # Errors
/// If the file cannot be read, or a line is none of that form, names no production or no number from 0 to 65535.
pub fn weights(path: &Path) -> Result<(Weights, String), Failure> {
    let shown = path.display();
    let (_, text) = read_text(path)?;
    match parse_weights(&text) {
        Ok(weights) => Ok((weights, text)),
        Err(message) => Err(Failure::BadInput(format!("{shown}, {message}"))),
    }
}

fn parse_weights(text: &str) -> Result<Weights, String> {
    let mut weights = Weights::default();
    for (number, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or("").trim();
        if line.is_empty() {
            continue;
        }
        let at = |message: String| format!("line {}: {message}", number + 1);
        let (name, weight) =
            line.split_once('=').ok_or_else(|| at(format!("write NAME = WEIGHT instead of `{line}`")))?;
        let weight = weight.trim().parse().map_err(|error| at(format!("`{}`: {error}", weight.trim())))?;
        weights
            .set_by_name(name.trim(), weight)
            .map_err(|error| at(format!("{error}; `ptxsmith gen --grammar` lists them")))?;
    }
    Ok(weights)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ptxsmith_gen::Production;

    #[test]
    fn weights_are_lines_of_name_and_number() {
        let weights = parse_weights("# more sums\ninteger/add = 50 # often\n\ninteger/less=0\n").unwrap();
        let of = |name| weights.get(Production::by_name(name).unwrap());
        assert_eq!((of("integer/add"), of("integer/less")), (50, 0));
        assert_eq!(of("integer/xor"), Weights::default().get(Production::by_name("integer/xor").unwrap()));
    }

    #[test]
    fn a_line_that_is_no_weight_is_named() {
        for (text, message) in [
            ("\ninteger/add 5", "line 2: write NAME = WEIGHT"),
            ("integer/ad = 5", "line 1: no production is named `integer/ad`"),
            ("integer/add = -1", "line 1: `-1`"),
            ("integer/add = 70000", "line 1: `70000`"),
        ] {
            let error = parse_weights(text).unwrap_err();
            assert!(error.starts_with(message), "{error}");
        }
    }
}
