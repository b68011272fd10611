//! The generator: a configuration, made ready for use.

use arbitrary::{Result, Unstructured};
use ptxsmith_syntax::{Assemble, Declaration, Expr, Item, ScalarType, Spacing, StateSpace};

use crate::{
    bytes::Bytes,
    config::Config,
    coverage::Coverage,
    declare::take_declaration,
    draft::Draft,
    grammar::{Nonterminal, ProductionId},
    seats,
    stock::Shared,
    wheel::{self, Wheels},
};

/// Makes programs from bytes, as a configuration says.
///
/// The tables that follow from the configuration are computed once, here, so one generator serves any number of
/// cases and threads. It has no state: the same bytes give the same program.
#[derive(Clone, Debug)]
pub struct Generator {
    config: Config,
    wheels: Wheels,
    /// Two bytes that are this much or more, as a number with the first one highest, are of a case that is spaced oddly.
    odd_from: u32,
}

impl Default for Generator {
    fn default() -> Generator {
        Generator::new(Config::default())
    }
}

impl Generator {
    /// A generator for this configuration.
    pub fn new(config: Config) -> Generator {
        let odd_from = (65_536.0 * (1.0 - config.odd_spacing.share())).ceil() as u32;
        Generator { wheels: Wheels::new(&config), config, odd_from }
    }

    /// The configuration.
    pub fn config(&self) -> &Config {
        &self.config
    }

    pub(crate) fn wheels(&self) -> &Wheels {
        &self.wheels
    }

    /// Whether the configuration leaves a production in the grammar. One that it leaves may still be out of reach.
    pub fn enables(&self, production: ProductionId) -> bool {
        wheel::enabled(&self.config, production)
    }

    /// An expression that is a value of this type: integers for the integer types, floats for the float types, and
    /// for bit-size types either. With no bytes left it is a single literal, zero.
    ///
    /// # Errors
    /// None today; the signature is that of every generator over [`Unstructured`].
    ///
    /// # Panics
    /// For `.f16`, `.f16x2`, `.b128` and `.pred`, which take no initial value that the generator knows.
    pub fn expression(
        &self,
        ty: ScalarType,
        u: &mut Unstructured<'_>,
        coverage: &mut Coverage,
    ) -> Result<Expr> {
        Ok(self.root(values_of(ty), u, coverage))
    }

    /// A type, a state space and an expression that is a value of that type, whose numbers may be those of other cases.
    pub(crate) fn seated(
        &self,
        u: &mut Unstructured<'_>,
        shared: Option<Shared<'static>>,
        coverage: &mut Coverage,
    ) -> (ScalarType, StateSpace, Expr) {
        self.drafted(u, coverage, |draft| {
            let (ty, space) = draft.seat();
            let room = draft.room();
            draft.shared = shared;
            let expr = draft.expression(|draft| draft.make(values_of(ty), room));
            (ty, space, expr)
        })
    }

    /// An integer expression of any value.
    ///
    /// # Errors
    /// None today; the signature is that of every generator over [`Unstructured`].
    pub fn integer(&self, u: &mut Unstructured<'_>, coverage: &mut Coverage) -> Result<Expr> {
        Ok(self.root(Nonterminal::Integer, u, coverage))
    }

    /// A float expression of any value.
    ///
    /// # Errors
    /// None today; the signature is that of every generator over [`Unstructured`].
    pub fn float(&self, u: &mut Unstructured<'_>, coverage: &mut Coverage) -> Result<Expr> {
        Ok(self.root(Nonterminal::Float, u, coverage))
    }

    /// A declaration statement. Its names are not used twice: their number is in each. With no bytes left it is one
    /// `.global` variable without an initial value.
    ///
    /// # Errors
    /// None today; the signature is that of every generator over [`Unstructured`].
    pub fn declaration(&self, u: &mut Unstructured<'_>, coverage: &mut Coverage) -> Result<Declaration> {
        Ok(self.drafted(u, coverage, |draft| {
            draft.make(Nonterminal::Declaration, 1);
            take_declaration(draft)
        }))
    }

    /// Statements of which some hold addresses of what others declare: variables, functions and kernels.
    ///
    /// # Errors
    /// None today; the signature is that of every generator over [`Unstructured`].
    pub fn addresses(&self, u: &mut Unstructured<'_>, coverage: &mut Coverage) -> Result<Vec<Item>> {
        Ok(self.drafted(u, coverage, |draft| {
            draft.make(Nonterminal::Group, 1);
            std::mem::take(&mut draft.sketch.items)
        }))
    }

    /// One kernel, `k0`, and what it uses: it writes what its operands mean into the buffer that its one parameter points
    /// to.
    ///
    /// # Errors
    /// None today; the signature is that of every generator over [`Unstructured`].
    pub fn kernel(&self, u: &mut Unstructured<'_>, coverage: &mut Coverage) -> Result<Vec<Item>> {
        Ok(self.drafted(u, coverage, |draft| {
            draft.make(Nonterminal::Kernel, 1);
            std::mem::take(&mut draft.sketch.items)
        }))
    }

    /// Declarations that all hold one constant: in the last scalar of each variable, or, of eight bytes, in all.
    ///
    /// # Errors
    /// None today; the signature is that of every generator over [`Unstructured`].
    pub fn seats(&self, u: &mut Unstructured<'_>, coverage: &mut Coverage) -> Result<Vec<Item>> {
        let float = self.config.floats && self.drafted(u, coverage, |draft| draft.byte()) >= 192;
        let constant = if float { self.float(u, coverage) } else { self.integer(u, coverage) }?;
        Ok(seats::seats(&constant, float, self.config.masks))
    }

    /// As [`Generator::expression`] and [`Generator::integer`], for whoever needs no tree: the nodes go to `into`. The
    /// nonterminal is the value of a type, or without one an integer.
    ///
    /// # Panics
    /// As [`Generator::expression`].
    pub fn assemble(
        &self,
        ty: Option<ScalarType>,
        u: &mut Unstructured<'_>,
        coverage: &mut Coverage,
        into: &mut dyn Assemble,
    ) {
        let mut draft = Draft::new(self, Bytes::of(u), coverage);
        draft.assemble(ty.map_or(Nonterminal::Integer, values_of), into);
        draft.bytes.give_back(u);
    }

    fn root(&self, of: Nonterminal, u: &mut Unstructured<'_>, coverage: &mut Coverage) -> Expr {
        self.drafted(u, coverage, |draft| {
            let room = draft.room();
            draft.expression(|draft| draft.make(of, room))
        })
    }

    /// What is made of the next bytes.
    fn drafted<T>(
        &self,
        u: &mut Unstructured<'_>,
        coverage: &mut Coverage,
        make: impl FnOnce(&mut Draft<'_, '_>) -> T,
    ) -> T {
        let mut draft = Draft::new(self, Bytes::of(u), coverage);
        let made = make(&mut draft);
        draft.bytes.give_back(u);
        made
    }

    /// How a case is spaced: canonically, or, as often as the knob says, oddly.
    pub(crate) fn spacing(&self, bytes: &mut Bytes<'_>) -> Spacing {
        // Bytes that have run out are zeros, and those mean the canonical form.
        let drawn = u16::from_be_bytes([bytes.byte(), bytes.byte()]);
        if drawn > 0 && u32::from(drawn) >= self.odd_from {
            Spacing::Odd(bytes.word())
        } else {
            Spacing::Canonical
        }
    }
}

/// The nonterminal of the values of a type that takes initial values.
///
/// # Panics
/// Where the type takes none.
pub(crate) fn values_of(ty: ScalarType) -> Nonterminal {
    value_of(ty).expect("the type takes an initial value")
}

/// The nonterminal of the values that a type takes; `None` for a type without initial values.
#[inline]
pub(crate) fn value_of(ty: ScalarType) -> Option<Nonterminal> {
    // Looked up, since nobody foresees which type comes next.
    static VALUES: [Option<Nonterminal>; ScalarType::ALL.len()] = {
        let mut values = [None; ScalarType::ALL.len()];
        let mut at = 0;
        while at < values.len() {
            values[at] = matched(ScalarType::ALL[at]);
            at += 1;
        }
        values
    };
    VALUES[ty as usize]
}

const fn matched(ty: ScalarType) -> Option<Nonterminal> {
    Some(match ty {
        ScalarType::S64 | ScalarType::U64 => Nonterminal::WideValue,
        ScalarType::B64 => Nonterminal::B64Value,
        ScalarType::B32 => Nonterminal::B32Value,
        ScalarType::F32 => Nonterminal::F32Value,
        ScalarType::F64 => Nonterminal::F64Value,
        ScalarType::S8 | ScalarType::S16 | ScalarType::S32 => Nonterminal::NarrowValue,
        ScalarType::U8 | ScalarType::U16 | ScalarType::U32 => Nonterminal::NarrowValue,
        ScalarType::B8 | ScalarType::B16 => Nonterminal::NarrowValue,
        ScalarType::F16 | ScalarType::F16x2 | ScalarType::B128 | ScalarType::Pred => return None,
    })
}
