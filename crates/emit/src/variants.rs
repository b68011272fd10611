//! Derives smaller globals by removing or simplifying one part.

use crate::shape::shape;
use crate::source::print::declaration;
use crate::source::{
    Array, Class, Form, Global, Literal, Member, Pointer, Scalar, Source, Space, Text, Type,
};

impl Source for Global {
    fn number(&self) -> u64 {
        self.number
    }

    fn numbered(&self, number: u64) -> Global {
        Global { number, ..self.clone() }
    }

    fn text(&self) -> String {
        declaration(self)
    }

    fn shape(&self) -> String {
        shape(self)
    }

    fn variants(&self) -> Vec<Global> {
        variants(self)
    }
}

/// Returns every global that is one step smaller or simpler.
fn variants(global: &Global) -> Vec<Global> {
    let mut all = Vec::new();
    if global.form != Form::Plain {
        all.push(Global { form: Form::Plain, ..global.clone() });
    }
    if global.space != Space::Device {
        all.push(Global { space: Space::Device, ..global.clone() });
    }
    all.extend(of_type(&global.ty).into_iter().map(|ty| Global { ty, ..global.clone() }));
    all
}

fn of_type(ty: &Type) -> Vec<Type> {
    match ty {
        Type::Scalar(scalar, value) => of_scalar(*scalar, value),
        Type::Pointer(pointer) => {
            let plainer = [Pointer::Object, Pointer::Function, Pointer::DataMember];
            let place = plainer.iter().position(|plain| plain == pointer).unwrap_or(plainer.len());
            let mut all: Vec<Type> = plainer[..place].iter().map(|&plain| Type::Pointer(plain)).collect();
            all.push(Type::Scalar(Scalar::Int, Literal::Integer(5)));
            all
        }
        Type::Text(text) => of_text(text),
        Type::Array(array) => of_array(array),
        Type::Class(class) => {
            let mut all: Vec<Type> = class.bases.iter().cloned().map(Type::Class).collect();
            all.extend(
                class.members.iter().filter(|member| !member.is_padding()).map(|member| member.ty.clone()),
            );
            all.extend(of_class(class).into_iter().map(Type::Class));
            all
        }
    }
}

/// The plain types, the simplest first. Their values differ from padding.
const PLAIN: [Scalar; 5] = [Scalar::Int, Scalar::Char, Scalar::Short, Scalar::Long, Scalar::Int128];

fn of_scalar(scalar: Scalar, value: &Literal) -> Vec<Type> {
    let place = PLAIN.iter().position(|plain| *plain == scalar).unwrap_or(PLAIN.len());
    let mut all: Vec<Type> =
        PLAIN[..place].iter().map(|&plain| Type::Scalar(plain, Literal::Integer(5))).collect();
    if !scalar.is_floating() && *value != Literal::Integer(5) {
        all.push(Type::Scalar(scalar, Literal::Integer(5)));
    }
    let literals = of_literal(scalar, value).into_iter().filter(|literal| literal.is_defined(scalar));
    all.extend(literals.map(|literal| Type::Scalar(scalar, literal)));
    all
}

/// Shortens a literal: without its sign, without half of its digits or the last one, or in the type of the scalar.
fn of_literal(scalar: Scalar, value: &Literal) -> Vec<Literal> {
    let Literal::Floating(text, of) = value else { return Vec::new() };
    let mut texts: Vec<String> = text.strip_prefix('-').map(str::to_owned).into_iter().collect();
    // Digits in front of a point or the end of the digits of a hexadecimal number decide on its size.
    if let Some((before, after)) = text.split_once('.') {
        let end = after.find(['e', 'E', 'p']).unwrap_or(after.len());
        let (digits, power) = after.split_at(end);
        let lengths = [digits.len() / 2, digits.len().saturating_sub(1)];
        let lengths = lengths.into_iter().filter(|&length| 0 < length && length < digits.len());
        texts.extend(lengths.map(|length| format!("{before}.{}{power}", &digits[..length])));
    }
    let mut all: Vec<Literal> = texts.into_iter().map(|text| Literal::Floating(text, *of)).collect();
    if *of != scalar && scalar.is_floating() {
        all.push(Literal::Floating(text.clone(), scalar));
    }
    all
}

fn of_text(text: &Text) -> Vec<Type> {
    let mut all = vec![Type::Scalar(Scalar::Char, Literal::Integer(5))];
    let units = text.units().len() as u64;
    let mut rest = text.text.chars();
    if rest.next().is_some() {
        let shorter = Text { text: rest.collect(), ..text.clone() };
        let length = text.length - units + shorter.units().len() as u64;
        all.push(Type::Text(Text { length, ..shorter }));
    }
    if text.length > units + 1 {
        all.push(Type::Text(Text { length: text.length - 1, ..text.clone() }));
    }
    if text.scalar != Scalar::Char && text.text.is_ascii() {
        all.push(Type::Text(Text { scalar: Scalar::Char, ..text.clone() }));
    }
    all
}

fn of_array(array: &Array) -> Vec<Type> {
    let mut all = vec![array.element.clone()];
    let mut push = |element: Type, length: u64, given: u64| {
        all.push(Type::Array(Box::new(Array { element, length, given })));
    };
    if array.length > 1 {
        push(array.element.clone(), array.length - 1, array.given.min(array.length - 1));
    }
    if array.given < array.length {
        push(array.element.clone(), array.length, array.length);
    }
    for element in of_type(&array.element) {
        push(element, array.length, array.given);
    }
    all
}

fn of_class(class: &Class) -> Vec<Class> {
    let mut all = Vec::new();
    let count = class.members.len();
    // Removing one member may leave padding in its place and change nothing else, so also try several adjacent ones.
    for (from, to) in (0..count).flat_map(|from| (from + 1..=count).map(move |to| (from, to))) {
        if class.is_union && (from..to).contains(&class.active) {
            continue;
        }
        let mut smaller = class.clone();
        smaller.members.drain(from..to);
        if !class.is_union {
            smaller.given -= to.min(class.given).saturating_sub(from);
        }
        if from < class.active {
            smaller.active -= to - from;
        }
        all.push(smaller);
    }
    for place in 0..class.bases.len() {
        let mut smaller = class.clone();
        smaller.bases.remove(place);
        all.push(smaller);
        for base in of_class(&class.bases[place]) {
            let mut smaller = class.clone();
            smaller.bases[place] = base;
            all.push(smaller);
        }
    }
    if class.is_packed {
        all.push(Class { is_packed: false, ..class.clone() });
    }
    if class.pack.is_some() {
        all.push(Class { pack: None, ..class.clone() });
    }
    if class.align.is_some() {
        all.push(Class { align: None, ..class.clone() });
    }
    if class.has_constructor {
        all.push(Class { has_constructor: false, ..class.clone() });
    }
    if class.given < class.members.len() && !class.is_union {
        all.push(Class { given: class.members.len(), ..class.clone() });
    }
    if class.is_union && class.active > 0 {
        let mut first = class.clone();
        first.members.swap(0, class.active);
        all.push(Class { active: 0, ..first });
    }
    for (place, member) in class.members.iter().enumerate() {
        for smaller in of_member(member) {
            let mut with = class.clone();
            with.members[place] = smaller;
            all.push(with);
        }
    }
    all
}

fn of_member(member: &Member) -> Vec<Member> {
    let mut all = Vec::new();
    if member.align.is_some() {
        all.push(Member { align: None, ..member.clone() });
    }
    if member.may_overlap {
        all.push(Member { may_overlap: false, ..member.clone() });
    }
    if member.is_unnamed {
        all.push(Member { is_unnamed: false, ..member.clone() });
    }
    if member.width.is_some() && !member.is_unnamed {
        all.push(Member { width: None, ..member.clone() });
    }
    for ty in of_type(&member.ty) {
        let is_field = member.width.is_some();
        let fits = match &ty {
            Type::Scalar(scalar, _) => {
                scalar.is_integral() && member.width.is_some_and(|width| width as usize <= 8 * scalar.size())
            }
            _ => false,
        };
        let is_class = matches!(ty, Type::Class(_));
        if is_field && !fits || member.is_unnamed && !is_field && !is_class {
            continue;
        }
        let may_overlap = member.may_overlap && is_class;
        all.push(Member { ty, may_overlap, ..member.clone() });
    }
    all
}
