//! Generates globals. The same seed and number always give the same global.

use crate::literals::literal;
use crate::source::{
    CxxArray, CxxClass, CxxGlobal, CxxPointer, CxxString, CxxType, CxxVector, ELEMENTS, GlobalSpecifier,
    Initialization, Member, MemorySpace, Scalar,
};
use ptxsmith_gen::stream::Draw;

/// Generates the globals of a seed.
#[derive(Clone, Copy, Debug)]
pub struct GlobalGenerator {
    seed: u64,
}

/// The kinds of types to draw.
#[derive(Clone, Copy)]
enum TypeProduction {
    Scalar,
    Pointer,
    Text,
    Vector,
    Array,
    Struct,
    Union,
}

/// The weights of a member's type.
const MEMBERS: &[(TypeProduction, u64)] = &[
    (TypeProduction::Scalar, 55),
    (TypeProduction::Pointer, 14),
    (TypeProduction::Array, 8),
    (TypeProduction::Text, 3),
    (TypeProduction::Vector, 8),
    (TypeProduction::Struct, 12),
    (TypeProduction::Union, 3),
];
/// The weights of a global's type.
const GLOBALS: &[(TypeProduction, u64)] = &[
    (TypeProduction::Scalar, 6),
    (TypeProduction::Pointer, 3),
    (TypeProduction::Array, 16),
    (TypeProduction::Text, 2),
    (TypeProduction::Vector, 3),
    (TypeProduction::Struct, 65),
    (TypeProduction::Union, 5),
];
/// The weights of an array's element that a member's weights would draw seldom: tables of strings.
const ELEMENT_PRODUCTIONS: &[(Option<TypeProduction>, u64)] =
    &[(None, 90), (Some(TypeProduction::Text), 6), (Some(TypeProduction::Pointer), 4)];
const SCALARS: &[(Scalar, u64)] = &[
    (Scalar::Bool, 4),
    (Scalar::Char, 8),
    (Scalar::SignedChar, 4),
    (Scalar::UnsignedChar, 4),
    (Scalar::Short, 8),
    (Scalar::UnsignedShort, 4),
    (Scalar::Int, 12),
    (Scalar::Unsigned, 5),
    (Scalar::Long, 8),
    (Scalar::UnsignedLongLong, 5),
    (Scalar::Int128, 8),
    (Scalar::UnsignedInt128, 3),
    (Scalar::Wchar, 1),
    (Scalar::Char16, 2),
    (Scalar::Char32, 2),
    (Scalar::Char8, 2),
    (Scalar::Tiny, 3),
    (Scalar::Wide, 3),
    (Scalar::Loose, 1),
    (Scalar::Negative, 1),
    (Scalar::Huge, 1),
    (Scalar::Half, 2),
    (Scalar::Bfloat, 2),
    (Scalar::Float, 6),
    (Scalar::Double, 8),
    (Scalar::UnderShort, 1),
    (Scalar::UnderInt, 1),
    (Scalar::UnderLong, 1),
    (Scalar::UnderDouble, 1),
    (Scalar::UnderInt128, 1),
    (Scalar::OverChar, 1),
    (Scalar::OverInt, 1),
];
const POINTERS: &[(CxxPointer, u64)] = &[
    (CxxPointer::Null, 2),
    (CxxPointer::Object, 6),
    (CxxPointer::Element, 4),
    (CxxPointer::End, 2),
    (CxxPointer::Member, 3),
    (CxxPointer::Base, 2),
    (CxxPointer::Back, 1),
    (CxxPointer::Nested, 2),
    (CxxPointer::Fixed, 2),
    (CxxPointer::Text, 3),
    (CxxPointer::Inside, 2),
    (CxxPointer::Function, 4),
    (CxxPointer::DataMember, 2),
    (CxxPointer::DerivedMember, 1),
    (CxxPointer::NullDataMember, 2),
    (CxxPointer::Method, 2),
    (CxxPointer::DerivedMethod, 1),
    (CxxPointer::VirtualMethod, 2),
    (CxxPointer::NullMethod, 1),
];
const SPACES: &[(MemorySpace, u64)] =
    &[(MemorySpace::Device, 78), (MemorySpace::Constant, 18), (MemorySpace::Managed, 4)];
const FORMS: &[(GlobalSpecifier, u64)] = &[
    (GlobalSpecifier::Plain, 70),
    (GlobalSpecifier::Const, 6),
    (GlobalSpecifier::Static, 5),
    (GlobalSpecifier::Inline, 3),
    (GlobalSpecifier::Constexpr, 7),
    (GlobalSpecifier::Declared, 2),
    (GlobalSpecifier::Template, 4),
    (GlobalSpecifier::Local, 3),
];
/// Characters for wide strings: characters of one and of two UTF-16 units, and the neighbours of the
/// surrogates.
const CHARACTERS: [char; 6] = ['\u{e9}', '\u{20ac}', '\u{d7ff}', '\u{e000}', '\u{1f600}', '\u{10ffff}'];

/// The nesting limit of classes and arrays.
const DEEPEST: u32 = 3;
/// The maximum number of scalars in a global; its kernel reads each of them.
const MOST_LEAVES: u64 = 48;

impl GlobalGenerator {
    /// Creates a generator for this seed.
    pub fn new(seed: u64) -> GlobalGenerator {
        GlobalGenerator { seed }
    }

    /// Returns the global with this number.
    pub fn global(&self, number: u64) -> CxxGlobal {
        let mut draw = Draw::new(self.seed, number);
        // Where there is little, one cause hides no other.
        let left = if draw.chance(50) { MOST_LEAVES } else { 4 + draw.below(5) };
        let mut maker = GlobalBuilder { draw, next: 0, left, finished: Vec::new() };
        let production = maker.draw.weighted(GLOBALS);
        let mut ty = maker.ty(production, 0, true);
        let is_computed = matches!(ty, CxxType::Class(_)) && ty.is_assignable() && maker.draw.chance(8);
        let space = maker.draw.weighted(SPACES);
        let is_constructed = is_computed || ty.has_constructor();
        let form = match maker.draw.weighted(FORMS) {
            // A kernel calls no function of the host.
            GlobalSpecifier::Local if is_constructed => GlobalSpecifier::Static,
            form => form,
        };
        // Managed variables are neither constant nor local to a function (CUDA C++ Programming Guide, "Managed
        // Memory").
        let space = match form {
            GlobalSpecifier::Const | GlobalSpecifier::Constexpr | GlobalSpecifier::Local
                if space == MemorySpace::Managed =>
            {
                MemorySpace::Device
            }
            _ => space,
        };
        let is_constant = is_constructed || form == GlobalSpecifier::Constexpr;
        make_valid(&mut ty, &PartConstraints { is_constant, is_given: true });
        let initialization = if is_computed { Initialization::Computed } else { Initialization::Listed };
        CxxGlobal { number, space, form, initialization, ty }
    }
}

/// What C++ requires of a part of a global.
struct PartConstraints {
    /// Whether its initializer is evaluated as a constant expression.
    is_constant: bool,
    /// Whether it has an initializer.
    is_given: bool,
}

/// Removes constructs that C++ does not allow: a cast of an address in a constant expression, a reference
/// without an initializer, and an alignment smaller than the alignment of a part. Returns the largest alignment
/// requested.
fn make_valid(ty: &mut CxxType, part: &PartConstraints) -> u32 {
    match ty {
        CxxType::Pointer(pointer) => {
            match pointer {
                CxxPointer::Inside if part.is_constant => *pointer = CxxPointer::Element,
                CxxPointer::Reference if !part.is_given => *pointer = CxxPointer::Object,
                _ => {}
            }
            1
        }
        CxxType::Scalar(..) | CxxType::Text(_) | CxxType::Vector(_) => 1,
        CxxType::Array(array) => {
            let is_given = part.is_given && array.given == array.length;
            make_valid(&mut array.element, &PartConstraints { is_given, ..*part })
        }
        CxxType::Class(class) => make_class_valid(class, part),
    }
}

fn make_class_valid(class: &mut CxxClass, part: &PartConstraints) -> u32 {
    let mut least = 1;
    let is_given = (part.is_given || class.sets_values()) && !class.is_union;
    for base in &mut class.bases {
        let is_given = is_given && !class.has_defaults;
        least = least.max(make_class_valid(base, &PartConstraints { is_given, ..*part }));
    }
    let given: Vec<bool> = (0..class.members.len()).map(|index| is_given && class.is_given(index)).collect();
    for (member, is_given) in class.members.iter_mut().zip(given) {
        let type_align = make_valid(&mut member.ty, &PartConstraints { is_given, ..*part });
        member.align = member.align.map(|align| align.max(type_align));
        least = least.max(member.align.unwrap_or(type_align));
    }
    class.align = class.align.map(|align| align.max(least));
    class.align.unwrap_or(least)
}

struct GlobalBuilder {
    draw: Draw,
    /// The next number for a class or member.
    next: u32,
    /// The number of scalars still allowed.
    left: u64,
    /// The classes that may occur again.
    finished: Vec<CxxClass>,
}

impl GlobalBuilder {
    fn number(&mut self) -> u32 {
        self.next += 1;
        self.next - 1
    }

    /// Draws a type. It has a constructor only if `may_construct` is set.
    fn ty(&mut self, production: TypeProduction, depth: u32, may_construct: bool) -> CxxType {
        let production = match production {
            TypeProduction::Array | TypeProduction::Struct | TypeProduction::Union
                if depth >= DEEPEST || self.left < 4 =>
            {
                TypeProduction::Scalar
            }
            other => other,
        };
        match production {
            TypeProduction::Scalar => {
                self.left = self.left.saturating_sub(1);
                let scalar = self.draw.weighted(SCALARS);
                CxxType::Scalar(scalar, literal(&mut self.draw, scalar.plain()))
            }
            TypeProduction::Vector => self.vector(),
            TypeProduction::Pointer => {
                self.left = self.left.saturating_sub(1);
                CxxType::Pointer(self.draw.weighted(POINTERS))
            }
            TypeProduction::Text => self.text(),
            TypeProduction::Array => self.array(depth, may_construct),
            TypeProduction::Struct => CxxType::Class(self.class(depth, may_construct)),
            TypeProduction::Union => CxxType::Class(self.union(depth, may_construct)),
        }
    }

    fn character(&mut self, is_wide: bool) -> char {
        if is_wide && self.draw.chance(25) {
            return *self.draw.pick(&CHARACTERS);
        }
        (b'a' + self.draw.below(26) as u8) as char
    }

    fn text(&mut self) -> CxxType {
        let scalars = [
            Scalar::Char,
            Scalar::Char,
            Scalar::UnsignedChar,
            Scalar::Wchar,
            Scalar::Char16,
            Scalar::Char32,
            Scalar::Char8,
        ];
        let scalar = *self.draw.pick(&scalars);
        let characters = self.draw.below(7);
        let is_wide = scalar.size() > 1 || scalar == Scalar::Char8;
        let text: String = (0..characters).map(|_| self.character(is_wide)).collect();
        let mut text = CxxString { scalar, text, length: 0 };
        text.length = text.units(0).len() as u64 + 1 + self.draw.below(4);
        self.left = self.left.saturating_sub(text.length);
        CxxType::Text(text)
    }

    fn vector(&mut self) -> CxxType {
        let (element, _) = *self.draw.pick(&ELEMENTS);
        let length = 1 + self.draw.below(4) as u32;
        self.left = self.left.saturating_sub(u64::from(length));
        CxxType::Vector(CxxVector { element, length, value: literal(&mut self.draw, element) })
    }

    fn array(&mut self, depth: u32, may_construct: bool) -> CxxType {
        let length = 1 + self.draw.below(4);
        let before = self.left;
        self.left /= length;
        let share = self.left;
        let element = match self.draw.weighted(ELEMENT_PRODUCTIONS) {
            Some(TypeProduction::Pointer) => {
                self.left = self.left.saturating_sub(1);
                CxxType::Pointer(CxxPointer::Text)
            }
            Some(production) => self.ty(production, depth + 1, may_construct),
            None => {
                let production = self.draw.weighted(MEMBERS);
                self.ty(production, depth + 1, may_construct)
            }
        };
        let element = match element {
            CxxType::Scalar(scalar, value) if scalar.is_over_aligned() => {
                CxxType::Scalar(scalar.plain(), value)
            }
            other => other,
        };
        self.left = before.saturating_sub(length * (share - self.left));
        let given = if self.draw.chance(70) { length } else { self.draw.below(length + 1) };
        CxxType::Array(Box::new(CxxArray { element, length, given }))
    }

    fn class(&mut self, depth: u32, may_construct: bool) -> CxxClass {
        let id = self.number();
        let is_drawn = may_construct && self.draw.chance(20);
        let bases = self.bases(depth, may_construct);
        let has_constructor = is_drawn || bases.iter().any(CxxClass::is_polymorphic);
        let has_virtual = has_constructor && self.draw.chance(25);
        let count = self.draw.weighted(&[(0, 4), (1, 20), (2, 30), (3, 20), (4, 14), (6, 8), (9, 4)]);
        let mut members: Vec<Member> = Vec::new();
        while members.len() < count && self.left > 0 {
            let member = match members.last() {
                Some(last) if self.draw.chance(25) => self.related(last, has_constructor),
                None if !bases.is_empty() && self.draw.chance(25) => self.small(has_constructor),
                _ => None,
            };
            let member = match member {
                Some(member) => member,
                None => self.member(depth, may_construct, has_constructor),
            };
            members.push(member);
        }
        let all = members.len();
        let is_whole = has_constructor || self.draw.chance(80);
        let given = if is_whole { all } else { self.draw.below(all as u64 + 1) as usize };
        let is_packed = self.draw.chance(8);
        let aligns: &[u32] = if is_packed { &[2, 4, 8, 16, 32] } else { &[16, 32, 64] };
        let mut class = CxxClass {
            is_packed,
            pack: (!is_packed && self.draw.chance(6)).then(|| *self.draw.pick(&[1, 2, 4, 8])),
            align: self.draw.chance(10).then(|| *self.draw.pick(aligns)),
            has_constructor,
            has_defaults: may_construct && is_whole && !has_constructor && self.draw.chance(8),
            has_virtual,
            bases,
            given,
            ..CxxClass::new(id, members)
        };
        if class.has_defaults {
            // A default member initializer needs a member with a name.
            class.has_defaults = class.members.iter().all(|member| !member.is_unnamed);
        }
        if class.can_be_designated() && all > 0 && self.draw.chance(10) {
            class.is_designated = true;
            class.skipped = self.draw.chance(60).then(|| self.draw.below(all as u64) as usize);
        }
        class
    }

    fn bases(&mut self, depth: u32, may_construct: bool) -> Vec<CxxClass> {
        let count =
            if depth + 1 >= DEEPEST { 0 } else { self.draw.weighted(&[(0, 70), (1, 20), (2, 8), (3, 2)]) };
        let mut bases: Vec<CxxClass> = Vec::new();
        for _ in 0..count {
            // Members of a base that occurs twice would be ambiguous.
            let empty = self.finished.iter().find(|class| class.is_empty()).cloned();
            let base = match empty {
                Some(empty) if self.draw.chance(30) && bases.iter().all(|base| base.id != empty.id) => empty,
                _ => self.class(depth + 1, may_construct),
            };
            self.finished.push(base.clone());
            bases.push(base);
        }
        bases
    }

    /// Draws a member that compilers lay out or print specially behind this one: a wide one behind a pointer,
    /// a bit field behind another, a small one in the tail padding of a class.
    fn related(&mut self, last: &Member, in_constructed: bool) -> Option<Member> {
        match &last.ty {
            _ if last.width.is_some() => {
                let id = self.number();
                Some(self.field(id, in_constructed))
            }
            CxxType::Pointer(_) => {
                let scalar = *self.draw.pick(&[Scalar::Int128, Scalar::OverInt, Scalar::UnderInt128]);
                self.left = self.left.saturating_sub(1);
                let ty = CxxType::Scalar(scalar, literal(&mut self.draw, scalar.plain()));
                Some(Member::new(self.number(), ty))
            }
            CxxType::Class(_) => self.small(in_constructed),
            _ => None,
        }
    }

    /// Draws a member that fits into the tail padding of a class.
    fn small(&mut self, in_constructed: bool) -> Option<Member> {
        let id = self.number();
        if self.draw.chance(40) {
            return Some(self.field(id, in_constructed));
        }
        self.left = self.left.saturating_sub(1);
        let scalar = *self.draw.pick(&[Scalar::Bool, Scalar::Char, Scalar::Short, Scalar::Int]);
        Some(Member::new(id, CxxType::Scalar(scalar, literal(&mut self.draw, scalar))))
    }

    fn member(&mut self, depth: u32, may_construct: bool, in_constructed: bool) -> Member {
        let id = self.number();
        if self.draw.chance(22) {
            return self.field(id, in_constructed);
        }
        let production = self.draw.weighted(MEMBERS);
        let ty = match self.again(production, may_construct) {
            Some(class) => CxxType::Class(class),
            None => self.ty(production, depth + 1, may_construct),
        };
        let ty = match ty {
            CxxType::Pointer(CxxPointer::Object) if self.draw.chance(30) => {
                CxxType::Pointer(CxxPointer::Reference)
            }
            other => other,
        };
        let is_class = matches!(ty, CxxType::Class(_));
        let mut member = Member::new(id, ty);
        if let CxxType::Class(class) = &mut member.ty
            && !in_constructed
            && class.id > id
            && !class.is_constructed()
            && class.bases.is_empty()
            && class.align.is_none()
            && !class.is_packed
            && !class.members.is_empty()
            && self.draw.chance(25)
        {
            member.is_unnamed = true;
            class.pack = None;
        }
        // An alignment on a declaration without a name applies to nothing.
        if self.draw.chance(6) && !member.is_unnamed {
            member.align = Some(*self.draw.pick(&[16, 32]));
        }
        member.may_overlap = is_class && !member.is_unnamed && self.draw.chance(20);
        member.is_packed = member.align.is_none() && !member.is_unnamed && self.draw.chance(3);
        if let CxxType::Class(class) = &member.ty
            && !member.is_unnamed
        {
            self.finished.push(class.clone());
        }
        member
    }

    /// Draws a class that is already a member or a base: objects of one type have different addresses.
    fn again(&mut self, production: TypeProduction, may_construct: bool) -> Option<CxxClass> {
        if !matches!(production, TypeProduction::Struct) || !self.draw.chance(20) {
            return None;
        }
        let allowed =
            |class: &&CxxClass| class.members.len() <= 3 && (may_construct || !class.is_constructed());
        let classes: Vec<&CxxClass> = self.finished.iter().filter(allowed).collect();
        if classes.is_empty() {
            return None;
        }
        self.left = self.left.saturating_sub(4);
        Some((*self.draw.pick(&classes)).clone())
    }

    fn field(&mut self, id: u32, in_constructed: bool) -> Member {
        let scalar = loop {
            let scalar = self.draw.weighted(SCALARS);
            if scalar.is_integral() {
                break scalar;
            }
        };
        self.left = self.left.saturating_sub(1);
        // The bits beyond those of the type are padding.
        let excess = if self.draw.chance(4) { 20 } else { 0 };
        let mut width = 1 + self.draw.below(scalar.bits() as u64 + excess) as u32;
        let is_unnamed = !in_constructed && self.draw.chance(12);
        if is_unnamed && self.draw.chance(50) {
            width = 0;
        }
        let ty = CxxType::Scalar(scalar, literal(&mut self.draw, scalar));
        let is_packed = self.draw.chance(2);
        Member { width: Some(width), is_unnamed, is_packed, ..Member::new(id, ty) }
    }

    fn union(&mut self, depth: u32, may_construct: bool) -> CxxClass {
        let id = self.number();
        let count = 1 + self.draw.below(3);
        let before = self.left;
        let mut members = Vec::new();
        for _ in 0..count {
            self.left = before;
            let id = self.number();
            members.push(if self.draw.chance(8) {
                self.field(id, true)
            } else {
                let production = self.draw.weighted(MEMBERS);
                Member::new(id, self.ty(production, depth + 1, false))
            });
        }
        let mut active = if self.draw.chance(60) { 0 } else { self.draw.below(count) as usize };
        if members[active].width.is_some() && !self.draw.chance(5) {
            // A compiler that fails on such a union is slow to test.
            let other = members.iter().position(|member| member.width.is_none());
            match other {
                Some(other) => active = other,
                None => members[active].width = None,
            }
        }
        let sets_value = may_construct && self.draw.chance(12);
        let has_constructor = sets_value && self.draw.chance(50);
        CxxClass {
            is_union: true,
            has_constructor,
            has_defaults: sets_value && !has_constructor,
            given: usize::from(sets_value || self.draw.chance(90)),
            active,
            ..CxxClass::new(id, members)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::print::unit;

    #[test]
    fn the_same_seed_makes_the_same_globals() {
        let units =
            |seed| (0..50).map(|number| unit(&GlobalGenerator::new(seed).global(number))).collect::<Vec<_>>();
        assert_eq!(units(7), units(7));
        assert_ne!(units(7), units(8));
    }
}
