//! clang's syntax tree as its JSON dump gives it, as much as the checker needs. What it does not print is a default.

use serde::Deserialize;

/// A place in the preprocessed text.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(default)]
pub struct Place {
    /// The line, from 1.
    pub line: u32,
    /// The column in bytes, from 1.
    pub col: u32,
    /// The offset in bytes.
    pub offset: u32,
}

/// Beginning and end.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Range {
    /// Where the first token begins.
    pub begin: Place,
    /// Where the last token begins.
    pub end: Place,
}

/// A type as text.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Type {
    qual_type: String,
    desugared_qual_type: Option<String>,
}

impl Type {
    /// Without aliases.
    pub fn text(&self) -> &str {
        self.desugared_qual_type.as_deref().unwrap_or(&self.qual_type)
    }
}

/// A declaration that is only named.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Named {
    /// Its identity in this dump.
    pub id: String,
    /// Its kind.
    pub kind: String,
    /// Its name.
    pub name: String,
    /// Its type.
    #[serde(rename = "type")]
    pub ty: Type,
}

/// A base class.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Base {
    /// Which.
    #[serde(rename = "type")]
    pub ty: Type,
}

/// A node: a declaration, a statement, an expression, an attribute, or a template argument.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Node {
    /// Its identity in this dump.
    pub id: String,
    /// Its kind; empty where a child is absent.
    pub kind: String,
    /// Its name.
    pub name: String,
    /// Where its name is.
    pub loc: Place,
    /// Where it is.
    pub range: Range,
    /// Its type.
    #[serde(rename = "type")]
    pub ty: Type,
    /// What is in it.
    pub inner: Vec<Node>,
    /// What an expression names.
    pub referenced_decl: Option<Named>,
    /// The member that an expression names.
    pub referenced_member_decl: Option<String>,
    /// What a template argument names.
    pub decl: Option<Named>,
    /// `lvalue`, `xvalue` or `prvalue`.
    pub value_category: String,
    /// What a cast does.
    pub cast_kind: String,
    /// The operator.
    pub opcode: String,
    /// A literal's value.
    pub value: Option<serde_json::Value>,
    /// `static`, `extern`.
    pub storage_class: String,
    /// Whether it is `constexpr`.
    pub constexpr: bool,
    /// The base classes of a class.
    pub bases: Vec<Base>,
    /// Whether the compiler made it.
    pub implicit: bool,
    /// How a variable is initialized; absent where it is not.
    pub init: Option<String>,
    /// The declaration that this one repeats.
    pub previous_decl: Option<String>,
    /// Where it belongs, if it stands elsewhere.
    pub parent_decl_context_id: String,
    /// Why naming the variable needs no object: `unevaluated`, `constant`, `discarded`.
    pub non_odr_use_reason: Option<String>,
}

impl Node {
    /// Whether it is an lvalue.
    pub fn is_lvalue(&self) -> bool {
        self.value_category == "lvalue"
    }

    /// Whether it makes a class template a friend.
    pub fn befriends_class_template(&self) -> bool {
        self.kind == "FriendDecl" && self.inner.iter().any(|child| child.kind == "ClassTemplateDecl")
    }

    /// Whether it has this attribute, written by somebody.
    pub fn has_attribute(&self, kind: &str) -> bool {
        self.inner.iter().any(|node| node.kind == kind && !node.implicit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_clang_does_not_print_is_a_default() {
        let text = r#"{"kind": "DeclRefExpr", "loc": {"line": 3, "tokLen": 1}, "type": {"qualType": "const int"},
            "range": {"begin": {"line": 7, "col": 2}}, "inner": [{}], "referencedDecl": {"id": "0x1", "type": {"qualType": "E"}}}"#;
        let node: Node = serde_json::from_str(text).unwrap();
        assert_eq!((node.loc.line, node.range.begin.line), (3, 7));
        assert_eq!((node.range.end.line, node.inner[0].kind.as_str()), (0, ""));
        assert_eq!((node.ty.text(), node.referenced_decl.unwrap().ty.text()), ("const int", "E"));
        assert_eq!((node.init, node.referenced_member_decl, node.implicit), (None, None, false));
    }
}
