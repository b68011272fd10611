//! Generates cases. The first cases come from a table that covers every declaration, form of use and place, each with
//! otherwise simple parts. All later cases draw the three at random, without end. A seed and a case number determine the
//! case.

mod fits;
mod initializers;

use std::sync::LazyLock;

use ptxsmith_gen::stream::SplitMix64;

use crate::language::{
    Access, Annotation, Case, Declaration, Expression, FORMS, Form, Order, Place, Qualifier, Site, Spelling,
    Type,
};

use initializers::{KINDS, initializer};

/// Generates the cases of one seed.
#[derive(Clone, Copy, Debug)]
pub struct Generator {
    seed: u64,
}

impl Generator {
    /// Creates the generator for this seed.
    pub fn new(seed: u64) -> Self {
        Generator { seed }
    }

    /// The number of cases in the table, the same for every seed. Cases from this number on are drawn at random.
    pub fn table_len() -> u64 {
        TABLE.len() as u64
    }

    /// Generates the case with this number.
    pub fn case(&self, id: u64) -> Case {
        let mut draw = Draw::new(self.seed, id);
        let (declaration, form, place) = match usize::try_from(id).ok().and_then(|id| TABLE.get(id)) {
            Some(entry) => {
                // The form may not be valid for the drawn value. It is valid for the simplest value: the table was built
                // with it.
                let declaration = valued(&entry.skeleton, &mut draw)
                    .filter(|d| fits::case(d, entry.form, entry.place))
                    .or_else(|| valued(&entry.skeleton, &mut Draw::simplest()));
                (declaration.expect("the table has what is possible"), entry.form, entry.place)
            }
            None => drawn(&mut draw),
        };
        Case { id, declaration, form, place }
    }
}

/// Draws the parts of a case until they fit together.
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
        let skeleton = Declaration {
            site: *draw.of(&Site::ALL),
            ty,
            qualifier,
            order: *draw.of(&ORDERS),
            spelling: *draw.of(&Spelling::ALL),
            access: *draw.of(&Access::ALL),
            kind: KINDS[draw.below(KINDS.len())],
            ..SIMPLE
        };
        // Test with the simplest value first, so that an impossible skeleton consumes no random numbers.
        if valued(&skeleton, &mut Draw::simplest()).is_none() {
            continue;
        }
        let Some(declaration) = valued(&skeleton, draw).filter(fits::declaration) else { continue };
        // Declarations are expensive to draw, so try several forms and places with each.
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

const QUALIFIERS: [Qualifier; 3] = [Qualifier::Const, Qualifier::ConstVolatile, Qualifier::Constexpr];

/// Combinations of qualifier, order and kind of initializer: how and when a variable gets its value.
const WAYS: [(Qualifier, Order, &str); 6] = [
    (Qualifier::Const, Order::AtDeclaration, "literal"),
    (Qualifier::Constexpr, Order::AtDeclaration, "literal"),
    (Qualifier::ConstVolatile, Order::AtDeclaration, "literal"),
    (Qualifier::Const, Order::DefinedAfter, "literal"),
    (Qualifier::Const, Order::Elsewhere, "literal"),
    (Qualifier::Const, Order::AtDeclaration, "run-time-call"),
];

/// One type of each kind that the rule or C++ distinguishes.
const OF_EACH_KIND: [Type; 8] = [
    Type::Int,
    Type::Bool,
    Type::Float,
    Type::Double,
    Type::Enumeration,
    Type::Pointer,
    Type::Class,
    Type::Array,
];

/// The simplest declaration, without an initializer.
const SIMPLE: Declaration = Declaration {
    site: Site::Namespace,
    ty: Type::Int,
    qualifier: Qualifier::Const,
    annotation: Annotation::None,
    order: Order::AtDeclaration,
    spelling: Spelling::Equals,
    access: Access::Plain,
    kind: "literal",
    initializer: Expression::Null,
    auxiliaries: Vec::new(),
};

/// Fills in an initializer of the skeleton's kind; `None` if that kind does not exist for the skeleton's type.
fn valued(skeleton: &Declaration, draw: &mut Draw) -> Option<Declaration> {
    let (initializer, auxiliaries) = initializer(skeleton.kind, skeleton.ty, draw)?;
    Some(Declaration { initializer, auxiliaries, ..*skeleton })
}

struct Entry {
    skeleton: Declaration,
    form: &'static Form,
    place: Place,
}

static TABLE: LazyLock<Vec<Entry>> = LazyLock::new(|| {
    let mut table = Table(Vec::new());
    table.forms();
    table.places();
    table.sites();
    table.initializers();
    table.types();
    table.accesses();
    table.kinds();
    table.0
});

/// The table while it is built: every part of the case language, each with otherwise simple parts.
struct Table(Vec<Entry>);

impl Table {
    /// Adds a case if it is well-formed; returns whether it is.
    fn enter(&mut self, skeleton: Declaration, form: &'static Form, place: Place) -> bool {
        let fits = valued(&skeleton, &mut Draw::simplest()).is_some_and(|d| fits::case(&d, form, place));
        if fits {
            self.0.push(Entry { skeleton, form, place });
        }
        fits
    }

    /// Adds cases that read the declared variable, bind a reference to it and take its address, in several places.
    fn declared(&mut self, skeleton: Declaration) {
        let form = |name| Form::find(name).expect("the table has it");
        let needs_template = skeleton.order == Order::BeforeInstantiation;
        for place in [Place::Device, Place::Template, Place::OwnMember, Place::OwnMemberBefore, Place::Host] {
            if place != Place::Device && needs_template != (place == Place::Template) {
                continue;
            }
            let values = ["value", "member-value", "element-value"];
            let _ = values.into_iter().any(|name| self.enter(skeleton.clone(), form(name), place));
            for name in ["reference", "address-returned"] {
                self.enter(skeleton.clone(), form(name), place);
            }
        }
    }

    /// Adds every form with every type.
    fn forms(&mut self) {
        for form in FORMS {
            for ty in Type::ALL {
                for (qualifier, order, kind) in WAYS {
                    // Types of one kind differ only in the simplest way, so the other ways use one type of each kind.
                    if qualifier == Qualifier::Const && order == Order::AtDeclaration && kind == "literal"
                        || OF_EACH_KIND.contains(&ty)
                    {
                        self.enter(Declaration { ty, qualifier, order, kind, ..SIMPLE }, form, Place::Device);
                    }
                }
            }
        }
    }

    /// Adds every form with variables that differ in site, in the place of the use, in type, and in how and when they get
    /// their value.
    fn kinds(&mut self) {
        let variables = [
            (Site::Anonymous, Place::Device),
            (Site::Member, Place::Device),
            (Site::InlineMember, Place::Device),
            (Site::OutOfClass, Place::Device),
            (Site::TemplateMember, Place::Device),
            (Site::VariableTemplate, Place::Device),
            (Site::Namespace, Place::Template),
            (Site::InlineMember, Place::OwnMember),
            (Site::InlineMember, Place::Dependent),
            (Site::OutOfClass, Place::Dependent),
            (Site::InlineMember, Place::DependentBefore),
        ];
        for (site, place) in variables {
            for form in FORMS {
                for ty in OF_EACH_KIND {
                    for (qualifier, order, kind) in WAYS {
                        self.enter(Declaration { site, ty, qualifier, order, kind, ..SIMPLE }, form, place);
                    }
                }
            }
        }
    }

    /// Adds every form in every place, with the first type that the form is valid for.
    fn places(&mut self) {
        for place in Place::ALL {
            let in_class = matches!(place, Place::OwnMember | Place::OwnMemberBefore);
            let sites = if in_class { &[Site::Namespace, Site::Member][..] } else { &[Site::Namespace] };
            for form in FORMS {
                for &site in sites {
                    let mut types = Type::ALL.into_iter().filter(|ty| *ty != Type::Bool);
                    types.any(|ty| self.enter(Declaration { site, ty, ..SIMPLE }, form, place));
                }
            }
        }
    }

    /// Adds every site with every qualifier and order.
    fn sites(&mut self) {
        let types =
            [Type::Int, Type::UnsignedLongLong, Type::Double, Type::Enumeration, Type::Class, Type::Array];
        for ty in types {
            for site in Site::ALL {
                for qualifier in QUALIFIERS {
                    for order in Order::ALL {
                        self.declared(Declaration { site, ty, qualifier, order, ..SIMPLE });
                    }
                }
            }
        }
    }

    /// Adds every kind of initializer.
    fn initializers(&mut self) {
        for ty in [Type::Int, Type::Double, Type::Class] {
            for site in [Site::Namespace, Site::InlineMember, Site::OutOfClass] {
                for qualifier in QUALIFIERS {
                    for order in [Order::AtDeclaration, Order::DefinedBefore] {
                        for kind in KINDS {
                            self.declared(Declaration { site, ty, qualifier, order, kind, ..SIMPLE });
                        }
                    }
                }
            }
        }
    }

    /// Adds every type with every kind of initializer, spelling and annotation, and without a qualifier.
    fn types(&mut self) {
        for ty in Type::ALL {
            let simple = || Declaration { ty, ..SIMPLE };
            for kind in KINDS {
                self.declared(Declaration { kind, ..simple() });
            }
            for spelling in Spelling::ALL {
                for qualifier in QUALIFIERS {
                    self.declared(Declaration { spelling, qualifier, ..simple() });
                }
            }
            for annotation in [Annotation::Device, Annotation::Constant] {
                self.declared(Declaration { annotation, ..simple() });
            }
            self.declared(Declaration { qualifier: Qualifier::None, ..simple() });
        }
    }

    /// Adds every way to name the variable.
    fn accesses(&mut self) {
        for access in Access::ALL {
            for site in Site::ALL {
                for ty in [Type::Int, Type::Double] {
                    for order in [Order::AtDeclaration, Order::DefinedAfter] {
                        self.declared(Declaration { access, site, ty, order, ..SIMPLE });
                    }
                }
            }
        }
    }
}

/// The random numbers for one case.
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

    /// Creates a source that always makes the first choice.
    fn simplest() -> Self {
        Draw { numbers: SplitMix64::new(0), simplest: true }
    }

    /// Draws a number below `end`, which must not be 0.
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
        let table = &*TABLE;
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
