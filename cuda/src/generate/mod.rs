//! Makes cases: first the table, every way to declare, to use and to place once with simple company; then draws of
//! all three together, without end. Same seed and number, same case.

mod fits;
mod initializers;

use std::sync::LazyLock;

use ptxsmith_gen::stream::SplitMix64;

use crate::language::{
    Access, Annotation, Case, Declaration, FORMS, Form, Order, Place, Qualifier, Site, Spelling, Type,
};

use initializers::{KINDS, initializer};

/// Makes the cases of one seed.
#[derive(Clone, Copy, Debug)]
pub struct Generator {
    seed: u64,
}

impl Generator {
    /// The cases of this seed.
    pub fn new(seed: u64) -> Self {
        Generator { seed }
    }

    /// How many cases the table has, under every seed. Case numbers from here on are draws.
    pub fn table_len() -> u64 {
        TABLE.len() as u64
    }

    /// The case with this number.
    pub fn case(&self, id: u64) -> Case {
        let mut draw = Draw::new(self.seed, id);
        let (declaration, form, place) = match usize::try_from(id).ok().and_then(|id| TABLE.get(id)) {
            Some(entry) => {
                let declaration = entry.skeleton.declaration(&mut draw);
                // Another value may be one that the form does not take; the simplest is always taken.
                let fitting = |d: &Declaration| fits::case(d, entry.form, entry.place);
                let declaration = if fitting(&declaration) {
                    declaration
                } else {
                    entry.skeleton.declaration(&mut Draw::simplest())
                };
                (declaration, entry.form, entry.place)
            }
            None => drawn(&mut draw),
        };
        Case { id, declaration, form, place }
    }
}

/// A case drawn from everything.
fn drawn(draw: &mut Draw) -> (Declaration, &'static Form, Place) {
    loop {
        let ty = if draw.below(3) == 0 { Type::Int } else { *draw.of(&Type::ALL) };
        let qualifier = *draw.of(&[
            Qualifier::Const,
            Qualifier::Const,
            Qualifier::Const,
            Qualifier::Const,
            Qualifier::ConstVolatile,
            Qualifier::Constexpr,
        ]);
        let skeleton = Skeleton {
            site: *draw.of(&Site::ALL),
            ty,
            qualifier,
            annotation: Annotation::None,
            order: *draw.of(&ORDERS),
            spelling: *draw.of(&SPELLINGS),
            access: *draw.of(&ACCESSES),
            kind: KINDS[draw.below(KINDS.len())],
        };
        if !skeleton.is_possible() {
            continue;
        }
        let declaration = skeleton.declaration(draw);
        if !fits::declaration(&declaration) {
            continue;
        }
        // A declaration is dear to draw, forms and places are cheap.
        for _ in 0..20 {
            let (form, place) = (draw.of(FORMS), *draw.of(&Place::ALL));
            if fits::case(&declaration, form, place) {
                return (declaration, form, place);
            }
        }
    }
}

const ORDERS: [Order; 8] = [
    Order::AtDeclaration,
    Order::AtDeclaration,
    Order::AtDeclaration,
    Order::AtDeclaration,
    Order::DefinedBefore,
    Order::DefinedAfter,
    Order::Elsewhere,
    Order::BeforeInstantiation,
];

const SPELLINGS: [Spelling; 8] = [
    Spelling::Equals,
    Spelling::Parentheses,
    Spelling::Braces,
    Spelling::QualifierLast,
    Spelling::Alias,
    Spelling::Auto,
    Spelling::Static,
    Spelling::InlineVariable,
];

const ACCESSES: [Access; 5] =
    [Access::Plain, Access::Qualified, Access::ThroughObject, Access::ThroughDerived, Access::Using];

/// A declaration without its values.
#[derive(Clone, Copy, Debug)]
struct Skeleton {
    site: Site,
    ty: Type,
    qualifier: Qualifier,
    annotation: Annotation,
    order: Order,
    spelling: Spelling,
    access: Access,
    kind: &'static str,
}

impl Skeleton {
    const SIMPLE: Skeleton = Skeleton {
        site: Site::Namespace,
        ty: Type::Int,
        qualifier: Qualifier::Const,
        annotation: Annotation::None,
        order: Order::AtDeclaration,
        spelling: Spelling::Equals,
        access: Access::Plain,
        kind: "literal",
    };

    fn is_possible(&self) -> bool {
        initializer(self.kind, self.ty, &mut Draw::simplest()).is_some()
    }

    fn declaration(&self, draw: &mut Draw) -> Declaration {
        let (expression, auxiliaries) =
            initializer(self.kind, self.ty, draw).expect("a skeleton is made only if it is possible");
        Declaration {
            site: self.site,
            ty: self.ty,
            qualifier: self.qualifier,
            annotation: self.annotation,
            order: self.order,
            spelling: self.spelling,
            access: self.access,
            kind: self.kind,
            initializer: expression,
            auxiliaries,
        }
    }
}

struct Entry {
    skeleton: Skeleton,
    form: &'static Form,
    place: Place,
}

static TABLE: LazyLock<Vec<Entry>> = LazyLock::new(table);

/// Every part of the language of cases with simple company.
fn table() -> Vec<Entry> {
    let mut table = Vec::new();
    let mut enter = |skeleton: Skeleton, form: &'static Form, place: Place| {
        if skeleton.is_possible() && fits::case(&skeleton.declaration(&mut Draw::simplest()), form, place) {
            table.push(Entry { skeleton, form, place });
            return true;
        }
        false
    };
    let simple = Skeleton::SIMPLE;
    // Every form on every type, also volatile and defined after the use.
    for form in FORMS {
        for ty in Type::ALL {
            for (qualifier, order) in [
                (Qualifier::Const, Order::AtDeclaration),
                (Qualifier::Constexpr, Order::AtDeclaration),
                (Qualifier::ConstVolatile, Order::AtDeclaration),
                (Qualifier::Const, Order::DefinedAfter),
            ] {
                let plain = qualifier == Qualifier::Const && order == Order::AtDeclaration;
                let with_all = [Type::Int, Type::Double, Type::Enumeration, Type::Class, Type::Array];
                if !plain && !with_all.contains(&ty) {
                    continue;
                }
                enter(Skeleton { ty, qualifier, order, ..simple }, form, Place::Device);
            }
        }
    }
    // Every form in every place, on the first type that it takes.
    for place in Place::ALL {
        for form in FORMS {
            for site in [Site::Namespace, Site::Member] {
                if site == Site::Member && !matches!(place, Place::OwnMember | Place::OwnMemberBefore) {
                    continue;
                }
                let _ = Type::ALL
                    .iter()
                    .any(|&ty| ty != Type::Bool && enter(Skeleton { site, ty, ..simple }, form, place));
            }
        }
    }
    // Every declaration, read, bound and pointed to.
    let first = ["value", "member-value", "element-value"];
    let second = ["reference", "address-returned"];
    let mut declared = |skeleton: Skeleton| {
        for place in [Place::Device, Place::Template, Place::OwnMember, Place::OwnMemberBefore, Place::Host] {
            let common = matches!(place, Place::Device)
                || (skeleton.order == Order::BeforeInstantiation) == (place == Place::Template);
            let form = |name: &&str| Form::find(name).expect("the table has it");
            if common {
                let _ = first.iter().any(|name| enter(skeleton, form(name), place));
                for name in second {
                    enter(skeleton, form(&name), place);
                }
            }
        }
    };
    let orders = [
        Order::AtDeclaration,
        Order::DefinedBefore,
        Order::DefinedAfter,
        Order::Elsewhere,
        Order::BeforeInstantiation,
    ];
    let qualifiers = [Qualifier::Const, Qualifier::ConstVolatile, Qualifier::Constexpr];
    for ty in [Type::Int, Type::UnsignedLongLong, Type::Double, Type::Enumeration, Type::Class, Type::Array] {
        for site in Site::ALL {
            for qualifier in qualifiers {
                for order in orders {
                    declared(Skeleton { site, ty, qualifier, order, ..simple });
                }
            }
        }
    }
    for ty in [Type::Int, Type::Double, Type::Class] {
        for site in [Site::Namespace, Site::InlineMember, Site::OutOfClass] {
            for qualifier in qualifiers {
                for order in [Order::AtDeclaration, Order::DefinedBefore] {
                    for kind in KINDS {
                        declared(Skeleton { site, ty, qualifier, order, kind, ..simple });
                    }
                }
            }
        }
    }
    for ty in Type::ALL {
        for kind in KINDS {
            declared(Skeleton { ty, kind, ..simple });
        }
        for spelling in SPELLINGS {
            for qualifier in [Qualifier::Const, Qualifier::ConstVolatile, Qualifier::Constexpr] {
                declared(Skeleton { ty, spelling, qualifier, ..simple });
            }
        }
        for annotation in [Annotation::Device, Annotation::Constant] {
            declared(Skeleton { ty, annotation, ..simple });
        }
        declared(Skeleton { ty, qualifier: Qualifier::None, ..simple });
    }
    for access in ACCESSES {
        for site in Site::ALL {
            for ty in [Type::Int, Type::Double] {
                for order in [Order::AtDeclaration, Order::DefinedAfter] {
                    declared(Skeleton { access, site, ty, order, ..simple });
                }
            }
        }
    }
    table
}

/// Numbers for one case.
#[derive(Debug)]
struct Draw {
    numbers: SplitMix64,
    simplest: bool,
}

impl Draw {
    fn new(seed: u64, id: u64) -> Self {
        let of_seed = SplitMix64::new(seed).next_u64();
        let numbers = SplitMix64::new(of_seed ^ id.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        Draw { numbers, simplest: false }
    }

    /// Always the first choice.
    fn simplest() -> Self {
        Draw { numbers: SplitMix64::new(0), simplest: true }
    }

    /// A number below `end`, which is not 0.
    fn below(&mut self, end: usize) -> usize {
        if self.simplest { 0 } else { (self.numbers.next_u64() % end as u64) as usize }
    }

    fn of<'a, T>(&mut self, choices: &'a [T]) -> &'a T {
        &choices[self.below(choices.len())]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language::print;
    use std::collections::BTreeSet;

    #[test]
    fn the_same_number_gives_the_same_case_and_another_seed_another() {
        let number = Generator::table_len() + 5;
        assert_eq!(Generator::new(1).case(number), Generator::new(1).case(number));
        let differ =
            (0..50).filter(|i| Generator::new(1).case(number + i) != Generator::new(2).case(number + i));
        assert!(differ.count() > 45);
    }

    #[test]
    fn the_table_has_every_form_place_type_and_site() {
        let table = table();
        let count = |of: &dyn Fn(&Entry) -> String| table.iter().map(of).collect::<BTreeSet<_>>().len();
        assert_eq!(count(&|entry| entry.form.name.to_owned()), FORMS.len());
        assert_eq!(count(&|entry| format!("{:?}", entry.place)), Place::ALL.len());
        assert_eq!(count(&|entry| format!("{:?}", entry.skeleton.ty)), Type::ALL.len());
        assert_eq!(count(&|entry| format!("{:?}", entry.skeleton.site)), Site::ALL.len());
        assert_eq!(count(&|entry| entry.skeleton.kind.to_owned()), KINDS.len());
    }

    #[test]
    fn names_of_forms_are_unique() {
        let names: BTreeSet<_> = FORMS.iter().map(|form| form.name).collect();
        assert_eq!(names.len(), FORMS.len());
    }

    #[test]
    fn a_case_is_one_line_and_its_column_is_that_of_the_variable() {
        let generator = Generator::new(3);
        for id in 0..Generator::table_len() + 2000 {
            let printed = print(&generator.case(id));
            assert!(!printed.line.contains(['\n', '$', '\u{1}']), "{}", printed.line);
            let rest = &printed.line[printed.column - 1..];
            let name = format!("v{id}_");
            assert!(rest.find(&name).is_some_and(|place| place < 20), "{id}: {rest}");
        }
    }
}
