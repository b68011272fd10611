//! Decides which combinations of declaration, form and place are well-formed C++17, or C++20 if they need it.
//! The rule CUDASafety-1.5 plays no part.

use crate::language::{
    Annotation, Category, ConstantValue, DeclarationSite, Expression, InitializerPosition, Naming, Qualifier,
    Spelling, TypeRequirement, UseForm, UsePlace, VariableDeclaration, VariableType,
    constant::{self, Constness},
};

/// Whether the whole case is well-formed.
pub fn case(d: &VariableDeclaration, form: &UseForm, place: UsePlace) -> bool {
    declaration(d) && form_of_use(d, form) && place_of_use(d, form, place)
}

/// Whether the declaration is well-formed.
pub fn declaration(d: &VariableDeclaration) -> bool {
    qualifier(d) && order(d) && spelling(d) && access(d) && annotation(d) && site(d)
}

/// Sites at namespace scope, where a variable is declared and initialized.
const AT_NAMESPACE: [DeclarationSite; 5] = [
    DeclarationSite::Namespace,
    DeclarationSite::Nested,
    DeclarationSite::Anonymous,
    DeclarationSite::Inline,
    DeclarationSite::Linkage,
];
/// Sites of static members that are initialized in the class and not declared `inline`.
const IN_CLASS: [DeclarationSite; 4] = [
    DeclarationSite::Member,
    DeclarationSite::NestedMember,
    DeclarationSite::TemplateMember,
    DeclarationSite::InClassAndDefined,
];
/// Sites of static members that are declared in the class and initialized outside.
const OUT_OF_CLASS: [DeclarationSite; 2] = [DeclarationSite::OutOfClass, DeclarationSite::TemplateOutOfClass];

fn is_constant(d: &VariableDeclaration) -> bool {
    matches!(constant::evaluate(d), Constness::Constant(_))
}

fn qualifier(d: &VariableDeclaration) -> bool {
    let in_class = IN_CLASS.contains(&d.site);
    match d.qualifier {
        Qualifier::Constexpr => {
            is_constant(d) && d.order == InitializerPosition::AtDeclaration && !OUT_OF_CLASS.contains(&d.site)
        }
        // Without `inline` or `constexpr`, only constants of these types may be initialized in the class.
        Qualifier::Const => {
            let enumeration = matches!(d.ty.category(), Category::Enumeration { .. });
            !in_class || (is_constant(d) && (d.ty.is_integral() || enumeration))
        }
        Qualifier::ConstVolatile => !in_class,
        Qualifier::None => d.site == DeclarationSite::Namespace && is_plain(d),
    }
}

fn order(d: &VariableDeclaration) -> bool {
    match d.order {
        InitializerPosition::AtDeclaration => true,
        InitializerPosition::DefinedBefore
        | InitializerPosition::DefinedAfter
        | InitializerPosition::BeforeInstantiation => d.site.can_be_declared_before(),
        InitializerPosition::Elsewhere => d.site.can_be_declared_before() && d.kind == "literal",
    }
}

fn spelling(d: &VariableDeclaration) -> bool {
    let braced = matches!(d.initializer, Expression::Braces(_) | Expression::Text(_));
    let at_once = AT_NAMESPACE.contains(&d.site) && d.order == InitializerPosition::AtDeclaration;
    match d.spelling {
        Spelling::Equals => true,
        Spelling::Parentheses => {
            !braced && (AT_NAMESPACE.contains(&d.site) || OUT_OF_CLASS.contains(&d.site))
        }
        // Braces forbid narrowing conversions, which initializers of the other kinds may contain.
        Spelling::Braces => !braced && d.kind == "literal",
        Spelling::QualifierLast => at_once,
        Spelling::Alias => at_once && d.qualifier != Qualifier::Constexpr,
        Spelling::Auto => at_once && d.ty.is_scalar() && !braced,
        Spelling::Constinit => at_once && is_constant(d) && d.qualifier != Qualifier::Constexpr,
        Spelling::Static | Spelling::InlineVariable => {
            at_once && matches!(d.site, DeclarationSite::Namespace | DeclarationSite::Nested)
        }
    }
}

fn access(d: &VariableDeclaration) -> bool {
    match d.access {
        Naming::Plain => true,
        Naming::Qualified => d.site != DeclarationSite::Local && d.site != DeclarationSite::Anonymous,
        Naming::ThroughObject | Naming::ThroughDerived => {
            matches!(
                d.site,
                DeclarationSite::Member
                    | DeclarationSite::InlineMember
                    | DeclarationSite::OutOfClass
                    | DeclarationSite::TemplateMember
            )
        }
        Naming::Using => d.site == DeclarationSite::Nested,
    }
}

fn annotation(d: &VariableDeclaration) -> bool {
    d.annotation == Annotation::None
        || (d.site == DeclarationSite::Namespace
            && d.qualifier == Qualifier::Const
            && is_constant(d)
            && is_plain(d)
            // The address of a host variable is not a valid initializer on the device.
            && !matches!(d.initializer, Expression::AddressOf(_)))
}

fn site(d: &VariableDeclaration) -> bool {
    match d.site {
        DeclarationSite::Local => is_plain(d) && d.qualifier == Qualifier::Const,
        // Not all compilers can initialize a volatile object of class type from braces in a variable
        // template.
        DeclarationSite::VariableTemplate => matches!(d.spelling, Spelling::Equals | Spelling::Braces),
        _ => true,
    }
}

/// Whether the variable is initialized with a literal at its declaration, spelled with `=`, and named by its
/// plain name.
fn is_plain(d: &VariableDeclaration) -> bool {
    d.order == InitializerPosition::AtDeclaration
        && d.kind == "literal"
        && d.spelling == Spelling::Equals
        && d.access == Naming::Plain
}

/// Whether the form of use is well-formed for the declared variable.
fn form_of_use(d: &VariableDeclaration, form: &UseForm) -> bool {
    let category = d.ty.category();
    let needs = match form.needs {
        TypeRequirement::Any => true,
        TypeRequirement::Scalar => d.ty.is_scalar(),
        TypeRequirement::Arithmetic => d.ty.is_arithmetic(),
        TypeRequirement::Integral => d.ty.is_integral(),
        TypeRequirement::IntegralOrEnumeration => {
            d.ty.is_integral() || category == (Category::Enumeration { scoped: false })
        }
        TypeRequirement::Integer => d.ty.is_integral() && d.ty != VariableType::Bool,
        TypeRequirement::Word => matches!(category, Category::Integral { bits: 32, .. }),
        TypeRequirement::Enumeration => matches!(category, Category::Enumeration { .. }),
        TypeRequirement::Pointer => category == Category::Pointer,
        TypeRequirement::ObjectPointer => d.ty == VariableType::Pointer,
        TypeRequirement::MemberPointer => d.ty == VariableType::MemberPointer,
        TypeRequirement::Class => d.ty == VariableType::Class,
        TypeRequirement::ClassOrUnion => category == Category::Class,
        TypeRequirement::Array => d.ty == VariableType::Array,
        TypeRequirement::AnyArray => category == Category::Array,
    };
    let volatile = d.qualifier != Qualifier::ConstVolatile
        || (form.volatile && (d.ty.is_scalar() || !form.steps.contains(&crate::language::UseStep::Discard)));
    let constant = !form.constant
        || (constant::is_usable(d)
            && matches!(d.order, InitializerPosition::AtDeclaration | InitializerPosition::DefinedBefore)
            && !matches!(category, Category::Extended { .. }));
    let values = form.values.is_none_or(|(least, most)| {
        let value = constant::evaluate(d);
        matches!(value, Constness::Constant(ConstantValue::Integer(value)) if (least..=most).contains(&value))
    });
    let template_argument = form.name.starts_with("template-");
    let object = d.access != Naming::ThroughObject || !template_argument;
    let simple = ["value", "reference", "address-returned", "element-value", "member-value", "array-bound"];
    let local =
        (d.site != DeclarationSite::Local && d.qualifier != Qualifier::None) || simple.contains(&form.name);
    needs && volatile && constant && values && object && local
}

/// Whether the form of use is well-formed in this place.
fn place_of_use(d: &VariableDeclaration, form: &UseForm, place: UsePlace) -> bool {
    let helper = !form.is_in_helper()
        || (matches!(place, UsePlace::Device | UsePlace::HostDevice | UsePlace::Host)
            && d.site != DeclarationSite::Local);
    let assembly = !form.name.starts_with("assembly") || !place.is_host();
    let shared = form.name != "shared-array-bound"
        || matches!(place, UsePlace::Device | UsePlace::Global | UsePlace::Member | UsePlace::Template);
    let local = d.site != DeclarationSite::Local
        || matches!(
            place,
            UsePlace::Device | UsePlace::Global | UsePlace::HostDevice | UsePlace::Member | UsePlace::Host
        );
    let expression = !place.takes_expression_only() || form.setup.is_empty();
    let in_place = match place {
        UsePlace::OwnMember | UsePlace::OwnMemberBefore => {
            let before = place == UsePlace::OwnMemberBefore;
            matches!(
                d.site,
                DeclarationSite::Member | DeclarationSite::InlineMember | DeclarationSite::TemplateMember
            )
                && d.access == Naming::Plain
                // A deduced result type needs the variable to be declared before.
                && !(before && form.result == "auto")
        }
        UsePlace::VariableInitializer => {
            is_constant(d)
                && matches!(form.name, "value" | "parentheses" | "static-cast" | "address-returned")
                && matches!(d.order, InitializerPosition::AtDeclaration | InitializerPosition::DefinedBefore)
                && d.qualifier != Qualifier::ConstVolatile
                && d.annotation == Annotation::None
        }
        UsePlace::Dependent | UsePlace::DependentBefore => {
            d.site.is_member()
                && d.access == Naming::Plain
                && (place == UsePlace::Dependent || d.order != InitializerPosition::BeforeInstantiation)
        }
        UsePlace::Template => true,
        _ => d.order != InitializerPosition::BeforeInstantiation,
    };
    let instantiation = d.order != InitializerPosition::BeforeInstantiation || !form.constant;
    helper && assembly && shared && local && expression && in_place && instantiation
}
