//! clang's syntax tree as its JSON dump gives it, as much as the checker needs.

use serde::Deserialize;

/// A place in a file.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
pub struct Place {
    /// The file, as clang opened it.
    #[serde(default)]
    pub file: String,
    /// The line, from 1.
    #[serde(default)]
    pub line: u32,
    /// The column in bytes, from 1.
    #[serde(default)]
    pub col: u32,
    /// The offset in the file, in bytes.
    #[serde(default)]
    pub offset: u32,
}

/// A place, or two where a macro is expanded.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Location {
    #[serde(flatten)]
    bare: Place,
    #[serde(default, rename = "expansionLoc")]
    expansion: Option<Place>,
}

impl Location {
    /// Where it is for a reader of the file: a macro is where it is used.
    pub fn place(&self) -> &Place {
        self.expansion.as_ref().unwrap_or(&self.bare)
    }
}

/// Beginning and end.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Range {
    /// Where the first token begins.
    #[serde(default)]
    pub begin: Location,
    /// Where the last token begins.
    #[serde(default)]
    pub end: Location,
}

/// A type as text.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Type {
    #[serde(default)]
    qual_type: String,
    #[serde(default)]
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
pub struct Named {
    /// Its identity in this dump.
    #[serde(default)]
    pub id: String,
    /// Its kind.
    #[serde(default)]
    pub kind: String,
    /// Its name.
    #[serde(default)]
    pub name: String,
    /// Its type.
    #[serde(default, rename = "type")]
    pub ty: Type,
}

/// A node: a declaration, a statement, an expression, an attribute, or a template argument.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Node {
    /// Its identity in this dump.
    #[serde(default)]
    pub id: String,
    /// Its kind; empty where a child is absent.
    #[serde(default)]
    pub kind: String,
    /// Its name.
    #[serde(default)]
    pub name: String,
    /// Where its name is.
    #[serde(default)]
    pub loc: Location,
    /// Where it is.
    #[serde(default)]
    pub range: Range,
    /// Its type.
    #[serde(default, rename = "type")]
    pub ty: Type,
    /// What is in it.
    #[serde(default)]
    pub inner: Vec<Node>,
    /// What an expression names.
    #[serde(default)]
    pub referenced_decl: Option<Named>,
    /// The member that an expression names.
    #[serde(default)]
    pub referenced_member_decl: Option<String>,
    /// What a template argument names.
    #[serde(default)]
    pub decl: Option<Named>,
    /// `lvalue`, `xvalue` or `prvalue`.
    #[serde(default)]
    pub value_category: String,
    /// What a cast does.
    #[serde(default)]
    pub cast_kind: String,
    /// The operator.
    #[serde(default)]
    pub opcode: String,
    /// A literal's value.
    #[serde(default)]
    pub value: Option<serde_json::Value>,
    /// `static`, `extern`.
    #[serde(default)]
    pub storage_class: String,
    /// Whether it is `constexpr`.
    #[serde(default)]
    pub constexpr: bool,
    /// Whether nobody wrote it.
    #[serde(default)]
    pub implicit: bool,
    /// How a variable is initialized; absent where it is not.
    #[serde(default)]
    pub init: Option<String>,
    /// The declaration that this one repeats.
    #[serde(default)]
    pub previous_decl: Option<String>,
    /// Why naming the variable needs no object: `unevaluated`, `constant`, `discarded`.
    #[serde(default)]
    pub non_odr_use_reason: Option<String>,
}

impl Node {
    /// Whether it is an lvalue.
    pub fn is_lvalue(&self) -> bool {
        self.value_category == "lvalue"
    }

    /// Whether it has this attribute, written by somebody.
    pub fn has_attribute(&self, kind: &str) -> bool {
        self.inner.iter().any(|node| node.kind == kind && !node.implicit)
    }
}
