//! The knobs of the generator.

use arbitrary::{Result, Unstructured};

use crate::weights::Weights;

/// How often something happens: `hits` times in `of`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Odds {
    /// The number of times out of `of`. More than `of` means always.
    pub hits: u32,
    /// The total number of times. Zero means never.
    pub of: u32,
}

impl Odds {
    /// Never.
    pub const NEVER: Odds = Odds { hits: 0, of: 1 };
    /// Always.
    pub const ALWAYS: Odds = Odds { hits: 1, of: 1 };

    /// Creates the odds of `hits` in `of`.
    pub const fn new(hits: u32, of: u32) -> Odds {
        Odds { hits, of }
    }

    /// Returns the odds as a probability between 0 and 1.
    pub fn share(self) -> f64 {
        if self.of == 0 { 0.0 } else { (f64::from(self.hits) / f64::from(self.of)).min(1.0) }
    }
}

/// Defines the configuration from a table, so that a new knob is one entry. The word after the default states how a drawn
/// configuration changes the knob: `shrinks` lowers a number, `vanishes` sets odds to zero half of the time,
/// `switches` draws a switch, and `keeps` leaves the knob unchanged.
macro_rules! knobs {
    ($(#[$meta:meta])* { $($(#[$doc:meta])* $knob:ident: $type:ty = $default:expr, $drawn:ident;)+ }) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq)]
        pub struct Config { $($(#[$doc])* pub $knob: $type,)+ }

        impl Default for Config {
            fn default() -> Config {
                Config { $($knob: $default,)+ }
            }
        }

        impl Config {
            /// Returns this configuration with knobs changed at random. The weights stay the same.
            pub(crate) fn drawn(&self, u: &mut Unstructured<'_>) -> Result<Config> {
                let mut config = self.clone();
                $(drawn::$drawn(&mut config.$knob, u)?;)+
                Ok(config)
            }
        }
    };
}

/// How drawing a configuration changes each kind of knob. No change adds programs.
mod drawn {
    use std::ops::RangeInclusive;

    use arbitrary::{Result, Unstructured, unstructured::Int};

    use super::Odds;

    pub(super) fn shrinks<N: Int + From<u8>>(knob: &mut N, u: &mut Unstructured<'_>) -> Result<()> {
        let range: RangeInclusive<N> = N::from(1)..=*knob;
        *knob = u.int_in_range(range)?;
        Ok(())
    }

    pub(super) fn vanishes(knob: &mut Odds, u: &mut Unstructured<'_>) -> Result<()> {
        if !u.arbitrary::<bool>()? {
            *knob = Odds::NEVER;
        }
        Ok(())
    }

    pub(super) fn switches(knob: &mut bool, u: &mut Unstructured<'_>) -> Result<()> {
        *knob = u.arbitrary()?;
        Ok(())
    }

    pub(super) fn keeps<T>(_: &mut T, _: &mut Unstructured<'_>) -> Result<()> {
        Ok(())
    }
}

knobs! {
    /// The constructs that the generator makes, and their frequencies. Every value is valid, and none makes the generator
    /// fail.
    ///
    /// The odds of the risky constructs count those made on purpose. Others arise by chance: an unguarded expression may
    /// turn out to be zero.
    ///
    /// `Config::arbitrary` draws a configuration that makes less than the default one (swarm testing: a program without
    /// some features leaves more room for the others to meet). It only switches features off and lowers numbers.
    {
        /// The most nodes of an expression that is a case of its own, without the parentheses that precedence requires.
        /// Default 16. Zero counts as one.
        max_nodes: u32 = 16, shrinks;
        /// How deep operators nest; below, only the smallest forms are made. Default 12. Above about 100 the printed text
        /// may nest deeper than the parser allows.
        max_depth: u32 = 12, shrinks;
        /// The most nodes of an expression that is an element of an aggregate. Default 5. Zero counts as one.
        max_element_nodes: u32 = 5, shrinks;
        /// How often an expression ends in a leaf although there is room for an operator. Default 1 in 10.
        early_leaf: Odds = Odds::new(1, 10), keeps;
        /// How often parentheses are put around an operand that needs none. Default 1 in 16 operands.
        redundant_parentheses: Odds = Odds::new(1, 16), vanishes;
        /// How often a divisor is a plain zero. Default 1 in 400 divisors.
        division_by_zero: Odds = Odds::new(1, 400), vanishes;
        /// How often a divisor is any expression at all, which may be zero by chance. Otherwise it is a literal that is not
        /// zero, or an integer with its lowest bit set. Default 1 in 20 divisors.
        unguarded_divisor: Odds = Odds::new(1, 20), vanishes;
        /// How often the least signed number is divided by minus one, or the remainder is taken, both numbers built from
        /// operators. Default 1 in 2500 integer expressions and parts of expressions, quotients and remainders together.
        quotient_overflow: Odds = Odds::new(1, 2500), vanishes;
        /// How often a shift count is a constant of 64 or more. Default 1 in 8 shift counts.
        wide_shift: Odds = Odds::new(1, 8), vanishes;
        /// How often a shift count is any expression at all, which may be wide by chance. Default 1 in 4 shift counts.
        unguarded_shift: Odds = Odds::new(1, 4), vanishes;
        /// How often an integer literal is 2^64 or more. Default 1 in 1500 integer expressions and parts of expressions.
        huge_literal: Odds = Odds::new(1, 1500), vanishes;
        /// How often a decimal float literal is beyond the range of double precision. Default 1 in 1500 floats.
        float_out_of_range: Odds = Odds::new(1, 1500), vanishes;
        /// How often a decimal float literal is a denormal double. Default 1 in 1000 floats.
        denormal_decimal: Odds = Odds::new(1, 1000), vanishes;
        /// How often an integer expression of any value initializes a type of less than 64 bits, so that conversion may
        /// lose bits. Otherwise it is brought into the range that all types have in common. Default 9 in 10.
        narrowing: Odds = Odds::new(9, 10), vanishes;
        /// How often a float expression is a conditional one. Default 1 in 200 floats.
        float_ternary: Odds = Odds::new(1, 200), vanishes;
        /// How often a dimension is an expression rather than a literal. Default 1 in 400 dimensions.
        dimension_expression: Odds = Odds::new(1, 400), vanishes;
        /// How often the list of a vector has fewer entries than the vector has elements. The text grants this to arrays
        /// and is silent on vectors. Default 1 in 300 vectors.
        incomplete_vector: Odds = Odds::new(1, 300), vanishes;
        /// How often a list is left empty. Default 1 in 16 lists of arrays.
        empty_list: Odds = Odds::new(1, 16), vanishes;
        /// How often white space and comments stand in unusual places. Default 1 in 24 cases.
        odd_spacing: Odds = Odds::new(1, 24), vanishes;
        /// How often an address is written in a form that the text does not mention: `var - 4`, `4 + var`, `(var)` and the
        /// like. Default 1 in 120 addresses, all forms together.
        odd_address: Odds = Odds::new(1, 120), vanishes;
        /// How often an initial value names its own variable. Default 1 in 200 addresses.
        self_reference: Odds = Odds::new(1, 200), vanishes;
        /// How often initial values use names that are declared later. Default 1 in 100 groups of declarations.
        forward_reference: Odds = Odds::new(1, 100), vanishes;
        /// How often addresses are stored in a 32-bit type, which holds only a part of a 64-bit address. Default 1 in 16
        /// variables that hold addresses.
        address_in_word: Odds = Odds::new(1, 16), vanishes;
        /// How often a byte of an address selected by `mask()` is stored in a type of more than a byte. Default 1 in 100
        /// addresses.
        masked_word: Odds = Odds::new(1, 100), vanishes;
        /// The most dimensions of an array, up to 4. Default 4.
        max_dimensions: u32 = 4, shrinks;
        /// The largest extent of a dimension. Default 6. Zero counts as one.
        max_extent: u64 = 6, shrinks;
        /// How often a one-dimensional array has as many elements as fit, so that its extent has several digits in any
        /// base. Default 1 in 6 such arrays.
        long_array: Odds = Odds::new(1, 6), vanishes;
        /// The most elements of a variable, vectors counted by their elements. Default 64.
        max_elements: u64 = 64, shrinks;
        /// The most variables in a statement. Default 3. Zero counts as one.
        max_declarators: u32 = 3, shrinks;
        /// The largest exponent of two for `.align`. Default 8, which is `.align 256`.
        max_align_log2: u32 = 8, shrinks;
        /// Whether there are floats: literals, operators, comparisons, types. Default true.
        floats: bool = true, switches;
        /// Whether float bits are ever those of a value that is not a number. Default true.
        nans: bool = true, switches;
        /// Whether there are casts. Default true.
        casts: bool = true, switches;
        /// Whether there are conditional expressions. Default true.
        ternaries: bool = true, switches;
        /// Whether there are the integer operators beyond plus, minus, times and divided by. Default true.
        integer_operators: bool = true, switches;
        /// Whether `WARP_SZ` appears. Default true.
        warp_size: bool = true, switches;
        /// Whether literals have the suffix `U`. Default true.
        unsigned_suffix: bool = true, switches;
        /// Whether literals are written in other bases than ten. Default true.
        radixes: bool = true, switches;
        /// Whether literals have odd spellings: leading zeros, capital letters. Default true.
        odd_spellings: bool = true, switches;
        /// Whether floats initialize the types `.b32` and `.b64`. Default true.
        floats_in_bits: bool = true, switches;
        /// Whether a single-precision bit pattern initializes `.f64` and `.b32`. Default true.
        single_bits_elsewhere: bool = true, switches;
        /// Whether there are types of less than 64 bits. Default true.
        narrow_types: bool = true, switches;
        /// Whether variables lie in `.const` too. Default true.
        const_space: bool = true, switches;
        /// Whether there are vectors. Default true.
        vectors: bool = true, switches;
        /// Whether lists of arrays are shorter than the arrays. Default true.
        incomplete_lists: bool = true, switches;
        /// Whether the first dimension is ever left out. Default true.
        omitted_dimension: bool = true, switches;
        /// Whether there is `.align`. Default true.
        alignment: bool = true, switches;
        /// Whether there are `.visible`, `.weak` and `.extern`. Default true.
        linkage: bool = true, switches;
        /// Whether variables without an initial value, of the types that take none, are declared. Default true.
        half_types: bool = true, switches;
        /// Whether names begin with `_`, `$` or `%`, resemble words of the language, or are very long. Default true.
        odd_names: bool = true, switches;
        /// Whether there are parameterized names. Default true.
        parameterized_names: bool = true, switches;
        /// Whether there is `.attribute`. Default true.
        attributes: bool = true, switches;
        /// Whether addresses of functions and kernels are taken. Default true.
        functions: bool = true, switches;
        /// Whether there is `mask()`. Default true; it needs `.version` 7.1, and 7.3 for constants.
        masks: bool = true, switches;
        /// Whether there are kernels that show operands (6.4). Default false: what they leave shows only where generated code
        /// is read, or run.
        operands: bool = false, keeps;
        /// How often an index is a register and an offset that is subtracted from it. Default 1 in 60 accesses.
        subtracted_index: Odds = Odds::new(1, 60), vanishes;
        /// How often an address is a number. Default 1 in 60 accesses.
        absolute_address: Odds = Odds::new(1, 60), vanishes;
        /// Whether there is `.attribute(.unified)`. Default false: it needs `.version` 8.0 and `sm_90`.
        unified: bool = false, keeps;
        /// Whether there is `.b128`. Default false: it needs `.version` 8.3 and `sm_70`.
        b128: bool = false, keeps;
        /// How many expressions in a row have their numbers in common: 64 of each production that makes one. Default 0: each has
        /// numbers of its own.
        shared_numbers: u64 = 0, keeps;
        /// The weights of the productions. Default: those of the table.
        weights: Weights = Weights::default(), keeps;
    }
}
