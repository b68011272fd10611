//! Creates generated programs by number, as trials.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Arc, Mutex};

use ptxsmith_diff::{Header, Trial, TrialBody};
use ptxsmith_gen::{Case, CaseId, Config, Coverage, Enumeration, Focus, Generator, Weights};
use ptxsmith_oracle::{Interpretation, Question};
use ptxsmith_subject::OutputForm;
use ptxsmith_syntax::{Assemble, ScalarType, StateSpace};

use crate::failure::Failure;
use crate::input::read_text;
use crate::pool::lock_of;

/// A case ready to be judged, with its header and its valid counterpart.
pub struct GeneratedCase {
    /// The trial to judge.
    pub trial: Trial,
    /// The header that it needs, if not the usual one.
    pub header: Option<Header>,
    /// For an invalid program, its valid counterpart with the header that it needs.
    pub counterpart: Option<Box<(Trial, Option<Header>)>>,
    /// The output form that shows its contents.
    pub form: OutputForm,
    /// Whether it is a kernel, which is judged by the contents of its output buffer.
    pub kernel: bool,
}

impl GeneratedCase {
    /// Creates a case with the usual header and no counterpart.
    pub fn new(trial: Trial, form: OutputForm) -> GeneratedCase {
        GeneratedCase { trial, header: None, counterpart: None, form, kernel: false }
    }

    /// Returns the trial or its valid counterpart, with its header or else `usual`.
    ///
    /// # Panics
    /// If the case has no valid counterpart and it is requested.
    pub fn trial_and_header<'m>(&'m self, counterpart: bool, usual: &'m Header) -> (&'m Trial, &'m Header) {
        let (trial, header) = match (counterpart, self.counterpart.as_deref()) {
            (false, _) => (&self.trial, &self.header),
            (true, Some((trial, header))) => (trial, header),
            (true, None) => panic!("the counterpart is asked for of a case that has none"),
        };
        (trial, header.as_ref().unwrap_or(usual))
    }
}

/// The source of cases.
enum CaseStream {
    Random(Box<RandomCases>),
    Enumerated(Enumeration),
}

struct RandomCases {
    generator: Arc<Generator>,
    /// The generator for cases that may use a later PTX version and target than the usual header.
    wide: Arc<Generator>,
    focus: Focus,
    seed: u64,
    /// A cache of the most recent generators that have their own feature set. `None` if the user chose
    /// weights, and for expressions alone, because millions of them are generated with shared constants.
    featured: Option<Mutex<Blocks>>,
}

/// Generators by block number and by whether they may use a later PTX version and target.
type Blocks = BTreeMap<(u64, bool), Arc<Generator>>;

/// The number of consecutive cases that share a feature set. Every second block has all features.
pub const BLOCK: u64 = 250;
/// The most block generators to cache.
const MOST_BLOCKS: usize = 16;

impl RandomCases {
    /// Returns the generator of a case.
    fn generator_of(&self, index: u64, wide: bool) -> Arc<Generator> {
        let block = index / BLOCK;
        let usual = if wide { &self.wide } else { &self.generator };
        let Some(featured) = self.featured.as_ref().filter(|_| {
            // Invalid programs use all features: their edits take turns, so that each is generated.
            !block.is_multiple_of(2) && self.focus.for_case(index) != Focus::Negatives
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

/// The cases of a run. Each can be generated independently, on any thread.
pub struct Cases {
    source: CaseStream,
}

/// Returns the header with a version and target that support every production of the grammar.
pub fn wide_header() -> Header {
    Header { version: "8.3".into(), target: "sm_90".into(), ..Header::default() }
}

/// The campaign option with the number of cases.
pub const CASES_OPTION: &str = "cases";

/// The name of the option for answers to open questions among the settings of a campaign.
pub const ANSWERS_OPTION: &str = "interpretation";

/// Formats answers to open questions as a setting of a campaign.
pub fn written_answers(answers: &[(Question, usize)]) -> String {
    let written: BTreeSet<String> =
        answers.iter().map(|&(question, answer)| Interpretation(question, answer).to_string()).collect();
    written.into_iter().collect::<Vec<_>>().join(", ")
}

/// Returns the answers to open questions in the settings of a campaign.
pub fn answers_of(options: &BTreeMap<String, String>) -> Vec<(Question, usize)> {
    let written = options.get(ANSWERS_OPTION).into_iter().flat_map(|text| text.split(", "));
    written
        .filter_map(Interpretation::from_name)
        .map(|Interpretation(question, answer)| (question, answer))
        .collect()
}
/// The campaign option with the weights of productions.
pub const WEIGHTS_OPTION: &str = "weights";

/// Returns the generator of a campaign with these options.
pub fn generator_of(options: &BTreeMap<String, String>, wide: bool) -> Result<Generator, Failure> {
    if options.contains_key("exhaustive") {
        return Ok(Generator::default());
    }
    let weights = options.get(WEIGHTS_OPTION).map(|text| parse_weights(text)).transpose();
    Ok(Cases::drawn(0, Focus::Mixed, weights.map_err(Failure::BadInput)?).generator(wide))
}

impl Cases {
    /// Draws cases from a seed, with the default weights unless others are given.
    pub fn drawn(seed: u64, focus: Focus, weights: Option<Weights>) -> Cases {
        let knobs = if focus == Focus::Expressions { Config::bulk() } else { Config::default() };
        let featured = (weights.is_none() && focus != Focus::Expressions).then(Mutex::default);
        let weights = weights.unwrap_or_else(|| knobs.weights.clone());
        let config = Config { weights, operands: focus == Focus::Operands, ..knobs };
        let wide = Config { unified: true, b128: true, ..config.clone() };
        let [generator, wide] = [config, wide].map(|config| Arc::new(Generator::new(config)));
        Cases { source: CaseStream::Random(Box::new(RandomCases { generator, wide, focus, seed, featured })) }
    }

    /// Enumerates every program up to this depth.
    pub fn listed(depth: u32) -> Cases {
        Cases { source: CaseStream::Enumerated(Enumeration::new(depth)) }
    }

    /// Returns the number of cases; `None` if unlimited.
    pub fn count(&self) -> Option<u64> {
        match &self.source {
            CaseStream::Random(_) => None,
            CaseStream::Enumerated(all) => Some(all.count()),
        }
    }

    /// Returns the generator of these cases that has the most productions.
    pub fn generator(&self, wide: bool) -> Generator {
        match &self.source {
            CaseStream::Random(drawn) if wide => Generator::clone(&drawn.wide),
            CaseStream::Random(drawn) => Generator::clone(&drawn.generator),
            CaseStream::Enumerated(_) => Generator::default(),
        }
    }

    /// Generates one case. `wide` allows features that need [`wide_header`].
    ///
    /// # Panics
    /// If there is no case with this number.
    pub fn case(&self, index: u64, wide: bool, coverage: &mut Coverage) -> Case {
        match &self.source {
            CaseStream::Random(drawn) => {
                drawn.generator_of(index, wide).case(drawn.focus, drawn.seed, index, coverage)
            }
            CaseStream::Enumerated(all) => all.case(index).expect("a case is asked for that there is"),
        }
    }

    /// Returns true if all cases are expressions, which can be judged on the fast path.
    pub fn are_expressions(&self) -> bool {
        matches!(&self.source, CaseStream::Random(drawn) if drawn.focus == Focus::Expressions)
    }

    /// Adds the nodes of an expression to `into`. Returns its type and its state space. Returns `None` if its
    /// spacing is unusual.
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
        let CaseStream::Random(drawn) = &self.source else { panic!("only what is drawn can be assembled") };
        let generator = if wide { &drawn.wide } else { &drawn.generator };
        generator.assemble_case(CaseId { seed: drawn.seed, index }, coverage, into)
    }

    /// Creates one case ready to be judged.
    pub fn made(&self, index: u64, wide: bool, coverage: &mut Coverage) -> GeneratedCase {
        let Case { body, spacing, .. } = self.case(index, wide, coverage);
        let mut header = None;
        let mut counterpart = None;
        let mut form = OutputForm::Relocatable;
        let mut kernel = false;
        let body = match body {
            ptxsmith_gen::Body::Expression { ty, space, expr } => {
                form = OutputForm::Executable;
                TrialBody::Expression { ty, space, expr }
            }
            ptxsmith_gen::Body::Contexts(items) => {
                form = OutputForm::Executable;
                TrialBody::Contexts(items)
            }
            ptxsmith_gen::Body::Items(items) => {
                if !wide && self.focus_of(index) != Some(Focus::Addresses) {
                    form = OutputForm::Executable;
                }
                TrialBody::Items(items)
            }
            ptxsmith_gen::Body::Kernel(items) => {
                kernel = true;
                TrialBody::Items(items)
            }
            ptxsmith_gen::Body::Negative(negative) => {
                let valid = Trial { id: index, body: TrialBody::Items(negative.counterpart), spacing };
                counterpart = Some(Box::new((valid, negative.counterpart_header)));
                header = negative.header;
                TrialBody::Items(negative.broken)
            }
        };
        GeneratedCase { trial: Trial { id: index, body, spacing }, header, counterpart, form, kernel }
    }

    fn focus_of(&self, index: u64) -> Option<Focus> {
        match &self.source {
            CaseStream::Random(drawn) => Some(drawn.focus.for_case(index)),
            CaseStream::Enumerated(_) => None,
        }
    }
}

/// Reads a file of weights and returns them with its contents. Each line is `NAME = WEIGHT`; `#` starts a
/// comment.
///
/// # Errors
/// If the file cannot be read, or a line has another form, an unknown production, or a weight that is not a
/// number from 0 to 65535.
pub fn weights(path: &Path) -> Result<(Weights, String), Failure> {
    let name = path.display();
    let (_, text) = read_text(path)?;
    match parse_weights(&text) {
        Ok(weights) => Ok((weights, text)),
        Err(message) => Err(Failure::BadInput(format!("{name}, {message}"))),
    }
}

fn parse_weights(text: &str) -> Result<Weights, String> {
    let mut weights = Weights::default();
    for (number, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or("").trim();
        if !line.is_empty() {
            set_weight(&mut weights, line).map_err(|message| format!("line {}: {message}", number + 1))?;
        }
    }
    Ok(weights)
}

/// Sets the weight that a line gives, `NAME = WEIGHT`.
fn set_weight(weights: &mut Weights, line: &str) -> Result<(), String> {
    let (name, weight) =
        line.split_once('=').ok_or_else(|| format!("write NAME = WEIGHT instead of `{line}`"))?;
    let weight = weight.trim();
    let weight = weight.parse().map_err(|error| format!("`{weight}`: {error}"))?;
    weights
        .set_by_name(name.trim(), weight)
        .map_err(|error| format!("{error}; `ptxsmith gen --grammar` lists them"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ptxsmith_gen::Production;
    use ptxsmith_syntax::TreeBuilder;

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

    /// Draws cases of this focus from one seed.
    fn drawn(focus: Focus) -> Cases {
        Cases::drawn(SEED, focus, None)
    }

    const SEED: u64 = 3;

    #[test]
    fn what_needs_a_later_version_is_made_by_a_generator_of_its_own() {
        let header = wide_header();
        assert_eq!((&*header.version, &*header.target, header.address_size), ("8.3", "sm_90", 64));
        for (focus, operands) in [(Focus::Mixed, false), (Focus::Operands, true), (Focus::Expressions, false)]
        {
            for wide in [false, true] {
                let generator = drawn(focus).generator(wide);
                let config = generator.config();
                assert_eq!(
                    (config.unified, config.b128, config.operands),
                    (wide, wide, operands),
                    "{focus:?}"
                );
            }
        }
    }

    #[test]
    fn weights_of_the_users_are_those_of_every_generator() {
        let text = "integer/add = 0\n";
        let add = Production::by_name("integer/add").unwrap();
        let kept = BTreeMap::from([("weights".to_owned(), text.to_owned())]);
        let cases = Cases::drawn(SEED, Focus::Mixed, Some(parse_weights(text).unwrap()));
        for wide in [false, true] {
            let of_campaign = generator_of(&kept, wide).unwrap();
            assert!(!of_campaign.enables(add) && !cases.generator(wide).enables(add));
            let usual = generator_of(&BTreeMap::new(), wide).unwrap();
            assert!(usual.enables(add) && usual.config().b128 == wide);
        }
        let broken = BTreeMap::from([("weights".to_owned(), "integer/ad = 0".to_owned())]);
        assert!(matches!(generator_of(&broken, false), Err(Failure::BadInput(_))));
    }

    /// Returns, for each of these cases, whether the generator with all features generates the same one.
    fn as_usual(cases: &Cases, focus: Focus, indices: std::ops::Range<u64>) -> Vec<bool> {
        let generator = cases.generator(false);
        let is_usual = |index| {
            let usual = generator.case(focus, SEED, index, &mut Coverage::new());
            cases.case(index, false, &mut Coverage::new()) == usual
        };
        indices.map(is_usual).collect()
    }

    #[test]
    fn every_second_block_of_cases_has_features_of_its_own() {
        let mixed = drawn(Focus::Mixed);
        let weighted = Cases::drawn(SEED, Focus::Mixed, Some(parse_weights("integer/add = 0").unwrap()));
        let block = |number: u64| number * BLOCK..(number + 1) * BLOCK;
        for number in [0, 2] {
            assert!(as_usual(&mixed, Focus::Mixed, block(number)).into_iter().all(|usual| usual));
            assert!(as_usual(&weighted, Focus::Mixed, block(number)).into_iter().all(|usual| usual));
        }
        let featured = as_usual(&mixed, Focus::Mixed, block(1));
        assert!(featured.iter().filter(|&&usual| !usual).count() > 100, "{featured:?}");
        // Invalid programs always use all features, as do expressions alone and programs with the user's
        // weights.
        for (usual, index) in featured.into_iter().zip(block(1)) {
            assert!(usual || Focus::Mixed.for_case(index) != Focus::Negatives, "{index}");
        }
        for (cases, focus) in [(weighted, Focus::Mixed), (drawn(Focus::Expressions), Focus::Expressions)] {
            assert!(as_usual(&cases, focus, block(1)).into_iter().all(|usual| usual), "{focus:?}");
        }
    }

    #[test]
    fn few_blocks_are_remembered_and_the_last_ones_of_them() {
        let CaseStream::Random(drawn) = drawn(Focus::Mixed).source else { panic!("they are drawn") };
        let odd = |nth: u64| (2 * nth + 1) * BLOCK;
        let remembered = || lock_of(drawn.featured.as_ref().unwrap()).len();
        for nth in 0..MOST_BLOCKS as u64 + 3 {
            let made = drawn.generator_of(odd(nth), false);
            assert!(Arc::ptr_eq(&made, &drawn.generator_of(odd(nth) + BLOCK - 1, false)));
            assert_eq!(remembered(), (nth as usize + 1).min(MOST_BLOCKS));
        }
        // Even blocks use the usual generator, which is not cached again.
        assert!(Arc::ptr_eq(&drawn.generator_of(2 * BLOCK, false), &drawn.generator));
        assert!(Arc::ptr_eq(&drawn.generator_of(2 * BLOCK, true), &drawn.wide));
        assert_eq!(remembered(), MOST_BLOCKS);
    }

    #[test]
    fn an_enumeration_has_an_end_and_what_is_drawn_has_none() {
        assert_eq!(drawn(Focus::Mixed).count(), None);
        let listed = Cases::listed(0);
        assert_eq!(listed.count(), Some(Enumeration::new(0).count()));
        assert!(!listed.are_expressions() && !drawn(Focus::Mixed).are_expressions());
        assert!(drawn(Focus::Expressions).are_expressions());
        let first = listed.made(0, false, &mut Coverage::new());
        assert_eq!((first.form, first.kernel), (OutputForm::Executable, false));
    }

    #[test]
    fn the_nodes_of_an_expression_are_those_of_its_case() {
        let cases = drawn(Focus::Expressions);
        let mut assembled = 0;
        for index in 0..300 {
            let mut tree = TreeBuilder::default();
            let (mut own, mut counted) = (Coverage::new(), Coverage::new());
            let made = cases.assemble(index, false, &mut own, &mut tree);
            let case = cases.case(index, false, &mut counted);
            let ptxsmith_gen::Body::Expression { ty, space, expr } = case.body else { panic!("{index}") };
            match made {
                Some(context) => {
                    assert_eq!((context, tree.take()), ((ty, space), expr), "{index}");
                    assert!(own == counted, "{index}");
                    assembled += 1;
                }
                None => assert_ne!(case.spacing, ptxsmith_syntax::Spacing::Canonical, "{index}"),
            }
        }
        assert!(assembled > 290, "{assembled}");
    }

    #[test]
    fn what_holds_addresses_is_shown_for_a_linker_and_a_kernel_as_one() {
        use OutputForm::{Executable, Relocatable};
        for (focus, wide, form, kernel) in [
            (Focus::Expressions, false, Executable, false),
            (Focus::Contexts, false, Executable, false),
            (Focus::Initializers, false, Executable, false),
            (Focus::Initializers, true, Relocatable, false),
            (Focus::Addresses, false, Relocatable, false),
            (Focus::Operands, false, Relocatable, true),
            (Focus::Negatives, false, Relocatable, false),
        ] {
            let cases = drawn(focus);
            for index in 0..5 {
                let made = cases.made(index, wide, &mut Coverage::new());
                assert_eq!((made.form, made.kernel, made.trial.id), (form, kernel, index), "{focus:?}");
                assert_eq!(made.counterpart.is_some(), focus == Focus::Negatives);
            }
        }
    }

    #[test]
    fn a_negative_has_the_headers_that_it_and_its_counterpart_need() {
        let cases = drawn(Focus::Negatives);
        let usual = Header::default();
        let mut others = 0;
        for index in (0..800).step_by(4) {
            let case = cases.case(index, false, &mut Coverage::new());
            let ptxsmith_gen::Body::Negative(negative) = case.body else { panic!("{index}") };
            let made = cases.made(index, false, &mut Coverage::new());
            let (trial, header) = made.trial_and_header(false, &usual);
            assert_eq!(trial.body, TrialBody::Items(negative.broken));
            assert_eq!(*header, negative.header.clone().unwrap_or_default());
            let (trial, header) = made.trial_and_header(true, &usual);
            assert_eq!((trial.id, &trial.body), (index, &TrialBody::Items(negative.counterpart)));
            assert_eq!(*header, negative.counterpart_header.unwrap_or_default());
            others += u32::from(negative.header.is_some());
        }
        assert!(others > 0, "some edit needs another header");
    }
}
