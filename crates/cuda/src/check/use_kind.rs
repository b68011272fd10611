//! Classifies uses of variables by the syntax tree around the expression that names the variable.

use super::ast::AstNode;
use super::variables::ArithmeticKind;

/// The effect of a use on the variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UseKind {
    /// Has no effect that the rule restricts.
    Nothing,
    /// Uses the value.
    Value,
    /// Refers to the variable or takes its address.
    Address,
    /// Uses the value through the reference that a copy constructor takes.
    Copy,
    /// Is a template argument, and only an instantiation chooses the template.
    Argument,
    /// Depends on the parameters of a template.
    Unknown,
    /// Is in an expression that clang does not understand.
    Misread,
}

/// Expressions whose operands are not evaluated.
const UNEVALUATED: [&str; 5] =
    ["UnaryExprOrTypeTraitExpr", "CXXNoexceptExpr", "TypeTraitExpr", "CXXTypeidExpr", "RequiresExpr"];

/// Classifies the use by the expression `node`, which names the variable, and the nodes around it (`path`,
/// outermost first).
///
/// In a template's own declaration (`is_pattern`), the tree lacks conversions that only an instantiation
/// decides. `is_static` tells whether a member with this identity is a static one.
pub fn use_kind(
    node: &AstNode,
    path: &[&AstNode],
    is_pattern: bool,
    is_static: &dyn Fn(&str) -> bool,
) -> UseKind {
    if node.non_odr_use_reason.as_deref() == Some("unevaluated")
        || path.iter().any(|node| UNEVALUATED.contains(&node.kind.as_str()))
    {
        return UseKind::Nothing;
    }
    if let [.., lookup, argument] = path
        && argument.kind == "TemplateArgument"
        && is_unresolved_lookup(lookup)
    {
        return UseKind::Argument;
    }
    let mut below = node;
    for (depth, parent) in path.iter().enumerate().rev() {
        let above = depth.checked_sub(1).map(|depth| path[depth]);
        match kind_at_parent(parent, below, above, is_static) {
            Some(UseKind::Address) if is_pattern && !binds_always(parent, path) => return UseKind::Unknown,
            Some(kind) => return kind,
            None => below = parent,
        }
    }
    UseKind::Address
}

fn is_unresolved_lookup(node: &AstNode) -> bool {
    node.kind.starts_with("Unresolved")
        || node.kind == "DependentScopeDeclRefExpr"
        || node.kind == "CXXDependentScopeMemberExpr"
}

/// Whether a copy of the variable could replace the variable where a reference is bound to it: in an argument
/// of a call that returns a number or nothing, and in the initializer of a local reference to const.
pub fn is_copy_safe(node: &AstNode, path: &[&AstNode]) -> bool {
    let mut below = node;
    for parent in path.iter().rev() {
        match parent.kind.as_str() {
            "ParenExpr" => {}
            "ImplicitCastExpr" if parent.cast_kind == "NoOp" && parent.is_lvalue() => {}
            "CallExpr" | "CXXMemberCallExpr" | "CXXOperatorCallExpr" => {
                let is_callee = parent.inner.first().is_some_and(|first| std::ptr::eq(first, below));
                let result = parent.ty.text();
                let gives_number =
                    result == "void" || super::variables::kind(result) != ArithmeticKind::Other;
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

/// Classifies the effect of an expression on the lvalue `below` it; `None` if its result is that lvalue again
/// or a part of it, so that the next expression decides.
fn kind_at_parent(
    node: &AstNode,
    below: &AstNode,
    above: Option<&AstNode>,
    is_static: &dyn Fn(&str) -> bool,
) -> Option<UseKind> {
    match node.kind.as_str() {
        "ParenExpr"
        | "ExprWithCleanups"
        | "ConstantExpr"
        | "CXXBindTemporaryExpr"
        | "FullExpr"
        | "OpaqueValueExpr"
        | "SubstNonTypeTemplateParmExpr" => None,
        "ArraySubscriptExpr" => kind_of_subscript(node, below),
        "ConditionalOperator" | "BinaryConditionalOperator" if node.is_lvalue() => None,
        "BinaryOperator" if node.opcode == "," => {
            let is_last = node.inner.last().is_some_and(|last| std::ptr::eq(last, below));
            (!is_last).then_some(UseKind::Nothing)
        }
        "BinaryOperator" if node.opcode == ".*" => {
            node.inner.first().is_some_and(|first| !std::ptr::eq(first, below)).then_some(UseKind::Address)
        }
        "ImplicitCastExpr" | "BuiltinBitCastExpr" => kind_of_cast(node, above),
        "UnaryOperator" if matches!(&node.opcode[..], "*" | "__extension__") => None,
        "RecoveryExpr" => Some(UseKind::Misread),
        "UnaryOperator" if node.opcode == "&" => Some(UseKind::Address),
        // The object before a static member is not used.
        "MemberExpr" if node.referenced_member_decl.as_deref().is_some_and(is_static) => {
            Some(UseKind::Nothing)
        }
        "MemberExpr" => (node.ty.text() == "<bound member function type>").then_some(UseKind::Address),
        "CStyleCastExpr" | "CXXStaticCastExpr" | "CXXFunctionalCastExpr" if node.cast_kind == "ToVoid" => {
            Some(UseKind::Nothing)
        }
        _ if node.cast_kind == "Dependent" => Some(UseKind::Unknown),
        // The constructor of another class binds a reference as any function does.
        "CXXConstructExpr" | "CXXTemporaryObjectExpr" => {
            let is_same_class = unqualified(node.ty.text()) == unqualified(below.ty.text());
            Some(if is_same_class { UseKind::Copy } else { UseKind::Address })
        }
        // Copies an array element by element.
        "ArrayInitLoopExpr" => {
            let is_class = node.inner.iter().any(|part| part.kind == "CXXConstructExpr");
            Some(if is_class { UseKind::Copy } else { UseKind::Value })
        }
        "CompoundStmt" | "IfStmt" | "ForStmt" | "WhileStmt" | "DoStmt" | "SwitchStmt" | "CaseStmt"
        | "DefaultStmt" | "LabelStmt" | "AttributedStmt" | "StmtExpr" => Some(UseKind::Nothing),
        // The argument of a pragma or an attribute is a constant.
        kind if kind.ends_with("Attr") => Some(UseKind::Value),
        kind if node.ty.text() == "<dependent type>"
            || kind.starts_with("CXXDependent")
            || kind.starts_with("CXXUnresolved")
            || kind == "ParenListExpr" =>
        {
            Some(UseKind::Unknown)
        }
        // Everything else with an lvalue as operand binds a reference to it.
        _ => Some(UseKind::Address),
    }
}

/// Classifies a subscript. An element of an array is a part of the array. An index or a pointer is read,
/// although the tree of a template does not show that yet.
fn kind_of_subscript(node: &AstNode, below: &AstNode) -> Option<UseKind> {
    if is_array(below) || below.cast_kind == "ArrayToPointerDecay" {
        return None;
    }
    let is_resolved = node.inner.iter().any(|operand| is_array(operand) || operand.ty.text().contains('*'));
    Some(if is_resolved { UseKind::Value } else { UseKind::Unknown })
}

fn is_array(operand: &AstNode) -> bool {
    operand.ty.text().ends_with(']')
}

fn kind_of_cast(node: &AstNode, above: Option<&AstNode>) -> Option<UseKind> {
    match node.cast_kind.as_str() {
        // The tree has the last one where a variable of type std::nullptr_t is read.
        "LValueToRValue" | "LValueToRValueBitCast" | "NullToPointer" => Some(UseKind::Value),
        "NoOp" | "DerivedToBase" | "UncheckedDerivedToBase" if node.is_lvalue() => None,
        // C++ reads an element through a pointer; that alone does not count as taking the address.
        "ArrayToPointerDecay" => (!above.is_some_and(is_element)).then_some(UseKind::Address),
        // The last one: the variable names a static member function as an object of its class.
        "ToVoid" | "FunctionToPointerDecay" => Some(UseKind::Nothing),
        _ => Some(UseKind::Address),
    }
}

/// Whether an expression designates an element of an array.
pub fn is_element(node: &AstNode) -> bool {
    node.kind == "ArraySubscriptExpr" || node.kind == "UnaryOperator" && node.opcode == "*"
}

/// Returns the name of a class type without qualifiers.
fn unqualified(ty: &str) -> &str {
    let mut ty = ty;
    while let Some(rest) =
        ["const ", "volatile ", "struct ", "class ", "union "].iter().find_map(|word| ty.strip_prefix(word))
    {
        ty = rest;
    }
    ty
}

/// Whether an expression that binds the variable in a template's own declaration binds it in every
/// instantiation.
fn binds_always(node: &AstNode, path: &[&AstNode]) -> bool {
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
            let mut around = path.iter().rev();
            let function =
                around.find(|node| node.kind.starts_with("CXXMethod") || node.kind == "FunctionDecl");
            let ty = function.map_or("", |function| function.ty.text());
            is_reference(
                ty.rsplit_once("-> ")
                    .map_or_else(|| ty.split('(').next().unwrap_or(ty), |(_, result)| result),
            )
        }
        _ => false,
    }
}

fn is_reference(ty: &str) -> bool {
    ty.trim_end().ends_with('&')
}

/// Whether the tree shows which function a call calls.
fn is_resolved(call: &AstNode) -> bool {
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
