//! Arguments of commands that generate programs: `gen`, `suite`.

use std::num::NonZeroU64;
use std::path::PathBuf;

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use ptxsmith_gen::Focus;
use regex_lite::Regex;

use crate::values::{count, count_or_none, ptx_version, regex, target};
use crate::work::WorkArgs;

/// `gen`
#[derive(Args, Debug)]
pub struct GenArgs {
    /// How many modules [default with --exhaustive or --cell: all]
    #[arg(
        long,
        value_name = "N",
        value_parser = count,
        required_unless_present_any = ["grammar", "exhaustive", "cells"],
    )]
    pub count: Option<NonZeroU64>,
    /// The number of the first one, as reports name cases: 25189, with the same --seed
    #[arg(
        long,
        value_name = "N",
        default_value = "0",
        value_parser = count_or_none,
        conflicts_with_all = ["stats", "grammar", "cells"],
    )]
    pub first: u64,
    /// Write case-SEED-INDEX.ptx files into this directory instead of printing
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// What to generate
    #[arg(long, value_name = "WHAT", default_value = "mixed", value_parser = focus())]
    pub focus: ProgramKind,
    /// Only this cell of the tables of `--focus places`, or this family of them; may be repeated
    #[arg(long = "cell", value_name = "NAME")]
    pub cells: Vec<String>,
    /// All small programs instead, with operators nested up to 1 or 2 deep
    #[arg(
        long,
        value_name = "DEPTH",
        value_parser = clap::value_parser!(u32).range(1..=2),
        conflicts_with_all = ["focus", "weights"],
    )]
    pub exhaustive: Option<u32>,
    /// Weights of the grammar's productions, a line each: NAME = WEIGHT
    #[arg(long, value_name = "FILE")]
    pub weights: Option<PathBuf>,
    /// Target PTX 8.3 and sm_90, so that every grammar rule applies [default: 7.8 and sm_80]
    #[arg(long)]
    pub wide: bool,
    /// Print statistics instead of modules: coverage of the grammar and of the specification, and results of
    /// the modules
    #[arg(long)]
    pub stats: bool,
    /// Print the grammar and nothing else
    #[arg(long, conflicts_with_all = ["count", "out", "stats", "exhaustive"])]
    pub grammar: bool,
    /// Flags of long work.
    #[command(flatten)]
    pub work: WorkArgs,
}

/// The kind of programs to generate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgramKind {
    /// Cases drawn from a seed.
    Random(Focus),
    /// Cells of the tables of forms and contexts.
    Places,
    /// Programs of several modules.
    Linking,
    /// Kernels of integer arithmetic.
    Arithmetic,
}

impl ProgramKind {
    const PLACES: &str = "places";
    const LINKING: &str = "linking";
    const ARITHMETIC: &str = "arithmetic";

    /// Returns the focus of the random programs; for tables and the other fixed kinds, the usual mixture.
    pub fn drawn(self) -> Focus {
        match self {
            ProgramKind::Random(focus) => focus,
            ProgramKind::Places | ProgramKind::Linking | ProgramKind::Arithmetic => Focus::Mixed,
        }
    }
}

/// Parses the value of `--focus`.
pub(super) fn focus() -> impl TypedValueParser<Value = ProgramKind> {
    let places = PossibleValue::new(ProgramKind::PLACES).help(
        "Every form in every place: tables of operands, declarations and headers; no compiler may crash",
    );
    let linking = PossibleValue::new(ProgramKind::LINKING)
        .help("Programs of several modules for linkers: linkage, alignment, contents of shared variables");
    let arithmetic = PossibleValue::new(ProgramKind::ARITHMETIC)
        .help("Kernels of integer instructions: what generated code computes, executed without a device");
    let mut values: Vec<PossibleValue> =
        Focus::ALL.iter().map(|focus| PossibleValue::new(focus.name()).help(focus.summary())).collect();
    values.extend([places, linking, arithmetic]);
    PossibleValuesParser::new(values).map(|name| match &*name {
        ProgramKind::LINKING => ProgramKind::Linking,
        ProgramKind::ARITHMETIC => ProgramKind::Arithmetic,
        ProgramKind::PLACES => ProgramKind::Places,
        name => ProgramKind::Random(Focus::from_name(name).expect("the parser accepts no other name")),
    })
}

/// Builds the help text of `--focus`, with all its values.
pub(super) fn focuses() -> String {
    let mut help = "What to generate\n".to_owned();
    for value in focus().possible_values().into_iter().flatten() {
        let meaning = value.get_help().map(ToString::to_string).unwrap_or_default();
        help += &format!("\n- {}: {meaning}", value.get_name());
    }
    help
}

/// `suite`
#[derive(Args, Debug)]
pub struct SuiteArgs {
    /// Where the suite goes; a directory that is empty or not there
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// Random programs to add, drawn from --seed
    #[arg(long, value_name = "N", default_value = "0", value_parser = count_or_none)]
    pub random: u64,
    /// Only what runs on this target: cases for it and for earlier ones
    #[arg(long, value_name = "sm_NN", value_parser = target)]
    pub target: Option<String>,
    /// Only cases of this version of PTX and earlier ones
    #[arg(long, value_name = "MAJOR.MINOR", value_parser = ptx_version)]
    pub max_ptx: Option<(u32, u32)>,
    /// Only cases with an id that matches this regular expression; the valid counterpart of a refused case
    /// comes with it
    #[arg(long, value_name = "REGEX", value_parser = regex)]
    pub only: Option<Regex>,
    /// Flags of long work.
    #[command(flatten)]
    pub work: WorkArgs,
}
