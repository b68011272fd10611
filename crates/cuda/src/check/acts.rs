//! What a use does with the variable, from the syntax tree around the expression that names it.

use super::ast::Node;
use super::variables::TypeKind;

/// What a use does with the variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// Nothing that the rule speaks of.
    Nothing,
    /// It uses the value.
    Value,
    /// It refers to the variable or takes its address.
    Address,
    /// A constructor uses the value through a reference.
    Copy,
    /// It is a template argument, of templates among which an instantiation chooses.
    Argument,
    /// It depends on a template's parameters.
    Unknown,
    /// clang does not understand the expression.
    Misread,
}

/// What the use does. In a template's own declaration (`pattern`) conversions that only an instantiation decides are not in
/// the tree yet.
pub fn act(node: &Node, path: &[&Node], pattern: bool, is_static: &dyn Fn(&str) -> bool) -> Act {
    let unevaluated =
        ["UnaryExprOrTypeTraitExpr", "CXXNoexceptExpr", "TypeTraitExpr", "CXXTypeidExpr", "RequiresExpr"];
    if node.non_odr_use_reason.as_deref() == Some("unevaluated")
        || path.iter().any(|node| unevaluated.contains(&node.kind.as_str()))
    {
        return Act::Nothing;
    }
    let is_lookup = |node: &Node| {
        node.kind.starts_with("Unresolved")
            || node.kind == "DependentScopeDeclRefExpr"
            || node.kind == "CXXDependentScopeMemberExpr"
    };
    if let [.., lookup, argument] = path
        && argument.kind == "TemplateArgument"
        && is_lookup(lookup)
    {
        return Act::Argument;
    }
    let mut below = node;
    for (depth, parent) in path.iter().enumerate().rev() {
        let above = depth.checked_sub(1).map(|depth| path[depth]);
        let act = act_of(parent, below, above, is_static);
        match act {
            Some(Act::Address) if pattern && !is_certain(parent, path) => return Act::Unknown,
            Some(act) => return act,
            None => below = parent,
        }
    }
    Act::Address
}

/// Whether a copy of the variable does as well as the variable where a reference is bound to it: in the argument of a call that
/// gives a number or nothing, and in the initializer of a local reference to const.
pub fn copy_is_safe(node: &Node, path: &[&Node]) -> bool {
    let mut below = node;
    for parent in path.iter().rev() {
        let is_callee = parent.inner.first().is_some_and(|first| std::ptr::eq(first, below));
        match parent.kind.as_str() {
            "ParenExpr" => {}
            "ImplicitCastExpr" if parent.cast_kind == "NoOp" && parent.is_lvalue() => {}
            "CallExpr" | "CXXMemberCallExpr" | "CXXOperatorCallExpr" => {
                let result = parent.ty.text();
                let gives_number = result == "void" || super::variables::kind(result) != TypeKind::Other;
                return !is_callee && gives_number && parent.value_category == "prvalue";
            }
            "VarDecl" => {
                let ty = parent.ty.text();
                return ty.starts_with("const ") && ty.ends_with(" &") && parent.storage_class.is_empty();
            }
            _ => return false,
        }
        below = parent;
    }
    false
}

/// What an expression does with the variable that stands below it as an lvalue; `None` where it passes the lvalue on.
fn act_of(node: &Node, below: &Node, above: Option<&Node>, is_static: &dyn Fn(&str) -> bool) -> Option<Act> {
    match node.kind.as_str() {
        "ParenExpr"
        | "ExprWithCleanups"
        | "ConstantExpr"
        | "CXXBindTemporaryExpr"
        | "FullExpr"
        | "OpaqueValueExpr"
        | "SubstNonTypeTemplateParmExpr" => None,
        "ArraySubscriptExpr" => act_of_subscript(node, below),
        "ConditionalOperator" | "BinaryConditionalOperator" if node.is_lvalue() => None,
        "BinaryOperator" if node.opcode == "," => {
            let is_last = node.inner.last().is_some_and(|last| std::ptr::eq(last, below));
            (!is_last).then_some(Act::Nothing)
        }
        "BinaryOperator" if node.opcode == ".*" => {
            node.inner.first().is_some_and(|first| !std::ptr::eq(first, below)).then_some(Act::Address)
        }
        "ImplicitCastExpr" | "BuiltinBitCastExpr" => act_of_cast(node, above),
        "UnaryOperator" if matches!(&node.opcode[..], "*" | "__extension__") => None,
        "RecoveryExpr" => Some(Act::Misread),
        "UnaryOperator" if node.opcode == "&" => Some(Act::Address),
        // The object of a static member is not looked at.
        "MemberExpr" if node.referenced_member_decl.as_deref().is_some_and(is_static) => Some(Act::Nothing),
        "MemberExpr" => (node.ty.text() == "<bound member function type>").then_some(Act::Address),
        "CStyleCastExpr" | "CXXStaticCastExpr" | "CXXFunctionalCastExpr" if node.cast_kind == "ToVoid" => {
            Some(Act::Nothing)
        }
        _ if node.cast_kind == "Dependent" => Some(Act::Unknown),
        // The constructor of another class is a function like any other.
        "CXXConstructExpr" | "CXXTemporaryObjectExpr" => {
            let same = unqualified(node.ty.text()) == unqualified(below.ty.text());
            Some(if same { Act::Copy } else { Act::Address })
        }
        // The elements of an array, one by one.
        "ArrayInitLoopExpr" => {
            let is_class = node.inner.iter().any(|part| part.kind == "CXXConstructExpr");
            Some(if is_class { Act::Copy } else { Act::Value })
        }
        "CompoundStmt" | "IfStmt" | "ForStmt" | "WhileStmt" | "DoStmt" | "SwitchStmt" | "CaseStmt"
        | "DefaultStmt" | "LabelStmt" | "AttributedStmt" | "StmtExpr" => Some(Act::Nothing),
        // A pragma or an attribute has a constant.
        kind if kind.ends_with("Attr") => Some(Act::Value),
        kind if node.ty.text() == "<dependent type>"
            || kind.starts_with("CXXDependent")
            || kind.starts_with("CXXUnresolved")
            || kind == "ParenListExpr" =>
        {
            Some(Act::Unknown)
        }
        // Whatever else takes an lvalue binds a reference to it.
        _ => Some(Act::Address),
    }
}

/// An element of an array is a part of it. An index, and a pointer, are read, which the tree of a template does not say yet.
fn act_of_subscript(node: &Node, below: &Node) -> Option<Act> {
    let is_array = |operand: &Node| operand.ty.text().ends_with(']');
    let is_indexed = |operand: &Node| is_array(operand) || operand.ty.text().contains('*');
    if is_array(below) || below.cast_kind == "ArrayToPointerDecay" {
        return None;
    }
    Some(if node.inner.iter().any(is_indexed) { Act::Value } else { Act::Unknown })
}

fn act_of_cast(node: &Node, above: Option<&Node>) -> Option<Act> {
    match node.cast_kind.as_str() {
        // Of std::nullptr_t, reading is called otherwise.
        "LValueToRValue" | "LValueToRValueBitCast" | "NullToPointer" => Some(Act::Value),
        "NoOp" | "DerivedToBase" | "UncheckedDerivedToBase" if node.is_lvalue() => None,
        // An element is read through a pointer, which is nothing but C++'s way to say so.
        "ArrayToPointerDecay" => {
            let is_element = |above: &Node| {
                above.kind == "ArraySubscriptExpr" || (above.kind == "UnaryOperator" && above.opcode == "*")
            };
            (!above.is_some_and(is_element)).then_some(Act::Address)
        }
        // A static member function, named through the variable.
        "ToVoid" | "FunctionToPointerDecay" => Some(Act::Nothing),
        _ => Some(Act::Address),
    }
}

/// A class without qualifiers.
fn unqualified(ty: &str) -> &str {
    let mut ty = ty;
    while let Some(rest) =
        ["const ", "volatile ", "struct ", "class ", "union "].iter().find_map(|word| ty.strip_prefix(word))
    {
        ty = rest;
    }
    ty
}

/// Whether what binds the variable in a template's own declaration binds it in every instantiation.
fn is_certain(node: &Node, path: &[&Node]) -> bool {
    let is_reference = |ty: &str| ty.trim_end().ends_with('&');
    match node.kind.as_str() {
        "UnaryOperator" => true,
        "VarDecl" | "ParmVarDecl" | "FieldDecl" => is_reference(node.ty.text()),
        "CXXStaticCastExpr" | "CStyleCastExpr" | "CXXConstCastExpr" | "CXXReinterpretCastExpr" => {
            node.is_lvalue()
        }
        "CallExpr" | "CXXMemberCallExpr" | "CXXOperatorCallExpr" => {
            node.ty.text() != "<dependent type>" && node.ty.text() != "void" || is_resolved(node)
        }
        "MemberExpr" | "ImplicitCastExpr" | "CXXConstructExpr" | "CXXTemporaryObjectExpr" => true,
        "ReturnStmt" => {
            let function = path
                .iter()
                .rev()
                .find(|node| node.kind.starts_with("CXXMethod") || node.kind == "FunctionDecl");
            let ty = function.map_or("", |function| function.ty.text());
            let result = match ty.rsplit_once("-> ") {
                Some((_, result)) => result,
                None => ty.split('(').next().unwrap_or(ty),
            };
            is_reference(result)
        }
        _ => false,
    }
}

/// Whether it is known which function a call calls.
fn is_resolved(call: &Node) -> bool {
    let mut callee = call.inner.first();
    while let Some(node) = callee {
        match node.kind.as_str() {
            "DeclRefExpr" | "MemberExpr" => return true,
            "ImplicitCastExpr" | "ParenExpr" => callee = node.inner.first(),
            _ => return false,
        }
    }
    false
}
