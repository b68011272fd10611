//! The knobs of the generator.

use arbitrary::{Arbitrary, Result, Unstructured};

use crate::{grammar, weights::Weights};

/// How often something happens: `hits` times in `of`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Odds {
    /// How many of `of` times it happens. More than `of` means always.
    pub hits: u16,
    /// Of how many times. Zero means never.
    pub of: u16,
}

impl Odds {
    /// It does not happen.
    pub const NEVER: Odds = Odds { hits: 0, of: 1 };
    /// It always happens.
    pub const ALWAYS: Odds = Odds { hits: 1, of: 1 };

    /// `hits` times in `of`.
    pub const fn new(hits: u16, of: u16) -> Odds {
        Odds { hits, of }
    }

    /// The odds as a share between 0 and 1.
    pub fn share(self) -> f64 {
        if self.of == 0 { 0.0 } else { (f64::from(self.hits) / f64::from(self.of)).min(1.0) }
    }
}

/// What the generator makes and how often: every value is valid, and none makes it fail.
///
/// The odds of the hazards say how often one is made on purpose. Others arise by themselves: an expression that is
/// not guarded may turn out to be zero.
///
/// `Config::arbitrary` draws a configuration that makes less than the default one (swarm testing: a program in which
/// some features are missing leaves more room for the others to meet). It switches features off and lowers numbers,
/// and never the other way round.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// The most nodes of an expression that is a case of its own, the parentheses that precedence asks for not
    /// counted. Default 16. Zero counts as one.
    pub max_nodes: u32,
    /// How deep operators nest; below, only the smallest forms are made. Default 12. Above about 100 the printed text
    /// may nest deeper than the parser allows.
    pub max_depth: u32,
    /// The most nodes of an expression that is an element of an aggregate. Default 5. Zero counts as one.
    pub max_element_nodes: u32,
    /// How often an expression ends in a leaf although there is room for an operator. Default 1 in 10.
    pub early_leaf: Odds,
    /// How often parentheses are put around an operand that needs none. Default 1 in 16 operands.
    pub redundant_parentheses: Odds,

    /// How often a divisor is a plain zero. Default 1 in 400 divisors.
    pub division_by_zero: Odds,
    /// How often a divisor is any expression at all, which may be zero by chance. Otherwise it is a literal that is not
    /// zero, or an integer with its lowest bit set. Default 1 in 20 divisors.
    pub unguarded_divisor: Odds,
    /// How often the least signed number, made of operators, is divided by minus one, made of operators; and as often
    /// the remainder is taken. Default 1 in 5000 integer expressions and parts of expressions, each.
    pub quotient_overflow: Odds,
    /// How often a shift count is a constant of 64 or more. Default 1 in 8 shift counts.
    pub wide_shift: Odds,
    /// How often a shift count is any expression at all, which may be wide by chance. Default 1 in 4 shift counts.
    pub unguarded_shift: Odds,
    /// How often an integer literal is 2^64 or more. Default 1 in 1500 integer expressions and parts of expressions.
    pub huge_literal: Odds,
    /// How often a decimal float literal is beyond the range of double precision. Default 1 in 1500 floats.
    pub float_out_of_range: Odds,
    /// How often a decimal float literal is a denormal double. Default 1 in 1000 floats.
    pub denormal_decimal: Odds,
    /// How often an integer expression of any value initializes a type of less than 64 bits, so that conversion may
    /// lose bits. Otherwise it is brought into the range that all types have in common. Default 9 in 10.
    pub narrowing: Odds,
    /// How often a float expression is a conditional one. Default 1 in 200 floats.
    pub float_ternary: Odds,
    /// How often a dimension is an expression rather than a literal. Default 1 in 400 dimensions.
    pub dimension_expression: Odds,
    /// How often the list of a vector has fewer entries than the vector has elements. The text grants this to arrays
    /// and is silent on vectors. Default 1 in 300 vectors.
    pub incomplete_vector: Odds,
    /// How often a list is left empty. Default 1 in 16 lists of arrays.
    pub empty_list: Odds,

    /// The most dimensions of an array, up to 4. Default 4.
    pub max_dimensions: u32,
    /// The largest extent of a dimension. Default 6. Zero counts as one.
    pub max_extent: u64,
    /// The most elements of a variable, vectors counted by their elements. Default 64.
    pub max_elements: u64,
    /// The most variables of one statement. Default 3. Zero counts as one.
    pub max_declarators: u32,
    /// The largest exponent of two behind `.align`. Default 8, which is `.align 256`.
    pub max_align_log2: u32,

    /// Whether there are floats: literals, operators, comparisons, types. Default true.
    pub floats: bool,
    /// Whether float bits are ever those of a value that is not a number. Default true.
    pub nans: bool,
    /// Whether there are casts. Default true.
    pub casts: bool,
    /// Whether there are conditional expressions. Default true.
    pub ternaries: bool,
    /// Whether there are the integer operators beyond plus, minus, times and divided by. Default true.
    pub integer_operators: bool,
    /// Whether `WARP_SZ` appears. Default true.
    pub warp_size: bool,
    /// Whether literals have the suffix `U`. Default true.
    pub unsigned_suffix: bool,
    /// Whether literals are written in other bases than ten. Default true.
    pub radixes: bool,
    /// Whether literals have odd spellings: leading zeros, capital letters. Default true.
    pub odd_spellings: bool,
    /// Whether floats initialize the types `.b32` and `.b64`. Default true.
    pub floats_in_bits: bool,
    /// Whether a single-precision bit pattern initializes `.f64` and `.b32`. Default true.
    pub single_bits_elsewhere: bool,
    /// Whether there are types of less than 64 bits. Default true.
    pub narrow_types: bool,
    /// Whether variables lie in `.const` too. Default true.
    pub const_space: bool,
    /// Whether there are vectors. Default true.
    pub vectors: bool,
    /// Whether lists of arrays are shorter than the arrays. Default true.
    pub incomplete_lists: bool,
    /// Whether the first dimension is ever left out. Default true.
    pub omitted_dimension: bool,
    /// Whether there is `.align`. Default true.
    pub alignment: bool,
    /// Whether there are `.visible`, `.weak` and `.extern`. Default true.
    pub linkage: bool,
    /// Whether variables without an initial value, of the types that take none, are declared. Default true.
    pub half_types: bool,

    /// The weights of the productions. Default: those of the table.
    pub weights: Weights,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            max_nodes: 16,
            max_depth: 12,
            max_element_nodes: 5,
            early_leaf: Odds::new(1, 10),
            redundant_parentheses: Odds::new(1, 16),
            division_by_zero: Odds::new(1, 400),
            unguarded_divisor: Odds::new(1, 20),
            quotient_overflow: Odds::new(1, 5000),
            wide_shift: Odds::new(1, 8),
            unguarded_shift: Odds::new(1, 4),
            huge_literal: Odds::new(1, 1500),
            float_out_of_range: Odds::new(1, 1500),
            denormal_decimal: Odds::new(1, 1000),
            narrowing: Odds::new(9, 10),
            float_ternary: Odds::new(1, 200),
            dimension_expression: Odds::new(1, 400),
            incomplete_vector: Odds::new(1, 300),
            empty_list: Odds::new(1, 16),
            max_dimensions: 4,
            max_extent: 6,
            max_elements: 64,
            max_declarators: 3,
            max_align_log2: 8,
            floats: true,
            nans: true,
            casts: true,
            ternaries: true,
            integer_operators: true,
            warp_size: true,
            unsigned_suffix: true,
            radixes: true,
            odd_spellings: true,
            floats_in_bits: true,
            single_bits_elsewhere: true,
            narrow_types: true,
            const_space: true,
            vectors: true,
            incomplete_lists: true,
            omitted_dimension: true,
            alignment: true,
            linkage: true,
            half_types: true,
            weights: Weights::default(),
        }
    }
}

impl Config {
    /// The default knobs without what an implementation may refuse or die of, so that large batches get through whole:
    /// no hazard is made on purpose, and no divisor is zero by chance.
    pub fn calm() -> Config {
        Config {
            division_by_zero: Odds::NEVER,
            unguarded_divisor: Odds::NEVER,
            quotient_overflow: Odds::NEVER,
            huge_literal: Odds::NEVER,
            float_out_of_range: Odds::NEVER,
            denormal_decimal: Odds::NEVER,
            float_ternary: Odds::NEVER,
            dimension_expression: Odds::NEVER,
            incomplete_vector: Odds::NEVER,
            ..Config::default()
        }
    }
}

impl<'a> Arbitrary<'a> for Config {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Config> {
        // Named one by one, so that a new knob cannot be forgotten here.
        let Config {
            mut max_nodes,
            mut max_depth,
            mut max_element_nodes,
            early_leaf,
            mut redundant_parentheses,
            mut division_by_zero,
            mut unguarded_divisor,
            mut quotient_overflow,
            mut wide_shift,
            mut unguarded_shift,
            mut huge_literal,
            mut float_out_of_range,
            mut denormal_decimal,
            mut narrowing,
            mut float_ternary,
            mut dimension_expression,
            mut incomplete_vector,
            mut empty_list,
            mut max_dimensions,
            mut max_extent,
            mut max_elements,
            mut max_declarators,
            mut max_align_log2,
            mut floats,
            mut nans,
            mut casts,
            mut ternaries,
            mut integer_operators,
            mut warp_size,
            mut unsigned_suffix,
            mut radixes,
            mut odd_spellings,
            mut floats_in_bits,
            mut single_bits_elsewhere,
            mut narrow_types,
            mut const_space,
            mut vectors,
            mut incomplete_lists,
            mut omitted_dimension,
            mut alignment,
            mut linkage,
            mut half_types,
            mut weights,
        } = Config::default();
        for number in [
            &mut max_nodes,
            &mut max_depth,
            &mut max_element_nodes,
            &mut max_dimensions,
            &mut max_declarators,
            &mut max_align_log2,
        ] {
            *number = u.int_in_range(1..=*number)?;
        }
        for number in [&mut max_extent, &mut max_elements] {
            *number = u.int_in_range(1..=*number)?;
        }
        for odds in [
            &mut redundant_parentheses,
            &mut division_by_zero,
            &mut unguarded_divisor,
            &mut quotient_overflow,
            &mut wide_shift,
            &mut unguarded_shift,
            &mut huge_literal,
            &mut float_out_of_range,
            &mut denormal_decimal,
            &mut narrowing,
            &mut float_ternary,
            &mut dimension_expression,
            &mut incomplete_vector,
            &mut empty_list,
        ] {
            if !u.arbitrary::<bool>()? {
                *odds = Odds::NEVER;
            }
        }
        for switch in [
            &mut floats,
            &mut nans,
            &mut casts,
            &mut ternaries,
            &mut integer_operators,
            &mut warp_size,
            &mut unsigned_suffix,
            &mut radixes,
            &mut odd_spellings,
            &mut floats_in_bits,
            &mut single_bits_elsewhere,
            &mut narrow_types,
            &mut const_space,
            &mut vectors,
            &mut incomplete_lists,
            &mut omitted_dimension,
            &mut alignment,
            &mut linkage,
            &mut half_types,
        ] {
            *switch = u.arbitrary()?;
        }
        for production in grammar::productions() {
            if u.arbitrary::<u8>()? < 32 {
                weights.switch_off(production);
            }
        }
        Ok(Config {
            max_nodes,
            max_depth,
            max_element_nodes,
            early_leaf,
            redundant_parentheses,
            division_by_zero,
            unguarded_divisor,
            quotient_overflow,
            wide_shift,
            unguarded_shift,
            huge_literal,
            float_out_of_range,
            denormal_decimal,
            narrowing,
            float_ternary,
            dimension_expression,
            incomplete_vector,
            empty_list,
            max_dimensions,
            max_extent,
            max_elements,
            max_declarators,
            max_align_log2,
            floats,
            nans,
            casts,
            ternaries,
            integer_operators,
            warp_size,
            unsigned_suffix,
            radixes,
            odd_spellings,
            floats_in_bits,
            single_bits_elsewhere,
            narrow_types,
            const_space,
            vectors,
            incomplete_lists,
            omitted_dimension,
            alignment,
            linkage,
            half_types,
            weights,
        })
    }
}
