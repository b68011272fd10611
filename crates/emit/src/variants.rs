//! Derives smaller globals by removing or simplifying one part.

use crate::shape::shape;
use crate::source::print::declaration;
use crate::source::{
    CxxArray, CxxClass, CxxGlobal, CxxLiteral, CxxPointer, CxxString, CxxType, CxxVector, GlobalSpecifier,
    Initialization, Member, MemorySpace, Scalar, TestGlobal,
};

impl TestGlobal for CxxGlobal {
    fn number(&self) -> u64 {
        self.number
    }

    fn numbered(&self, number: u64) -> CxxGlobal {
        CxxGlobal { number, ..self.clone() }
    }

    fn text(&self) -> String {
        declaration(self)
    }

    fn shape(&self) -> String {
        shape(self)
    }

    fn variants(&self) -> Vec<CxxGlobal> {
        variants(self)
    }
}

/// Returns every global that is one step smaller or simpler.
fn variants(global: &CxxGlobal) -> Vec<CxxGlobal> {
    let mut variants = Vec::new();
    if global.form != GlobalSpecifier::Plain {
        variants.push(CxxGlobal { form: GlobalSpecifier::Plain, ..global.clone() });
    }
    if global.initialization != Initialization::Listed {
        variants.push(CxxGlobal { initialization: Initialization::Listed, ..global.clone() });
    }
    if global.space != MemorySpace::Device {
        variants.push(CxxGlobal { space: MemorySpace::Device, ..global.clone() });
    }
    variants.extend(type_variants(&global.ty).into_iter().map(|ty| CxxGlobal { ty, ..global.clone() }));
    let mut ids = Vec::new();
    let mut apart = global.clone();
    separate(&mut apart.ty, &mut ids);
    if apart != *global {
        variants.push(apart);
    }
    variants
}

/// Gives a class that occurs twice another number, so that its occurrences can be reduced apart from each
/// other.
fn separate(ty: &mut CxxType, ids: &mut Vec<u32>) {
    match ty {
        CxxType::Array(array) => separate(&mut array.element, ids),
        CxxType::Class(class) => separate_class(class, ids),
        CxxType::Scalar(..) | CxxType::Pointer(_) | CxxType::Text(_) | CxxType::Vector(_) => {}
    }
}

fn separate_class(class: &mut CxxClass, ids: &mut Vec<u32>) {
    class.bases.iter_mut().for_each(|base| separate_class(base, ids));
    class.members.iter_mut().for_each(|member| separate(&mut member.ty, ids));
    while ids.contains(&class.id) {
        class.id += 1000;
    }
    ids.push(class.id);
}

fn type_variants(ty: &CxxType) -> Vec<CxxType> {
    match ty {
        CxxType::Scalar(scalar, value) => scalar_variants(*scalar, value),
        CxxType::Pointer(pointer) => {
            let plainer = [
                CxxPointer::Object,
                CxxPointer::Function,
                CxxPointer::DataMember,
                CxxPointer::NullMethod,
                CxxPointer::Method,
            ];
            let place = plainer.iter().position(|plain| plain == pointer).unwrap_or(plainer.len());
            let mut variants: Vec<CxxType> =
                plainer[..place].iter().map(|&plain| CxxType::Pointer(plain)).collect();
            variants.push(CxxType::Scalar(Scalar::Int, CxxLiteral::Integer(5)));
            variants
        }
        CxxType::Text(text) => string_variants(text),
        CxxType::Vector(vector) => vector_variants(vector),
        CxxType::Array(array) => array_variants(array),
        CxxType::Class(class) => {
            let mut variants: Vec<CxxType> = class.bases.iter().cloned().map(CxxType::Class).collect();
            variants.extend(
                class.members.iter().filter(|member| !member.is_padding()).map(|member| member.ty.clone()),
            );
            variants.extend(class_variants(class).into_iter().map(CxxType::Class));
            variants
        }
    }
}

/// The plain types, the simplest first. Their values differ from padding.
const PLAIN: [Scalar; 5] = [Scalar::Int, Scalar::Char, Scalar::Short, Scalar::Long, Scalar::Int128];

fn scalar_variants(scalar: Scalar, value: &CxxLiteral) -> Vec<CxxType> {
    let place = PLAIN.iter().position(|plain| *plain == scalar).unwrap_or(PLAIN.len());
    let mut variants: Vec<CxxType> =
        PLAIN[..place].iter().map(|&plain| CxxType::Scalar(plain, CxxLiteral::Integer(5))).collect();
    if !scalar.is_floating() && *value != CxxLiteral::Integer(5) {
        variants.push(CxxType::Scalar(scalar, CxxLiteral::Integer(5)));
    }
    let literals = literal_variants(scalar, value).into_iter().filter(|literal| literal.is_defined(scalar));
    variants.extend(literals.map(|literal| CxxType::Scalar(scalar, literal)));
    variants
}

/// Shortens a literal: without its sign, without half of its digits or the last one, or in the type of the
/// scalar.
fn literal_variants(scalar: Scalar, value: &CxxLiteral) -> Vec<CxxLiteral> {
    let CxxLiteral::Floating(text, of) = value else { return Vec::new() };
    let mut texts: Vec<String> = text.strip_prefix('-').map(str::to_owned).into_iter().collect();
    // Digits in front of a point or the end of the digits of a hexadecimal number decide on its size.
    if let Some((before, after)) = text.split_once('.') {
        let end = after.find(['e', 'E', 'p']).unwrap_or(after.len());
        let (digits, power) = after.split_at(end);
        let lengths = [digits.len() / 2, digits.len().saturating_sub(1)];
        let lengths = lengths.into_iter().filter(|&length| 0 < length && length < digits.len());
        texts.extend(lengths.map(|length| format!("{before}.{}{power}", &digits[..length])));
    }
    let mut variants: Vec<CxxLiteral> =
        texts.into_iter().map(|text| CxxLiteral::Floating(text, *of)).collect();
    if *of != scalar && scalar.is_floating() && !scalar.lacks_literals() {
        variants.push(CxxLiteral::Floating(text.clone(), scalar));
    }
    variants
}

fn vector_variants(vector: &CxxVector) -> Vec<CxxType> {
    let mut variants = scalar_variants(vector.element, &vector.value);
    variants.push(CxxType::Scalar(vector.element, vector.value.clone()));
    variants.extend((1..vector.length).map(|length| CxxType::Vector(CxxVector { length, ..vector.clone() })));
    let plain = CxxVector { element: Scalar::Int, value: CxxLiteral::Integer(5), ..*vector };
    if *vector != plain {
        variants.push(CxxType::Vector(plain));
    }
    variants
}

fn string_variants(text: &CxxString) -> Vec<CxxType> {
    let mut variants = vec![CxxType::Scalar(Scalar::Char, CxxLiteral::Integer(5))];
    let units = text.units(0).len() as u64;
    let mut rest = text.text.chars();
    if rest.next().is_some() {
        let shorter = CxxString { text: rest.collect(), ..text.clone() };
        let length = text.length - units + shorter.units(0).len() as u64;
        variants.push(CxxType::Text(CxxString { length, ..shorter }));
    }
    if text.length > units + 1 {
        variants.push(CxxType::Text(CxxString { length: text.length - 1, ..text.clone() }));
    }
    if text.scalar != Scalar::Char && text.text.is_ascii() {
        variants.push(CxxType::Text(CxxString { scalar: Scalar::Char, ..text.clone() }));
    }
    variants
}

fn array_variants(array: &CxxArray) -> Vec<CxxType> {
    let mut variants = vec![array.element.clone()];
    let mut arrays = Vec::new();
    if array.length > 1 {
        let length = array.length - 1;
        arrays.push(CxxArray { length, given: array.given.min(length), ..array.clone() });
    }
    if array.given < array.length {
        arrays.push(CxxArray { given: array.length, ..array.clone() });
    }
    for element in type_variants(&array.element) {
        arrays.push(CxxArray { element, ..*array });
    }
    variants.extend(arrays.into_iter().map(|array| CxxType::Array(Box::new(array))));
    variants
}

fn class_variants(class: &CxxClass) -> Vec<CxxClass> {
    let mut variants = Vec::new();
    let count = class.members.len();
    // Removing one member may leave padding in its place and change nothing else, so also try several
    // adjacent ones.
    for (from, to) in (0..count).flat_map(|from| (from + 1..=count).map(move |to| (from, to))) {
        if class.is_union && (from..to).contains(&class.active) {
            continue;
        }
        let mut smaller = class.clone();
        smaller.members.drain(from..to);
        if !class.is_union {
            smaller.given -= to.min(class.given).saturating_sub(from);
        }
        smaller.skipped = match class.skipped {
            Some(index) if (from..to).contains(&index) => None,
            Some(index) if index >= to => Some(index - (to - from)),
            other => other,
        };
        if from < class.active {
            smaller.active -= to - from;
        }
        variants.push(smaller);
    }
    for place in 0..class.bases.len() {
        let mut smaller = class.clone();
        smaller.bases.remove(place);
        variants.push(smaller);
        for base in class_variants(&class.bases[place]) {
            let mut smaller = class.clone();
            smaller.bases[place] = base;
            variants.push(smaller);
        }
    }
    variants.extend(plainer_classes(class));
    if class.is_union && class.active > 0 {
        let mut first = class.clone();
        first.members.swap(0, class.active);
        variants.push(CxxClass { active: 0, ..first });
    }
    for (place, member) in class.members.iter().enumerate() {
        for smaller in member_variants(member) {
            let mut with = class.clone();
            with.members[place] = smaller;
            variants.push(with);
        }
    }
    variants
}

/// Returns the class without each of its attributes, and with a plainer initializer.
fn plainer_classes(class: &CxxClass) -> Vec<CxxClass> {
    let mut variants = Vec::new();
    if class.is_packed {
        variants.push(CxxClass { is_packed: false, ..class.clone() });
    }
    if class.pack.is_some() {
        variants.push(CxxClass { pack: None, ..class.clone() });
    }
    if class.align.is_some() {
        variants.push(CxxClass { align: None, ..class.clone() });
    }
    if class.has_constructor {
        variants.push(CxxClass { has_constructor: false, has_virtual: false, ..class.clone() });
    }
    if class.has_virtual {
        variants.push(CxxClass { has_virtual: false, ..class.clone() });
    }
    if class.has_defaults {
        variants.push(CxxClass { has_defaults: false, ..class.clone() });
    }
    if class.skipped.is_some() {
        variants.push(CxxClass { skipped: None, ..class.clone() });
    } else if class.is_designated {
        variants.push(CxxClass { is_designated: false, ..class.clone() });
    }
    if class.given < class.members.len() && !class.is_union {
        variants.push(CxxClass { given: class.members.len(), ..class.clone() });
    }
    variants
}

fn member_variants(member: &Member) -> Vec<Member> {
    let mut variants = Vec::new();
    if member.align.is_some() {
        variants.push(Member { align: None, ..member.clone() });
    }
    if member.may_overlap {
        variants.push(Member { may_overlap: false, ..member.clone() });
    }
    if member.is_packed {
        variants.push(Member { is_packed: false, ..member.clone() });
    }
    if let (Some(_), CxxType::Scalar(scalar, _)) = (member.excess_width(), &member.ty) {
        variants.push(Member { width: Some(scalar.bits() as u32), ..member.clone() });
    }
    if member.is_unnamed {
        variants.push(Member { is_unnamed: false, ..member.clone() });
    }
    if member.width.is_some() && !member.is_unnamed {
        variants.push(Member { width: None, ..member.clone() });
    }
    for ty in type_variants(&member.ty) {
        let is_field = member.width.is_some();
        let fits = match &ty {
            CxxType::Scalar(scalar, _) => {
                scalar.is_integral() && member.width.is_some_and(|width| width as usize <= 8 * scalar.size())
            }
            _ => false,
        };
        let is_class = matches!(ty, CxxType::Class(_));
        // A class without members and a name declares nothing; compilers disagree whether it is a member.
        let may_be_unnamed = matches!(&ty, CxxType::Class(class) if !class.members.is_empty());
        if is_field && !fits || member.is_unnamed && !is_field && !may_be_unnamed {
            continue;
        }
        let may_overlap = member.may_overlap && is_class;
        variants.push(Member { ty, may_overlap, ..member.clone() });
    }
    variants
}
