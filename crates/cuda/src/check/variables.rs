//! Collects the variables of a translation unit: their types, whether the rule covers them, and where their
//! initializers are.
//!
//! Places are numbered in the order of the text. The numbers decide whether an initializer comes before a
//! use. They differ from the order of the tree, because an instantiation is in the tree where its template is
//! declared first.

use std::collections::{HashMap, HashSet};

use super::ast::{AstNode, Position};

/// A variable, with the facts from all its declarations.
#[derive(Debug)]
pub struct CppVariable<'a> {
    /// The name of the variable.
    pub name: &'a str,
    /// The type with its aliases resolved.
    pub ty: &'a str,
    /// Whether the variable is of namespace scope or a static member.
    pub is_global: bool,
    /// Whether a declaration has an execution-space annotation.
    pub is_annotated: bool,
    /// Whether a declaration is `constexpr`.
    pub is_constexpr: bool,
    /// Whether only instances decide about the variable: it is a member of a template's own declaration, or
    /// its type is not deduced.
    pub is_open: bool,
    /// The initializer and the number of its place.
    pub initializer: Option<(&'a AstNode, u64)>,
    /// The places of the name in the declarations.
    pub places: Vec<&'a Position>,
}

impl CppVariable<'_> {
    /// Whether the type, or the element type of an array, is const-qualified.
    pub fn is_const(&self) -> bool {
        has_qualifier(self.ty, "const")
    }

    /// Whether the type, or the element type of an array, is volatile-qualified.
    pub fn is_volatile(&self) -> bool {
        has_qualifier(self.ty, "volatile")
    }

    /// Whether the rule covers the variable.
    pub fn is_covered(&self) -> bool {
        self.is_global && !self.is_annotated && self.is_const()
    }

    /// The kind of the variable's type.
    pub fn kind(&self) -> ArithmeticKind {
        kind(self.ty)
    }

    /// Whether the variable is an object of a class, so that a use of the value copies it with a constructor.
    pub fn is_class(&self) -> bool {
        let mut node = self.initializer.map(|(node, _)| node);
        while let Some(inner) = node {
            match inner.kind.as_str() {
                "CXXConstructExpr" | "CXXTemporaryObjectExpr" => return true,
                "InitListExpr" => {
                    return self.kind() == ArithmeticKind::Other && !self.ty.contains(['[', '*']);
                }
                "ExprWithCleanups" | "ConstantExpr" | "ImplicitCastExpr" => node = inner.inner.first(),
                _ => return false,
            }
        }
        false
    }

    /// Whether the initializer is a constant expression and the tree shows that without a query.
    pub fn is_plainly_constant(&self) -> bool {
        self.is_constexpr || self.initializer.is_some_and(|(node, _)| is_plain(node))
    }
}

/// The kind of a type, as far as the rule distinguishes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArithmeticKind {
    /// A built-in integral type.
    Integral,
    /// A built-in floating-point type.
    Floating,
    /// Any other type.
    Other,
}

/// Whether the outermost type has the qualifier: `int *const` has `const`, `const int *` does not.
fn has_qualifier(ty: &str, qualifier: &str) -> bool {
    // The qualifiers of an array are written before its element type.
    let ty = ty.split('[').next().unwrap_or(ty).trim_end();
    let after_pointer = match ty.rfind(['*', '&']) {
        Some(place) if !is_in_brackets(ty, place) => &ty[place + 1..],
        _ if ty.contains("(*") => ty.split("(*").nth(1).and_then(|rest| rest.split(')').next()).unwrap_or(""),
        _ => {
            // Template arguments have qualifiers of their own.
            let head = ty.split('<').next().unwrap_or(ty);
            let tail = ty.rsplit('>').next().filter(|_| ty.contains('>')).unwrap_or("");
            return has_word(head, qualifier) || has_word(tail, qualifier);
        }
    };
    has_word(after_pointer, qualifier)
}

fn has_word(text: &str, word: &str) -> bool {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').any(|part| part == word)
}

fn is_in_brackets(text: &str, place: usize) -> bool {
    let before = &text[..place];
    before.matches(['<', '(']).count() > before.matches(['>', ')']).count()
}

/// Returns the kind of a type that is written without aliases.
pub fn kind(ty: &str) -> ArithmeticKind {
    let words: Vec<&str> =
        ty.split_whitespace().filter(|word| !matches!(*word, "const" | "volatile")).collect();
    match &words.join(" ")[..] {
        "bool" | "_Bool" | "char" | "signed char" | "unsigned char" | "wchar_t" | "char8_t" | "char16_t"
        | "char32_t" | "short" | "unsigned short" | "int" | "unsigned int" | "long" | "unsigned long"
        | "long long" | "unsigned long long" | "__int128" | "unsigned __int128" => ArithmeticKind::Integral,
        "float" | "double" | "long double" => ArithmeticKind::Floating,
        _ => ArithmeticKind::Other,
    }
}

/// The variables of a translation unit.
#[derive(Debug, Default)]
pub struct Variables<'a> {
    /// The identity of the first declaration, by the identity of any declaration of the variable.
    roots: HashMap<&'a str, &'a str>,
    /// The variables, by the identity of their first declaration.
    variables: HashMap<&'a str, CppVariable<'a>>,
    /// The number of the declaration at a place. Instances of a template repeat the place elsewhere in the
    /// tree; the first one counts.
    first_seen: HashMap<&'a Position, u64>,
    /// The number of the class definition or use at a place. Instances repeat the place; the last one counts.
    last_seen: HashMap<&'a Position, u64>,
    /// The places of names that depend on the parameters of a template. Each instance resolves them itself.
    dependent: HashSet<&'a Position>,
    /// The initializers in the own declarations of class templates, by the place of the member.
    patterns: HashMap<&'a Position, (&'a AstNode, u64)>,
    /// The names of enumerations.
    enumerations: HashSet<&'a str>,
    /// The variables that are declared at a place: a member of a template's own declaration, and the same
    /// member of each instance.
    declared_at: HashMap<&'a Position, Vec<&'a str>>,
    /// The names of the type parameters of the templates around the current node.
    parameters: Vec<&'a str>,
    /// The number of the current node.
    current: u64,
    /// The number of the last place before the first declaration that is left out; `None` if all are there.
    whole_until: Option<u64>,
}

/// The functions and classes around a declaration.
#[derive(Clone, Copy, Default)]
struct DeclContext {
    /// Whether the declaration is in a function, so that a variable is local.
    in_function: bool,
    /// The number of the outermost class. Its members are known in all of it.
    class: Option<u64>,
}

/// The attributes of declarations with an execution-space annotation.
pub const ANNOTATIONS: [&str; 4] = ["CUDADeviceAttr", "CUDAConstantAttr", "CUDASharedAttr", "HIPManagedAttr"];

impl<'a> Variables<'a> {
    /// Collects the variables of these declarations. `whole` is the number of declarations before the first
    /// one that is left out; `None` if all are there.
    pub fn collect(declarations: &'a [AstNode], whole: Option<usize>) -> Self {
        let mut variables = Variables::default();
        for (index, node) in declarations.iter().enumerate() {
            if whole == Some(index) {
                variables.whole_until = Some(variables.current);
            }
            variables.visit(node, DeclContext::default());
        }
        variables
    }

    /// Whether no declaration before the place with this number is left out.
    pub fn is_whole_before(&self, number: u64) -> bool {
        self.whole_until.is_none_or(|until| number <= until)
    }

    fn visit(&mut self, node: &'a AstNode, around: DeclContext) {
        self.current += 1;
        let number = around.class.unwrap_or(self.current);
        let mut inside = around;
        match node.kind.as_str() {
            "VarDecl"
            | "VarTemplateSpecializationDecl"
            | "VarTemplatePartialSpecializationDecl"
            | "DecompositionDecl" => self.add_declaration(node, around, number),
            "CXXRecordDecl"
            | "ClassTemplateSpecializationDecl"
            | "ClassTemplatePartialSpecializationDecl" => {
                inside.class = around.class.or(Some(self.current));
                self.last_seen.insert(&node.loc, self.current);
            }
            "FunctionDecl" | "CXXMethodDecl" | "CXXConstructorDecl" | "CXXDestructorDecl"
            | "CXXConversionDecl" => {
                inside = DeclContext { in_function: true, class: None };
            }
            "UsingShadowDecl" => return,
            "EnumDecl" => drop(self.enumerations.insert(&node.name)),
            _ if node.befriends_class_template() => inside.class = None,
            "DeclRefExpr"
            | "MemberExpr"
            | "DependentScopeDeclRefExpr"
            | "CXXDependentScopeMemberExpr"
            | "UnresolvedLookupExpr" => drop(self.last_seen.insert(&node.range.begin, self.current)),
            _ => {}
        }
        if matches!(node.kind.as_str(), "DependentScopeDeclRefExpr" | "CXXDependentScopeMemberExpr") {
            self.dependent.insert(&node.range.begin);
        }
        let outer = self.parameters.len();
        let parameters = node.inner.iter().filter(|child| child.kind == "TemplateTypeParmDecl");
        self.parameters
            .extend(parameters.map(|parameter| &parameter.name[..]).filter(|name| !name.is_empty()));
        for child in &node.inner {
            self.visit(child, inside);
        }
        self.parameters.truncate(outer);
    }

    fn add_declaration(&mut self, node: &'a AstNode, around: DeclContext, number: u64) {
        let place = &node.loc;
        let number = *self.first_seen.entry(place).or_insert(number);
        let root = match node.previous_decl.as_deref() {
            Some(previous) => self.root(previous),
            None => &node.id,
        };
        self.roots.insert(&node.id, root);
        let in_function = around.in_function && node.storage_class != "extern";
        let variable = self.variables.entry(root).or_insert_with(|| CppVariable {
            name: &node.name,
            ty: "",
            is_global: !in_function,
            is_annotated: false,
            is_constexpr: false,
            is_open: false,
            initializer: None,
            places: Vec::new(),
        });
        let declared = self.declared_at.entry(place).or_default();
        if !declared.contains(&root) {
            declared.push(root);
        }
        variable.places.push(place);
        // A later declaration may add the bound of an array or the argument of a template.
        variable.ty = node.ty.text();
        variable.is_open |= is_dependent(variable.ty, &self.parameters);
        variable.is_annotated |= ANNOTATIONS.iter().any(|kind| node.has_attribute(kind));
        variable.is_constexpr |= node.constexpr;
        let initializer = node.inner.iter().find(|child| {
            !child.kind.ends_with("Attr") && child.kind != "TemplateArgument" && !child.kind.is_empty()
        });
        if node.init.is_some()
            && let Some(initializer) = initializer
        {
            if variable.initializer.is_none() {
                variable.initializer = Some((initializer, number));
            }
            self.patterns.entry(place).or_insert((initializer, number));
        }
        if variable.initializer.is_none()
            && let Some(pattern) = self.patterns.get(place)
        {
            variable.initializer = Some(*pattern);
        }
    }

    /// Whether the type of a variable is an enumeration.
    pub fn is_enumeration(&self, variable: &CppVariable<'_>) -> bool {
        let words =
            variable.ty.split_whitespace().filter(|word| !matches!(*word, "const" | "volatile" | "enum"));
        let name = words.collect::<Vec<_>>().join(" ");
        let mut initializer = variable.initializer.map(|(node, _)| node);
        while let Some(inner) = initializer.filter(|node| node.kind != "DeclRefExpr") {
            initializer = inner.inner.first();
        }
        let named = initializer.and_then(|node| node.referenced_decl.as_ref());
        !name.contains(['[', '*', '<'])
            && (self.enumerations.contains(name.rsplit("::").next().unwrap_or(&name))
                || named.is_some_and(|named| named.kind == "EnumConstantDecl" && named.ty.text() == name))
    }

    /// Returns the variables that a name of this variable stands for: its instances if it is a member of a
    /// template that has any with a known type, otherwise only the variable itself.
    pub fn instances<'b>(&'b self, id: &'b str) -> Vec<&'b str> {
        let declared = self.get(id).and_then(|variable| self.declared_at.get(variable.places.first()?));
        let mut instances: Vec<&str> = declared.cloned().unwrap_or_default();
        instances.retain(|id| self.get(id).is_some_and(|variable| !variable.is_open));
        if instances.is_empty() {
            instances.push(id);
        }
        instances
    }

    /// Returns the identity of the first declaration of a variable.
    pub fn root<'b>(&self, id: &'b str) -> &'b str
    where
        'a: 'b,
    {
        self.roots.get(id).copied().unwrap_or(id)
    }

    /// Returns the number of a class or a use at this place. `number` is its number in the tree.
    pub fn order(&self, place: &Position, number: u64) -> u64 {
        self.last_seen.get(place).map_or(number, |&last| last.max(number))
    }

    /// Whether the name at this place depends on the parameters of a template. Such a use belongs to the
    /// instantiations, and the end of the text is a point of instantiation too.
    pub fn is_dependent(&self, place: &Position) -> bool {
        self.dependent.contains(place)
    }

    /// The variables that the rule covers, with their identities, in no particular order.
    pub fn covered(&self) -> impl Iterator<Item = (&'a str, &CppVariable<'a>)> {
        self.variables
            .iter()
            .filter(|(_, variable)| variable.is_covered())
            .map(|(&id, variable)| (id, variable))
    }

    /// Returns the variable with this identity; `None` if it is in a system header.
    pub fn get(&self, id: &str) -> Option<&CppVariable<'a>> {
        self.variables.get(self.roots.get(id).copied().unwrap_or(id))
    }
}

/// Whether a type depends on these template parameters, or is not deduced.
fn is_dependent(ty: &str, parameters: &[&str]) -> bool {
    let mut words = ty.split(|c: char| !c.is_alphanumeric() && c != '_');
    words.any(|word| matches!(word, "auto" | "typename" | "decltype") || parameters.contains(&word))
}

/// Whether an initializer is obviously a constant expression: only literals, signs, and conversions between
/// built-in types that cannot fail. clang decides about the others.
fn is_plain(node: &AstNode) -> bool {
    match (node.kind.as_str(), &node.inner[..]) {
        (kind, _) if LITERALS.contains(&kind) => true,
        ("UnaryOperator", [operand]) => {
            matches!(&node.opcode[..], "-" | "+") && LITERALS.contains(&operand.kind.as_str())
        }
        ("ParenExpr" | "ImplicitCastExpr" | "ConstantExpr", [operand]) => {
            LOSSLESS_CASTS.contains(&node.cast_kind.as_str()) && is_plain(operand)
        }
        ("InitListExpr", parts) => parts.iter().all(is_plain),
        _ => false,
    }
}

const LITERALS: [&str; 7] = [
    "IntegerLiteral",
    "CharacterLiteral",
    "CXXBoolLiteralExpr",
    "FloatingLiteral",
    "StringLiteral",
    "CXXNullPtrLiteralExpr",
    "ImplicitValueInitExpr",
];

/// The kinds of casts between built-in types that cannot fail; empty for a node that is no cast.
const LOSSLESS_CASTS: [&str; 6] =
    ["", "NoOp", "IntegralCast", "IntegralToFloating", "FloatingCast", "NullToPointer"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_qualifiers_of_the_outermost_type_count() {
        for ty in [
            "const int",
            "int *const",
            "const volatile double",
            "const int[3]",
            "int (*const)()",
            "const T<int>",
        ] {
            assert!(has_qualifier(ty, "const"), "{ty}");
        }
        for ty in ["int", "const int *", "const int &", "T<const int>", "int (*)(const int)", "constant"] {
            assert!(!has_qualifier(ty, "const"), "{ty}");
        }
    }

    #[test]
    fn built_in_types_are_recognized_by_their_names() {
        assert_eq!(kind("const volatile unsigned long"), ArithmeticKind::Integral);
        assert_eq!(kind("const double"), ArithmeticKind::Floating);
        for ty in ["const E", "int *const", "const int[3]", "const std::nullptr_t"] {
            assert_eq!(kind(ty), ArithmeticKind::Other, "{ty}");
        }
    }
}
