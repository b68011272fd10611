//! Which combinations are well-formed C++17, the rule aside.

use crate::language::{
    Access, Annotation, Category, Declaration, Expression, Form, Needs, Order, Place, Qualifier, Site,
    Spelling, Type, Value,
    constant::{self, Constness},
};

/// Whether the whole case is well-formed.
pub fn case(d: &Declaration, form: &Form, at: Place) -> bool {
    declaration(d) && use_of(d, form) && place(d, form, at)
}

/// Whether the declaration is.
pub fn declaration(d: &Declaration) -> bool {
    use Order::{AtDeclaration, BeforeInstantiation, DefinedAfter, DefinedBefore, Elsewhere};
    let is_constant = matches!(constant::of(d), Constness::Constant(_));
    let enumeration = matches!(d.ty.category(), Category::Enumeration { .. });
    let in_class =
        matches!(d.site, Site::Member | Site::NestedMember | Site::TemplateMember | Site::InClassAndDefined);
    let at_namespace =
        matches!(d.site, Site::Namespace | Site::Nested | Site::Anonymous | Site::Inline | Site::Linkage);
    let out_of_class = matches!(d.site, Site::OutOfClass | Site::TemplateOutOfClass);
    let qualifier = match d.qualifier {
        Qualifier::Constexpr => is_constant && d.order == AtDeclaration && !out_of_class,
        // In a class, only constants of these types are initialized without `inline` or `constexpr`.
        Qualifier::Const => !in_class || (is_constant && (d.ty.is_integral() || enumeration)),
        Qualifier::ConstVolatile => !in_class,
        Qualifier::None => {
            d.site == Site::Namespace && d.order == AtDeclaration && d.kind == "literal" && is_plain(d)
        }
    };
    let order = match d.order {
        AtDeclaration => true,
        DefinedBefore | DefinedAfter | BeforeInstantiation => d.site.can_be_declared_before(),
        Elsewhere => d.site.can_be_declared_before() && d.kind == "literal",
    };
    let braced = matches!(d.initializer, Expression::Braces(_) | Expression::Text(_));
    let spelling = match d.spelling {
        Spelling::Equals => true,
        Spelling::Parentheses => !braced && (at_namespace || out_of_class),
        // Braces refuse conversions that lose something.
        Spelling::Braces => !braced && d.kind == "literal",
        Spelling::QualifierLast => at_namespace && d.order == AtDeclaration,
        Spelling::Alias => at_namespace && d.order == AtDeclaration && d.qualifier != Qualifier::Constexpr,
        Spelling::Auto => at_namespace && d.order == AtDeclaration && d.ty.is_scalar() && !braced,
        Spelling::Static | Spelling::InlineVariable => {
            matches!(d.site, Site::Namespace | Site::Nested) && d.order == AtDeclaration
        }
    };
    let access = match d.access {
        Access::Plain => true,
        Access::Qualified => d.site != Site::Local && d.site != Site::Anonymous,
        Access::ThroughObject => {
            matches!(d.site, Site::Member | Site::InlineMember | Site::OutOfClass | Site::TemplateMember)
        }
        Access::ThroughDerived => {
            matches!(d.site, Site::Member | Site::InlineMember | Site::OutOfClass | Site::TemplateMember)
        }
        Access::Using => d.site == Site::Nested,
    };
    let annotation = d.annotation == Annotation::None
        || (d.site == Site::Namespace
            && d.order == AtDeclaration
            && d.qualifier == Qualifier::Const
            && is_constant
            && d.kind == "literal"
            && is_plain(d)
            // Addresses of host variables are no initial values for the device.
            && !matches!(d.initializer, Expression::AddressOf(_)));
    let local = d.site != Site::Local
        || (d.order == AtDeclaration
            && d.kind == "literal"
            && is_plain(d)
            && d.qualifier == Qualifier::Const);
    // A volatile object of class type cannot be initialized from braces in every compiler's variable template.
    let template =
        d.site != Site::VariableTemplate || matches!(d.spelling, Spelling::Equals | Spelling::Braces);
    qualifier && order && spelling && access && annotation && local && template
}

fn is_plain(d: &Declaration) -> bool {
    d.spelling == Spelling::Equals && d.access == Access::Plain
}

/// Whether the form is well-formed for the variable.
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

/// Whether the form can stand there.
fn place(d: &Declaration, form: &Form, at: Place) -> bool {
    let helper = !form.is_in_helper()
        || (matches!(at, Place::Device | Place::HostDevice | Place::Host) && d.site != Site::Local);
    let assembly = form.name != "assembly" || !at.is_host();
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
                // What deduces its type from the variable needs the variable first, and so does what is not a body.
                && !(before && form.result == "auto")
        }
        Place::VariableInitializer => {
            let strict = matches!(constant::of(d), Constness::Constant(_));
            strict
                && matches!(form.name, "value" | "parentheses" | "static-cast" | "address-returned")
                && matches!(d.order, Order::AtDeclaration | Order::DefinedBefore)
                && d.qualifier != Qualifier::ConstVolatile
                && d.annotation == Annotation::None
        }
        Place::Template => true,
        _ => d.order != Order::BeforeInstantiation,
    };
    let instantiation = d.order != Order::BeforeInstantiation || !form.constant;
    helper && assembly && shared && local && expression && at && instantiation
}
