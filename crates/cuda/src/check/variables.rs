//! The variables of a translation unit: which are host variables that the rule is about, and from where on a constant
//! expression has initialized them.

use std::collections::{HashMap, HashSet};

use super::ast::{Node, Place};

/// What is known of one variable, all its declarations together.
#[derive(Debug)]
pub struct Variable<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its type, without aliases.
    pub ty: &'a str,
    /// Whether it is of namespace scope or a static member.
    pub is_global: bool,
    /// Whether a declaration has an execution-space annotation.
    pub is_annotated: bool,
    /// Whether a declaration says `constexpr`.
    pub is_constexpr: bool,
    /// Whether it is a member of a template's own declaration, or its type is not deduced: instances decide.
    pub is_open: bool,
    /// The initializer, and the number of the place where it stands; places are numbered in the order of the text.
    pub initializer: Option<(&'a Node, u64)>,
    /// Where its declarations name it.
    pub places: Vec<&'a Place>,
}

impl Variable<'_> {
    /// Whether the type is const-qualified; of an array, its elements'.
    pub fn is_const(&self) -> bool {
        has_qualifier(self.ty, "const")
    }

    /// Whether the type is volatile-qualified; of an array, its elements'.
    pub fn is_volatile(&self) -> bool {
        has_qualifier(self.ty, "volatile")
    }

    /// Whether the rule is about it.
    pub fn is_covered(&self) -> bool {
        self.is_global && !self.is_annotated && self.is_const()
    }

    /// The kind of its type.
    pub fn kind(&self) -> TypeKind {
        kind(self.ty)
    }

    /// Whether a class object initializes it, or is it: such a variable is copied and not read.
    pub fn is_class(&self) -> bool {
        let mut node = self.initializer.map(|(node, _)| node);
        while let Some(inner) = node {
            match inner.kind.as_str() {
                "CXXConstructExpr" | "CXXTemporaryObjectExpr" => return true,
                "InitListExpr" => return self.kind() == TypeKind::Other && !self.ty.contains(['[', '*']),
                "ExprWithCleanups" | "ConstantExpr" | "ImplicitCastExpr" => node = inner.inner.first(),
                _ => return false,
            }
        }
        false
    }

    /// Whether its initializer is a constant expression, where that can be seen without asking clang.
    pub fn is_plainly_constant(&self) -> bool {
        self.is_constexpr || self.initializer.is_some_and(|(node, _)| is_plain(node))
    }
}

/// What the rule makes of a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TypeKind {
    /// A built-in integral type.
    Integral,
    /// A built-in floating-point type.
    Floating,
    /// Anything else.
    Other,
}

/// Whether the outermost type has the qualifier: `int *const` has `const`, `const int *` has not.
fn has_qualifier(ty: &str, qualifier: &str) -> bool {
    // What qualifies an array stands before its element type.
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

/// The kind of a type that is written without aliases.
pub fn kind(ty: &str) -> TypeKind {
    let words: Vec<&str> =
        ty.split_whitespace().filter(|word| !matches!(*word, "const" | "volatile")).collect();
    match &words.join(" ")[..] {
        "bool" | "_Bool" | "char" | "signed char" | "unsigned char" | "wchar_t" | "char8_t" | "char16_t"
        | "char32_t" | "short" | "unsigned short" | "int" | "unsigned int" | "long" | "unsigned long"
        | "long long" | "unsigned long long" | "__int128" | "unsigned __int128" => TypeKind::Integral,
        "float" | "double" | "long double" => TypeKind::Floating,
        _ => TypeKind::Other,
    }
}

/// Every variable.
#[derive(Debug, Default)]
pub struct Variables<'a> {
    roots: HashMap<&'a str, &'a str>,
    variables: HashMap<&'a str, Variable<'a>>,
    /// Where in the order of the text a variable is declared: what is instantiated stands elsewhere in the dump.
    first_seen: HashMap<&'a Place, u64>,
    /// Where in the order of the text a class is defined and a name is used: an instantiation stands where its template is declared
    /// first, so the last one at a place counts.
    last_seen: HashMap<&'a Place, u64>,
    /// Where a template names something by its parameters: which variable that is, an instantiation tells.
    dependent: HashSet<&'a Place>,
    /// Of members of class templates, what the template's own declaration says.
    patterns: HashMap<&'a Place, (&'a Node, u64)>,
    /// The names of enumerations.
    enumerations: HashSet<&'a str>,
    /// The variables that are declared at a place: a member of a template's own declaration and of each instance.
    at: HashMap<&'a Place, Vec<&'a str>>,
    /// The names of the types that are parameters of the templates around.
    parameters: Vec<&'a str>,
    next: u64,
    /// The number of the first place behind which a declaration may be missing.
    whole_until: Option<u64>,
}

/// What a declaration stands in.
#[derive(Clone, Copy)]
struct Around {
    /// A function: a variable there is a local one.
    function: bool,
    /// The number of the outermost class, whose members are known in all of it.
    class: Option<u64>,
}

/// What makes a declaration into an annotated one.
pub const ANNOTATIONS: [&str; 4] = ["CUDADeviceAttr", "CUDAConstantAttr", "CUDASharedAttr", "HIPManagedAttr"];

impl<'a> Variables<'a> {
    /// Collects from a translation unit, of which only so many declarations stand before the first that is left out.
    pub fn of(declarations: &'a [Node], whole: Option<usize>) -> Self {
        let mut variables = Variables::default();
        for (index, node) in declarations.iter().enumerate() {
            if whole == Some(index) {
                variables.whole_until = Some(variables.next);
            }
            variables.collect(node, Around { function: false, class: None });
        }
        variables
    }

    /// Whether what stands before this place is known: nothing before it is left out.
    pub fn is_whole_before(&self, number: u64) -> bool {
        self.whole_until.is_none_or(|until| number <= until)
    }

    fn collect(&mut self, node: &'a Node, around: Around) {
        self.next += 1;
        let number = around.class.unwrap_or(self.next);
        let mut inside = around;
        match node.kind.as_str() {
            "VarDecl"
            | "VarTemplateSpecializationDecl"
            | "VarTemplatePartialSpecializationDecl"
            | "DecompositionDecl" => self.variable(node, around, number),
            "CXXRecordDecl"
            | "ClassTemplateSpecializationDecl"
            | "ClassTemplatePartialSpecializationDecl" => {
                inside.class = around.class.or(Some(self.next));
                self.last_seen.insert(&node.loc, self.next);
            }
            "FunctionDecl" | "CXXMethodDecl" | "CXXConstructorDecl" | "CXXDestructorDecl"
            | "CXXConversionDecl" => {
                inside = Around { function: true, class: None };
            }
            "UsingShadowDecl" => return,
            "EnumDecl" => drop(self.enumerations.insert(&node.name)),
            _ if node.befriends_class_template() => inside.class = None,
            "DeclRefExpr"
            | "MemberExpr"
            | "DependentScopeDeclRefExpr"
            | "CXXDependentScopeMemberExpr"
            | "UnresolvedLookupExpr" => drop(self.last_seen.insert(&node.range.begin, self.next)),
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
            self.collect(child, inside);
        }
        self.parameters.truncate(outer);
    }

    fn variable(&mut self, node: &'a Node, around: Around, number: u64) {
        let place = &node.loc;
        let number = *self.first_seen.entry(place).or_insert(number);
        let root = match node.previous_decl.as_deref() {
            Some(previous) => self.root(previous),
            None => &node.id,
        };
        self.roots.insert(&node.id, root);
        let in_function = around.function && node.storage_class != "extern";
        let variable = self.variables.entry(root).or_insert_with(|| Variable {
            name: &node.name,
            ty: "",
            is_global: !in_function,
            is_annotated: false,
            is_constexpr: false,
            is_open: false,
            initializer: None,
            places: Vec::new(),
        });
        let at = self.at.entry(place).or_default();
        if !at.contains(&root) {
            at.push(root);
        }
        variable.places.push(place);
        // An array may get its bound, a template its argument, only later.
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

    /// Whether a variable's type is an enumeration.
    pub fn is_enumeration(&self, variable: &Variable<'_>) -> bool {
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

    /// Those that are declared where this one is: the instances of a member of a template, if there are any of which the type is known.
    pub fn instances<'b>(&'b self, id: &'b str) -> Vec<&'b str> {
        let at = self.get(id).and_then(|variable| self.at.get(variable.places.first()?));
        let known = |id: &&str| self.get(id).is_some_and(|variable| !variable.is_open);
        match at.map(|at| at.iter().copied().filter(known).collect::<Vec<_>>()) {
            Some(known) if !known.is_empty() => known,
            _ => vec![id],
        }
    }

    /// The identity that all declarations of a variable share.
    pub fn root<'b>(&self, id: &'b str) -> &'b str
    where
        'a: 'b,
    {
        self.roots.get(id).copied().unwrap_or(id)
    }

    /// The number of a class or a use at this place in the order of the text, where the tree has it at this one.
    pub fn order(&self, place: &Place, number: u64) -> u64 {
        self.last_seen.get(place).map_or(number, |&last| last.max(number))
    }

    /// Whether a template names something by its parameters at this place. Such a use is one of its instantiations, and the
    /// end of the text is a point of instantiation too.
    pub fn is_dependent(&self, place: &Place) -> bool {
        self.dependent.contains(place)
    }

    /// Every variable that the rule is about, with its identity, in an order of its own.
    pub fn covered(&self) -> impl Iterator<Item = (&'a str, &Variable<'a>)> {
        self.variables
            .iter()
            .filter(|(_, variable)| variable.is_covered())
            .map(|(&id, variable)| (id, variable))
    }

    /// The variable of this identity; `None` if it is in a system header.
    pub fn get(&self, id: &str) -> Option<&Variable<'a>> {
        self.variables.get(self.roots.get(id).copied().unwrap_or(id))
    }
}

/// Whether a type depends on these parameters of templates, or is not deduced.
fn is_dependent(ty: &str, parameters: &[&str]) -> bool {
    let mut words = ty.split(|c: char| !c.is_alphanumeric() && c != '_');
    words.any(|word| matches!(word, "auto" | "typename" | "decltype") || parameters.contains(&word))
}

/// Whether an initializer is a constant expression at a glance: nothing but literals, signs and conversions between
/// built-in types that cannot fail. Of the others clang is asked.
fn is_plain(node: &Node) -> bool {
    let literal = |kind: &str| {
        matches!(
            kind,
            "IntegerLiteral"
                | "CharacterLiteral"
                | "CXXBoolLiteralExpr"
                | "FloatingLiteral"
                | "StringLiteral"
                | "CXXNullPtrLiteralExpr"
                | "ImplicitValueInitExpr"
        )
    };
    let lossless = ["", "NoOp", "IntegralCast", "IntegralToFloating", "FloatingCast", "NullToPointer"];
    match (node.kind.as_str(), &node.inner[..]) {
        (kind, _) if literal(kind) => true,
        ("UnaryOperator", [operand]) => matches!(&node.opcode[..], "-" | "+") && literal(&operand.kind),
        ("ParenExpr" | "ImplicitCastExpr" | "ConstantExpr", [only]) => {
            lossless.contains(&node.cast_kind.as_str()) && is_plain(only)
        }
        ("InitListExpr", parts) => parts.iter().all(is_plain),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn qualifiers_are_those_of_the_outermost_type() {
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
    fn built_in_types_are_known_by_their_names() {
        assert_eq!(kind("const volatile unsigned long"), TypeKind::Integral);
        assert_eq!(kind("const double"), TypeKind::Floating);
        for ty in ["const E", "int *const", "const int[3]", "const std::nullptr_t"] {
            assert_eq!(kind(ty), TypeKind::Other, "{ty}");
        }
    }
}
