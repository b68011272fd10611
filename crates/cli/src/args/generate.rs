//! Arguments of commands that generate programs: `gen`, `suite`.

use std::num::NonZeroU64;
use std::path::PathBuf;

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use ptxsmith_gen::Focus;
use regex_lite::Regex;

use crate::values::{count, count_or_none, ptx_version, regex, target};
use crate::work::Work;

/// `gen`
#[derive(Args, Debug)]
pub struct Gen {
    /// How many modules [default with --exhaustive or --cell: all]
    #[arg(long, value_name = "N", value_parser = count, required_unless_present_any = ["grammar", "exhaustive", "cells"])]
    pub count: Option<NonZeroU64>,
    /// The number of the first one, as reports name cases: 25189, with the same --seed
    #[arg(long, value_name = "N", default_value = "0", value_parser = count_or_none, conflicts_with_all = ["stats", "grammar", "cells"])]
    pub first: u64,
    /// Write case-SEED-INDEX.ptx files into this directory instead of printing
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// What to generate
    #[arg(long, value_name = "WHAT", default_value = "mixed", value_parser = focus())]
    pub focus: What,
    /// Only this cell of the tables of `--focus places`, or this family of them; may be repeated
    #[arg(long = "cell", value_name = "NAME")]
    pub cells: Vec<String>,
    /// Every small program instead: 1 or 2, how deep operators nest in them
    #[arg(long, value_name = "DEPTH", value_parser = clap::value_parser!(u32).range(1..=2), conflicts_with_all = ["focus", "weights"])]
    pub exhaustive: Option<u32>,
    /// Weights of the grammar's productions, a line each: NAME = WEIGHT
    #[arg(long, value_name = "FILE")]
    pub weights: Option<PathBuf>,
    /// Programs for .version 8.3 and sm_90, in which all productions are of use [default: for 7.8 and sm_80]
    #[arg(long)]
    pub wide: bool,
    /// Print what was reached of the grammar and of the specification, and how the modules fare, instead of modules
    #[arg(long)]
    pub stats: bool,
    /// Print the grammar and nothing else
    #[arg(long, conflicts_with_all = ["count", "out", "stats", "exhaustive"])]
    pub grammar: bool,
    /// Flags of long work.
    #[command(flatten)]
    pub work: Work,
}

/// The kind of programs to generate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// Cases drawn from a seed.
    Drawn(Focus),
    /// Cells of the tables of forms and contexts.
    Places,
    /// Programs of several modules.
    Linking,
    /// Kernels of integer arithmetic.
    Arithmetic,
}

impl What {
    const PLACES: &str = "places";
    const LINKING: &str = "linking";
    const ARITHMETIC: &str = "arithmetic";

    /// Returns the focus of the random programs; for tables and the other fixed kinds, the usual mixture.
    pub fn drawn(self) -> Focus {
        match self {
            What::Drawn(focus) => focus,
            What::Places | What::Linking | What::Arithmetic => Focus::Mixed,
        }
    }
}

/// Parses the value of `--focus`.
pub(super) fn focus() -> impl TypedValueParser<Value = What> {
    let value = |focus: Focus| PossibleValue::new(focus.name()).help(focus.summary());
    let places = PossibleValue::new(What::PLACES)
        .help("Every form in every place: tables of operands, declarations and headers, of which a compiler must not die");
    let linking = PossibleValue::new(What::LINKING)
        .help("Programs of several modules for linkers: linkage, alignment, initial values and addresses of what they share");
    let arithmetic = PossibleValue::new(What::ARITHMETIC)
        .help("Kernels of integer instructions: what generated code computes, executed without a device");
    let others = [places, linking, arithmetic];
    PossibleValuesParser::new(Focus::ALL.map(value).into_iter().chain(others).collect::<Vec<_>>()).map(
        |name| match &*name {
            What::LINKING => What::Linking,
            What::ARITHMETIC => What::Arithmetic,
            What::PLACES => What::Places,
            name => What::Drawn(Focus::from_name(name).expect("the parser takes no other")),
        },
    )
}

/// Builds the help text of `--focus`, with all its values.
pub(super) fn focuses() -> String {
    let parser = focus();
    let values = parser.possible_values().into_iter().flatten();
    let line = |value: PossibleValue| {
        format!("\n- {}: {}", value.get_name(), value.get_help().map(ToString::to_string).unwrap_or_default())
    };
    format!("What to generate\n{}", values.map(line).collect::<String>())
}

/// `suite`
#[derive(Args, Debug)]
pub struct Suite {
    /// Where the suite goes; a directory that is empty or not there
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// Programs to draw from --seed, beside those that every suite has
    #[arg(long, value_name = "N", default_value = "0", value_parser = count_or_none)]
    pub random: u64,
    /// Only what runs on this target: cases for it and for earlier ones
    #[arg(long, value_name = "sm_NN", value_parser = target)]
    pub target: Option<String>,
    /// Only cases of this version of PTX and earlier ones
    #[arg(long, value_name = "MAJOR.MINOR", value_parser = ptx_version)]
    pub max_ptx: Option<(u32, u32)>,
    /// Only cases whose id matches this regular expression; the valid counterpart of a refused case comes with it
    #[arg(long, value_name = "REGEX", value_parser = regex)]
    pub only: Option<Regex>,
    /// Flags of long work.
    #[command(flatten)]
    pub work: Work,
}
