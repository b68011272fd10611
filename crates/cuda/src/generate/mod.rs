//! Generates cases. The first cases come from a table that covers every declaration, form of use and place,
//! each with otherwise simple parts. All later cases draw the three at random, without end. A seed and a case
//! number determine the case.

mod fits;
mod initializers;

use std::sync::LazyLock;

use ptxsmith_gen::stream::SplitMix64;

use crate::language::{
    Annotation, CudaCase, DeclarationSite, Expression, FORMS, InitializerPosition, Naming, Qualifier,
    Spelling, UseForm, UsePlace, VariableDeclaration, VariableType,
};

use initializers::{KINDS, initializer};

/// Generates the cases of one seed.
#[derive(Clone, Copy, Debug)]
pub struct CaseGenerator {
    seed: u64,
}

impl CaseGenerator {
    /// Creates the generator for this seed.
    pub fn new(seed: u64) -> Self {
        CaseGenerator { seed }
    }

    /// The number of cases in the table, the same for every seed. Cases from this number on are drawn at
    /// random.
    pub fn table_len() -> u64 {
        TABLE.len() as u64
    }

    /// Generates the case with this number.
    pub fn case(&self, id: u64) -> CudaCase {
        let mut draw = CaseDraw::new(self.seed, id);
        let (declaration, form, place) = match usize::try_from(id).ok().and_then(|id| TABLE.get(id)) {
            Some(entry) => {
                // The form may not be valid for the drawn value. It is valid for the simplest value: the
                // table was built with it.
                let declaration = valued(&entry.skeleton, &mut draw)
                    .filter(|d| fits::case(d, entry.form, entry.place))
                    .or_else(|| valued(&entry.skeleton, &mut CaseDraw::simplest()));
                (declaration.expect("the table has what is possible"), entry.form, entry.place)
            }
            None => drawn(&mut draw),
        };
        CudaCase { id, declaration, form, place }
    }
}

/// Draws the parts of a case until they fit together.
fn drawn(draw: &mut CaseDraw) -> (VariableDeclaration, &'static UseForm, UsePlace) {
    loop {
        let ty = if draw.below(3) == 0 { VariableType::Int } else { *draw.choose(&VariableType::ALL) };
        let qualifier = *draw.choose(&[
            Qualifier::Const,
            Qualifier::Const,
            Qualifier::Const,
            Qualifier::Const,
            Qualifier::ConstVolatile,
            Qualifier::Constexpr,
        ]);
        let skeleton = VariableDeclaration {
            site: *draw.choose(&DeclarationSite::ALL),
            ty,
            qualifier,
            order: *draw.choose(&ORDERS),
            spelling: *draw.choose(&Spelling::ALL),
            access: *draw.choose(&Naming::ALL),
            kind: KINDS[draw.below(KINDS.len())],
            ..SIMPLE
        };
        // Test with the simplest value first, so that an impossible skeleton consumes no random numbers.
        if valued(&skeleton, &mut CaseDraw::simplest()).is_none() {
            continue;
        }
        let Some(declaration) = valued(&skeleton, draw).filter(fits::declaration) else { continue };
        // Declarations are expensive to draw, so try several forms and places with each.
        for _ in 0..20 {
            let (form, place) = (draw.choose(FORMS), *draw.choose(&UsePlace::ALL));
            if fits::case(&declaration, form, place) {
                return (declaration, form, place);
            }
        }
    }
}

const ORDERS: [InitializerPosition; 8] = [
    InitializerPosition::AtDeclaration,
    InitializerPosition::AtDeclaration,
    InitializerPosition::AtDeclaration,
    InitializerPosition::AtDeclaration,
    InitializerPosition::DefinedBefore,
    InitializerPosition::DefinedAfter,
    InitializerPosition::Elsewhere,
    InitializerPosition::BeforeInstantiation,
];

const QUALIFIERS: [Qualifier; 3] = [Qualifier::Const, Qualifier::ConstVolatile, Qualifier::Constexpr];

/// Combinations of qualifier, order and kind of initializer: how and when a variable gets its value.
const WAYS: [(Qualifier, InitializerPosition, &str); 6] = [
    (Qualifier::Const, InitializerPosition::AtDeclaration, "literal"),
    (Qualifier::Constexpr, InitializerPosition::AtDeclaration, "literal"),
    (Qualifier::ConstVolatile, InitializerPosition::AtDeclaration, "literal"),
    (Qualifier::Const, InitializerPosition::DefinedAfter, "literal"),
    (Qualifier::Const, InitializerPosition::Elsewhere, "literal"),
    (Qualifier::Const, InitializerPosition::AtDeclaration, "run-time-call"),
];

/// One type of each kind that the rule or C++ distinguishes.
const OF_EACH_KIND: [VariableType; 8] = [
    VariableType::Int,
    VariableType::Bool,
    VariableType::Float,
    VariableType::Double,
    VariableType::Enumeration,
    VariableType::Pointer,
    VariableType::Class,
    VariableType::Array,
];

/// The simplest declaration, without an initializer.
const SIMPLE: VariableDeclaration = VariableDeclaration {
    site: DeclarationSite::Namespace,
    ty: VariableType::Int,
    qualifier: Qualifier::Const,
    annotation: Annotation::None,
    order: InitializerPosition::AtDeclaration,
    spelling: Spelling::Equals,
    access: Naming::Plain,
    kind: "literal",
    initializer: Expression::Null,
    auxiliaries: Vec::new(),
};

/// Fills in an initializer of the skeleton's kind; `None` if that kind does not exist for the skeleton's
/// type.
fn valued(skeleton: &VariableDeclaration, draw: &mut CaseDraw) -> Option<VariableDeclaration> {
    let (initializer, auxiliaries) = initializer(skeleton.kind, skeleton.ty, draw)?;
    Some(VariableDeclaration { initializer, auxiliaries, ..*skeleton })
}

fn form_named(name: &str) -> &'static UseForm {
    UseForm::find(name).expect("the table has it")
}

/// A case of the table, without the value of its variable.
struct TableEntry {
    skeleton: VariableDeclaration,
    form: &'static UseForm,
    place: UsePlace,
}

static TABLE: LazyLock<Vec<TableEntry>> = LazyLock::new(|| {
    let mut table = CaseTable(Vec::new());
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
struct CaseTable(Vec<TableEntry>);

impl CaseTable {
    /// Adds a case if it is well-formed; returns whether it is.
    fn enter(&mut self, skeleton: VariableDeclaration, form: &'static UseForm, place: UsePlace) -> bool {
        let fits = valued(&skeleton, &mut CaseDraw::simplest()).is_some_and(|d| fits::case(&d, form, place));
        if fits {
            self.0.push(TableEntry { skeleton, form, place });
        }
        fits
    }

    /// Adds cases that read the declared variable, bind a reference to it and take its address, in several
    /// places.
    fn declared(&mut self, skeleton: VariableDeclaration) {
        let needs_template = skeleton.order == InitializerPosition::BeforeInstantiation;
        for place in [
            UsePlace::Device,
            UsePlace::Template,
            UsePlace::OwnMember,
            UsePlace::OwnMemberBefore,
            UsePlace::Host,
        ] {
            if place != UsePlace::Device && needs_template != (place == UsePlace::Template) {
                continue;
            }
            let values = ["value", "member-value", "element-value"];
            let _ = values.into_iter().any(|name| self.enter(skeleton.clone(), form_named(name), place));
            for name in ["reference", "address-returned"] {
                self.enter(skeleton.clone(), form_named(name), place);
            }
        }
    }

    /// Adds every form with every type.
    fn forms(&mut self) {
        for form in FORMS {
            for ty in VariableType::ALL {
                for (qualifier, order, kind) in WAYS {
                    // Types of one kind differ only in the simplest way, so the other ways use one type of
                    // each kind.
                    if qualifier == Qualifier::Const
                        && order == InitializerPosition::AtDeclaration
                        && kind == "literal"
                        || OF_EACH_KIND.contains(&ty)
                    {
                        self.enter(
                            VariableDeclaration { ty, qualifier, order, kind, ..SIMPLE },
                            form,
                            UsePlace::Device,
                        );
                    }
                }
            }
        }
    }

    /// Adds every form with variables that differ in site, in the place of the use, in type, and in how and
    /// when they get their value.
    fn kinds(&mut self) {
        let variables = [
            (DeclarationSite::Anonymous, UsePlace::Device),
            (DeclarationSite::Member, UsePlace::Device),
            (DeclarationSite::InlineMember, UsePlace::Device),
            (DeclarationSite::OutOfClass, UsePlace::Device),
            (DeclarationSite::TemplateMember, UsePlace::Device),
            (DeclarationSite::VariableTemplate, UsePlace::Device),
            (DeclarationSite::Namespace, UsePlace::Template),
            (DeclarationSite::InlineMember, UsePlace::OwnMember),
            (DeclarationSite::InlineMember, UsePlace::Dependent),
            (DeclarationSite::OutOfClass, UsePlace::Dependent),
            (DeclarationSite::InlineMember, UsePlace::DependentBefore),
        ];
        for (site, place) in variables {
            for form in FORMS {
                for ty in OF_EACH_KIND {
                    for (qualifier, order, kind) in WAYS {
                        self.enter(
                            VariableDeclaration { site, ty, qualifier, order, kind, ..SIMPLE },
                            form,
                            place,
                        );
                    }
                }
            }
        }
    }

    /// Adds every form in every place, with the first type that the form is valid for.
    fn places(&mut self) {
        for place in UsePlace::ALL {
            let in_class = matches!(place, UsePlace::OwnMember | UsePlace::OwnMemberBefore);
            let sites = if in_class {
                &[DeclarationSite::Namespace, DeclarationSite::Member][..]
            } else {
                &[DeclarationSite::Namespace]
            };
            for form in FORMS {
                for &site in sites {
                    let mut types = VariableType::ALL.into_iter().filter(|ty| *ty != VariableType::Bool);
                    types.any(|ty| self.enter(VariableDeclaration { site, ty, ..SIMPLE }, form, place));
                }
            }
        }
    }

    /// Adds every site with every qualifier and order.
    fn sites(&mut self) {
        let types = [
            VariableType::Int,
            VariableType::UnsignedLongLong,
            VariableType::Double,
            VariableType::Enumeration,
            VariableType::Class,
            VariableType::Array,
        ];
        for ty in types {
            for site in DeclarationSite::ALL {
                for qualifier in QUALIFIERS {
                    for order in InitializerPosition::ALL {
                        self.declared(VariableDeclaration { site, ty, qualifier, order, ..SIMPLE });
                    }
                }
            }
        }
    }

    /// Adds every kind of initializer.
    fn initializers(&mut self) {
        for ty in [VariableType::Int, VariableType::Double, VariableType::Class] {
            for site in
                [DeclarationSite::Namespace, DeclarationSite::InlineMember, DeclarationSite::OutOfClass]
            {
                for qualifier in QUALIFIERS {
                    for order in [InitializerPosition::AtDeclaration, InitializerPosition::DefinedBefore] {
                        for kind in KINDS {
                            self.declared(VariableDeclaration { site, ty, qualifier, order, kind, ..SIMPLE });
                        }
                    }
                }
            }
        }
    }

    /// Adds every type with every kind of initializer, spelling and annotation, and without a qualifier.
    fn types(&mut self) {
        for ty in VariableType::ALL {
            let simple = VariableDeclaration { ty, ..SIMPLE };
            for kind in KINDS {
                self.declared(VariableDeclaration { kind, ..simple.clone() });
            }
            for spelling in Spelling::ALL {
                for qualifier in QUALIFIERS {
                    self.declared(VariableDeclaration { spelling, qualifier, ..simple.clone() });
                }
            }
            for annotation in [Annotation::Device, Annotation::Constant] {
                self.declared(VariableDeclaration { annotation, ..simple.clone() });
            }
            self.declared(VariableDeclaration { qualifier: Qualifier::None, ..simple });
        }
    }

    /// Adds every way to name the variable.
    fn accesses(&mut self) {
        for access in Naming::ALL {
            for site in DeclarationSite::ALL {
                for ty in [VariableType::Int, VariableType::Double] {
                    for order in [InitializerPosition::AtDeclaration, InitializerPosition::DefinedAfter] {
                        self.declared(VariableDeclaration { access, site, ty, order, ..SIMPLE });
                    }
                }
            }
        }
    }
}

/// The random numbers for one case.
#[derive(Debug)]
struct CaseDraw {
    numbers: SplitMix64,
    simplest: bool,
}

impl CaseDraw {
    fn new(seed: u64, id: u64) -> Self {
        let of_seed = SplitMix64::new(seed).next_u64();
        let numbers = SplitMix64::new(of_seed ^ id.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        CaseDraw { numbers, simplest: false }
    }

    /// Creates a source that always makes the first choice.
    fn simplest() -> Self {
        CaseDraw { numbers: SplitMix64::new(0), simplest: true }
    }

    /// Draws a number below `end`, which must not be 0.
    fn below(&mut self, end: usize) -> usize {
        if self.simplest { 0 } else { (self.numbers.next_u64() % end as u64) as usize }
    }

    /// Chooses one of these values.
    fn choose<'a, T>(&mut self, choices: &'a [T]) -> &'a T {
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
        let number = CaseGenerator::table_len() + 5;
        assert_eq!(CaseGenerator::new(1).case(number), CaseGenerator::new(1).case(number));
        let differ = (0..50)
            .filter(|i| CaseGenerator::new(1).case(number + i) != CaseGenerator::new(2).case(number + i));
        assert!(differ.count() > 45);
    }

    #[test]
    fn the_table_has_every_form_place_type_and_site() {
        let table = &*TABLE;
        let count = |of: &dyn Fn(&TableEntry) -> String| table.iter().map(of).collect::<BTreeSet<_>>().len();
        assert_eq!(count(&|entry| entry.form.name.to_owned()), FORMS.len());
        assert_eq!(count(&|entry| format!("{:?}", entry.place)), UsePlace::ALL.len());
        assert_eq!(count(&|entry| format!("{:?}", entry.skeleton.ty)), VariableType::ALL.len());
        assert_eq!(count(&|entry| format!("{:?}", entry.skeleton.site)), DeclarationSite::ALL.len());
        assert_eq!(count(&|entry| entry.skeleton.kind.to_owned()), KINDS.len());
    }

    #[test]
    fn names_of_forms_are_unique() {
        let names: BTreeSet<_> = FORMS.iter().map(|form| form.name).collect();
        assert_eq!(names.len(), FORMS.len());
    }

    #[test]
    fn a_case_is_one_line_and_its_column_is_that_of_the_variable() {
        let generator = CaseGenerator::new(3);
        for id in 0..CaseGenerator::table_len() + 2000 {
            let printed = print(&generator.case(id));
            assert!(!printed.line.contains(['\n', '$', '\u{1}']), "{}", printed.line);
            let rest = &printed.line[printed.column - 1..];
            let name = format!("v{id}_");
            assert!(rest.find(&name).is_some_and(|place| place < 20), "{id}: {rest}");
        }
    }
}
