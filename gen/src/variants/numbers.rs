//! Numbers and expressions in other spellings.

use std::collections::BTreeMap;

use ptxsmith_syntax::{
    Builder, Declaration, Declarator, Expr, Module, NodeKind, Number, ScalarType, Specifier, VisitMut,
    read_number,
};

/// Where an expression stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ConstantContext {
    /// In the initial value of a variable of this type.
    Initial(Option<ScalarType>),
    /// Anywhere else.
    Elsewhere,
}

/// Walks through the constants that may be spelled otherwise: not the counts of parameterized names and banks of constants, of
/// which the text does not say how they are written.
struct Constants<F> {
    context: ConstantContext,
    ty: Option<ScalarType>,
    each: F,
}

impl<F: FnMut(&mut Expr, ConstantContext)> VisitMut<'_> for Constants<F> {
    fn declaration(&mut self, declaration: &mut Declaration) {
        self.ty = declaration.scalar_type();
        declaration.specifiers.iter_mut().for_each(|specifier| self.specifier(specifier));
        declaration.declarators.iter_mut().for_each(|declarator| self.declarator(declarator));
    }

    fn declarator(&mut self, declarator: &mut Declarator) {
        declarator.dimensions.iter_mut().flatten().for_each(|dimension| self.expr(dimension));
        if let Some(initializer) = &mut declarator.initializer {
            self.context = ConstantContext::Initial(self.ty);
            self.initializer(initializer);
            self.context = ConstantContext::Elsewhere;
        }
    }

    fn specifier(&mut self, specifier: &mut Specifier) {
        match specifier {
            Specifier::Align(expr) => self.expr(expr),
            Specifier::Attributes(all) => {
                all.iter_mut().flat_map(|attribute| &mut attribute.arguments).for_each(|expr| self.expr(expr))
            }
            _ => {}
        }
    }

    fn expr(&mut self, expr: &mut Expr) {
        (self.each)(expr, self.context);
    }
}

fn each_constant(module: &mut Module, each: impl FnMut(&mut Expr, ConstantContext)) {
    Constants { context: ConstantContext::Elsewhere, ty: None, each }.module(module);
}

/// Spells integers otherwise, or floats.
pub(super) fn respell(module: &mut Module, floats: bool, ways: &BTreeMap<u32, u64>) -> u32 {
    let mut place = 0;
    each_constant(module, |expr, context| {
        for id in 0..=expr.root() {
            let NodeKind::Number(text) = expr.kind(id) else { continue };
            let Some(number) = read_number(text) else { continue };
            if matches!(number, Number::Integer { .. }) == floats {
                continue;
            }
            if let Some(&way) = ways.get(&place) {
                let alone = (expr.nodes().len() == 1).then_some(context);
                let all = if floats { float_spellings(number, alone) } else { integer_spellings(number) };
                if !all.is_empty() {
                    *expr = expr.replaced(id, &Expr::number(&*all[(way % all.len() as u64) as usize]));
                }
            }
            place += 1;
        }
    });
    place
}

/// Spellings of an integer that have its value and its type.
fn integer_spellings(number: Number) -> Vec<String> {
    let Number::Integer { value: Some(value), unsigned, .. } = number else { return Vec::new() };
    let digits = [
        value.to_string(),
        format!("0x{value:x}"),
        format!("0X{value:X}"),
        format!("0x{value:016X}"),
        format!("0x{value:024x}"),
        format!("0{value:o}"),
        format!("0000{value:o}"),
        format!("0b{value:b}"),
        format!("0B{value:064b}"),
    ];
    // Beyond `.s64` a literal is unsigned with and without its suffix.
    let suffixes: &[&str] = match (unsigned, value > i64::MAX as u64) {
        (_, true) => &["", "U"],
        (true, false) => &["U"],
        (false, false) => &[""],
    };
    digits.iter().flat_map(|digits| suffixes.iter().map(move |suffix| format!("{digits}{suffix}"))).collect()
}

/// Spellings of a floating-point number that have its value; `alone` is where it stands, if nothing else stands there.
fn float_spellings(number: Number, alone: Option<ConstantContext>) -> Vec<String> {
    let single_context = alone == Some(ConstantContext::Initial(Some(ScalarType::F32)));
    match number {
        Number::Integer { .. } => Vec::new(),
        Number::SingleBits(bits) => {
            let mut all = of_single(bits);
            // A variable of single precision holds the same bits, whichever notation they come from.
            let value = f64::from(f32::from_bits(bits));
            if single_context && value.is_finite() && value.is_sign_positive() {
                all.extend(of_double(value.to_bits()));
            }
            all
        }
        Number::DoubleBits(bits) => with_single(bits, single_context),
        Number::Float(value) if value.is_finite() => with_single(value.to_bits(), single_context),
        Number::Float(_) => Vec::new(),
    }
}

fn with_single(bits: u64, single_context: bool) -> Vec<String> {
    let mut all = of_double(bits);
    let value = f64::from_bits(bits);
    if single_context && f64::from(value as f32) == value {
        all.extend(of_single((value as f32).to_bits()));
    }
    all
}

fn of_single(bits: u32) -> Vec<String> {
    vec![format!("0f{bits:08x}"), format!("0F{bits:08X}"), format!("0f{bits:08X}")]
}

fn of_double(bits: u64) -> Vec<String> {
    let mut all = vec![format!("0d{bits:016x}"), format!("0D{bits:016X}"), format!("0d{bits:016X}")];
    let value = f64::from_bits(bits);
    if value.is_finite() && value.is_sign_positive() {
        let decimals = [
            format!("{value:e}"),
            format!("{value:E}").replace("E", "E+").replace("+-", "-"),
            format!("{value:.16e}"),
            format!("{value:.24e}"),
            format!("0{value:?}"),
            format!("{value:.40}"),
            format!("{value:?}").trim_start_matches('0').to_owned(),
        ];
        // Those that say another number, or none, are no spellings of this one.
        let is_same =
            |text: &String| matches!(read_number(text), Some(Number::Float(same)) if same.to_bits() == bits);
        all.extend(decimals.into_iter().filter(is_same));
    }
    all
}

/// Puts parts of initial values in parentheses. What a bit pattern of single precision, an address or a mask means there is
/// not asked.
pub(super) fn parenthesize(module: &mut Module, ways: &BTreeMap<u32, u64>) -> u32 {
    let mut place = 0;
    each_constant(module, |expr, context| {
        let is_plain = |kind: &NodeKind| match kind {
            NodeKind::Name(_) | NodeKind::Generic(_) | NodeKind::Mask(..) => false,
            NodeKind::Number(text) => {
                read_number(text).is_some_and(|number| !matches!(number, Number::SingleBits(_)))
            }
            _ => true,
        };
        if !matches!(context, ConstantContext::Initial(Some(_)))
            || !expr.nodes().iter().all(|node| is_plain(&node.kind))
        {
            return;
        }
        let count = expr.root() + 1;
        // The last first: what stands before an edit keeps its place.
        for id in (0..count).rev().filter(|id| ways.contains_key(&(place + id))) {
            *expr = expr.replaced(id, &in_parentheses(&expr.part(id)));
        }
        place += count;
    });
    place
}

fn in_parentheses(expr: &Expr) -> Expr {
    let mut builder = Builder::with_capacity(expr.nodes().len() + 1);
    for node in expr.nodes() {
        builder.push(node.kind.clone(), node.span);
    }
    builder.push(NodeKind::Paren(expr.root()), expr.span());
    builder.finish()
}
