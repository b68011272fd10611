//! The parts of clang's JSON syntax tree that the checker needs. Fields that clang does not print have
//! default values.

use serde::Deserialize;

/// A position in the preprocessed text.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(default)]
pub struct Position {
    /// The line, from 1.
    pub line: u32,
    /// The column in bytes, from 1.
    pub col: u32,
    /// The offset in bytes.
    pub offset: u32,
}

/// The extent of a node.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Range {
    /// The beginning of the first token.
    pub begin: Position,
    /// The beginning of the last token.
    pub end: Position,
}

/// The type of a node, as text.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct NodeType {
    qual_type: String,
    desugared_qual_type: Option<String>,
}

impl NodeType {
    /// The type with its aliases resolved.
    pub fn text(&self) -> &str {
        self.desugared_qual_type.as_deref().unwrap_or(&self.qual_type)
    }
}

/// A reference to a declaration elsewhere in the tree.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct DeclRef {
    /// The identity of the declaration in this dump.
    pub id: String,
    /// The kind of the declaration.
    pub kind: String,
    /// The declared name.
    pub name: String,
    /// The declared type.
    #[serde(rename = "type")]
    pub ty: NodeType,
}

/// A base class.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct BaseClass {
    /// The class.
    #[serde(rename = "type")]
    pub ty: NodeType,
}

/// A node: a declaration, a statement, an expression, an attribute, or a template argument.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct AstNode {
    /// The identity of the node in this dump.
    pub id: String,
    /// clang's name for the kind of node; empty for a child that is absent.
    pub kind: String,
    /// The declared name.
    pub name: String,
    /// The position of the declared name.
    pub loc: Position,
    /// The extent of the node.
    pub range: Range,
    /// The type of the expression or the declaration.
    #[serde(rename = "type")]
    pub ty: NodeType,
    /// The children.
    pub inner: Vec<AstNode>,
    /// The declaration that an expression refers to.
    pub referenced_decl: Option<DeclRef>,
    /// The identity of the member that an expression refers to.
    pub referenced_member_decl: Option<String>,
    /// The declaration that a template argument refers to.
    pub decl: Option<DeclRef>,
    /// `lvalue`, `xvalue` or `prvalue`.
    pub value_category: String,
    /// The conversion that a cast performs.
    pub cast_kind: String,
    /// The operator of an expression.
    pub opcode: String,
    /// The value of a literal.
    pub value: Option<serde_json::Value>,
    /// `static` or `extern`.
    pub storage_class: String,
    /// Whether the declaration is `constexpr`.
    pub constexpr: bool,
    /// The base classes of a class.
    pub bases: Vec<BaseClass>,
    /// Whether the compiler added the node.
    pub implicit: bool,
    /// The syntax of a variable's initializer, such as `c` or `call`; `None` without an initializer.
    pub init: Option<String>,
    /// The identity of the previous declaration of the same entity.
    pub previous_decl: Option<String>,
    /// The identity of the class or namespace that the declaration belongs to, if it stands outside of it.
    pub parent_decl_context_id: String,
    /// The reason why naming the variable needs no object: `unevaluated`, `constant` or `discarded`.
    pub non_odr_use_reason: Option<String>,
}

impl AstNode {
    /// Whether the expression is an lvalue.
    pub fn is_lvalue(&self) -> bool {
        self.value_category == "lvalue"
    }

    /// Whether the declaration makes a class template a friend.
    pub fn befriends_class_template(&self) -> bool {
        self.kind == "FriendDecl" && self.inner.iter().any(|child| child.kind == "ClassTemplateDecl")
    }

    /// Whether the source gives the declaration an attribute of this kind.
    pub fn has_attribute(&self, kind: &str) -> bool {
        self.inner.iter().any(|node| node.kind == kind && !node.implicit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_that_clang_does_not_print_have_default_values() {
        let text = r#"{"kind": "DeclRefExpr", "loc": {"line": 3, "tokLen": 1}, "type": {"qualType": "const int"},
            "range": {"begin": {"line": 7, "col": 2}}, "inner": [{}], "referencedDecl": {"id": "0x1", "type": {"qualType": "E"}}}"#;
        let node: AstNode = serde_json::from_str(text).unwrap();
        assert_eq!((node.loc.line, node.range.begin.line), (3, 7));
        assert_eq!((node.range.end.line, node.inner[0].kind.as_str()), (0, ""));
        assert_eq!((node.ty.text(), node.referenced_decl.unwrap().ty.text()), ("const int", "E"));
        assert_eq!((node.init, node.referenced_member_decl, node.implicit), (None, None, false));
    }
}
