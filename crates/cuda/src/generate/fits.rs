//! Decides which combinations of declaration, form and place are well-formed C++17, or C++20 if they need it. The rule
//! CUDASafety-1.5 plays no part.

use crate::language::{
    Access, Annotation, Category, Declaration, Expression, Form, Needs, Order, Place, Qualifier, Site,
    Spelling, Type, Value,
    constant::{self, Constness},
};

/// Whether the whole case is well-formed.
pub fn case(d: &Declaration, form: &Form, at: Place) -> bool {
    declaration(d) && use_of(d, form) && place(d, form, at)
}

/// Whether the declaration is well-formed.
pub fn declaration(d: &Declaration) -> bool {
    qualifier(d) && order(d) && spelling(d) && access(d) && annotation(d) && site(d)
}

/// Sites at namespace scope, where a variable is declared and initialized.
const AT_NAMESPACE: [Site; 5] = [Site::Namespace, Site::Nested, Site::Anonymous, Site::Inline, Site::Linkage];
/// Sites of static members that are initialized in the class and not declared `inline`.
const IN_CLASS: [Site; 4] = [Site::Member, Site::NestedMember, Site::TemplateMember, Site::InClassAndDefined];
/// Sites of static members that are declared in the class and initialized outside.
const OUT_OF_CLASS: [Site; 2] = [Site::OutOfClass, Site::TemplateOutOfClass];

fn is_constant(d: &Declaration) -> bool {
    matches!(constant::of(d), Constness::Constant(_))
}

fn qualifier(d: &Declaration) -> bool {
    let in_class = IN_CLASS.contains(&d.site);
    match d.qualifier {
        Qualifier::Constexpr => {
            is_constant(d) && d.order == Order::AtDeclaration && !OUT_OF_CLASS.contains(&d.site)
        }
        // Without `inline` or `constexpr`, only constants of these types may be initialized in the class.
        Qualifier::Const => {
            let enumeration = matches!(d.ty.category(), Category::Enumeration { .. });
            !in_class || (is_constant(d) && (d.ty.is_integral() || enumeration))
        }
        Qualifier::ConstVolatile => !in_class,
        Qualifier::None => d.site == Site::Namespace && is_plain(d),
    }
}

fn order(d: &Declaration) -> bool {
    match d.order {
        Order::AtDeclaration => true,
        Order::DefinedBefore | Order::DefinedAfter | Order::BeforeInstantiation => {
            d.site.can_be_declared_before()
        }
        Order::Elsewhere => d.site.can_be_declared_before() && d.kind == "literal",
    }
}

fn spelling(d: &Declaration) -> bool {
    let braced = matches!(d.initializer, Expression::Braces(_) | Expression::Text(_));
    let at_once = AT_NAMESPACE.contains(&d.site) && d.order == Order::AtDeclaration;
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
            at_once && matches!(d.site, Site::Namespace | Site::Nested)
        }
    }
}

fn access(d: &Declaration) -> bool {
    match d.access {
        Access::Plain => true,
        Access::Qualified => d.site != Site::Local && d.site != Site::Anonymous,
        Access::ThroughObject | Access::ThroughDerived => {
            matches!(d.site, Site::Member | Site::InlineMember | Site::OutOfClass | Site::TemplateMember)
        }
        Access::Using => d.site == Site::Nested,
    }
}

fn annotation(d: &Declaration) -> bool {
    d.annotation == Annotation::None
        || (d.site == Site::Namespace
            && d.qualifier == Qualifier::Const
            && is_constant(d)
            && is_plain(d)
            // The address of a host variable is not a valid initializer on the device.
            && !matches!(d.initializer, Expression::AddressOf(_)))
}

fn site(d: &Declaration) -> bool {
    match d.site {
        Site::Local => is_plain(d) && d.qualifier == Qualifier::Const,
        // Not all compilers can initialize a volatile object of class type from braces in a variable template.
        Site::VariableTemplate => matches!(d.spelling, Spelling::Equals | Spelling::Braces),
        _ => true,
    }
}

/// Whether the variable is initialized with a literal at its declaration, spelled with `=`, and named by its plain name.
fn is_plain(d: &Declaration) -> bool {
    d.order == Order::AtDeclaration
        && d.kind == "literal"
        && d.spelling == Spelling::Equals
        && d.access == Access::Plain
}

/// Whether the form of use is well-formed for the declared variable.
fn use_of(d: &Declaration, form: &Form) -> bool {
    let category = d.ty.category();
    let needs = match form.needs {
        Needs::Any => true,
        Needs::Scalar => d.ty.is_scalar(),
        Needs::Arithmetic => d.ty.is_arithmetic(),
        Needs::Integral => d.ty.is_integral(),
        Needs::IntegralOrEnumeration => {
            d.ty.is_integral() || category == (Category::Enumeration { scoped: false })
        }
        Needs::Integer => d.ty.is_integral() && d.ty != Type::Bool,
        Needs::Word => matches!(category, Category::Integral { bits: 32, .. }),
        Needs::Enumeration => matches!(category, Category::Enumeration { .. }),
        Needs::Pointer => category == Category::Pointer,
        Needs::ObjectPointer => d.ty == Type::Pointer,
        Needs::MemberPointer => d.ty == Type::MemberPointer,
        Needs::Class => d.ty == Type::Class,
        Needs::ClassOrUnion => category == Category::Class,
        Needs::Array => d.ty == Type::Array,
        Needs::AnyArray => category == Category::Array,
    };
    let volatile = d.qualifier != Qualifier::ConstVolatile
        || (form.volatile && (d.ty.is_scalar() || !form.steps.contains(&crate::language::Step::Discard)));
    let constant = !form.constant
        || (constant::is_usable(d)
            && matches!(d.order, Order::AtDeclaration | Order::DefinedBefore)
            && !matches!(category, Category::Extended { .. }));
    let values = form.values.is_none_or(|(least, most)| {
        matches!(constant::of(d), Constness::Constant(Value::Integer(value)) if (least..=most).contains(&value))
    });
    let template_argument = form.name.starts_with("template-");
    let object = d.access != Access::ThroughObject || !template_argument;
    let simple = ["value", "reference", "address-returned", "element-value", "member-value", "array-bound"];
    let local = (d.site != Site::Local && d.qualifier != Qualifier::None) || simple.contains(&form.name);
    needs && volatile && constant && values && object && local
}

/// Whether the form of use is well-formed in this place.
fn place(d: &Declaration, form: &Form, at: Place) -> bool {
    let helper = !form.is_in_helper()
        || (matches!(at, Place::Device | Place::HostDevice | Place::Host) && d.site != Site::Local);
    let assembly = !form.name.starts_with("assembly") || !at.is_host();
    let shared = form.name != "shared-array-bound"
        || matches!(at, Place::Device | Place::Global | Place::Member | Place::Template);
    let local = d.site != Site::Local
        || matches!(at, Place::Device | Place::Global | Place::HostDevice | Place::Member | Place::Host);
    let expression = !at.takes_expression_only() || form.setup.is_empty();
    let at = match at {
        Place::OwnMember | Place::OwnMemberBefore => {
            let before = at == Place::OwnMemberBefore;
            matches!(d.site, Site::Member | Site::InlineMember | Site::TemplateMember)
                && d.access == Access::Plain
                // A deduced result type needs the variable to be declared before.
                && !(before && form.result == "auto")
        }
        Place::VariableInitializer => {
            is_constant(d)
                && matches!(form.name, "value" | "parentheses" | "static-cast" | "address-returned")
                && matches!(d.order, Order::AtDeclaration | Order::DefinedBefore)
                && d.qualifier != Qualifier::ConstVolatile
                && d.annotation == Annotation::None
        }
        Place::Dependent | Place::DependentBefore => {
            d.site.is_member()
                && d.access == Access::Plain
                && (at == Place::Dependent || d.order != Order::BeforeInstantiation)
        }
        Place::Template => true,
        _ => d.order != Order::BeforeInstantiation,
    };
    let instantiation = d.order != Order::BeforeInstantiation || !form.constant;
    helper && assembly && shared && local && expression && at && instantiation
}
