//! The variables of a translation unit: which are host variables that the rule is about, and from where on a constant
//! expression has initialized them.

use std::collections::HashMap;

use super::ast::{Node, Place};

/// What an expression is to the rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Constness {
    /// A constant expression, with its value where it is a known integer.
    Constant(Option<i128>),
    /// None.
    RunTime,
}

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
    /// The initializer, and the number of the place where it stands; places are numbered in the order of the text.
    pub initializer: Option<(&'a Node, u64)>,
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

/// The value of a literal, where it is an integer.
fn number(literal: &Node) -> Option<i128> {
    match literal.value.as_ref()? {
        serde_json::Value::String(text) => text.parse().ok(),
        serde_json::Value::Number(number) => number.as_i64().map(i128::from),
        serde_json::Value::Bool(value) => Some((*value).into()),
        _ => None,
    }
}

/// Every variable, and every function that may stand in a constant expression.
#[derive(Debug, Default)]
pub struct Variables<'a> {
    roots: HashMap<&'a str, &'a str>,
    variables: HashMap<&'a str, Variable<'a>>,
    constexpr_functions: HashMap<&'a str, bool>,
    /// Where in the order of the text a variable is declared: what is instantiated stands elsewhere in the dump.
    first_seen: HashMap<&'a Place, u64>,
    /// Of members of class templates, what the template's own declaration says.
    patterns: HashMap<&'a Place, (&'a Node, u64)>,
    next: u64,
}

/// What a declaration stands in.
#[derive(Clone, Copy)]
struct Around {
    /// A function: a variable there is a local one.
    function: bool,
    /// The number of the outermost class, whose members are known in all of it.
    class: Option<u64>,
}

/// Expressions that are constant whatever is in them, or of which nothing can be said.
const CONSTANTS: [&str; 20] = [
    "FloatingLiteral",
    "StringLiteral",
    "CXXNullPtrLiteralExpr",
    "GNUNullExpr",
    "UnaryExprOrTypeTraitExpr",
    "CXXNoexceptExpr",
    "TypeTraitExpr",
    "SizeOfPackExpr",
    "ImplicitValueInitExpr",
    "CXXScalarValueInitExpr",
    "OffsetOfExpr",
    "ExpressionTraitExpr",
    "ArrayTypeTraitExpr",
    "RequiresExpr",
    "ConceptSpecializationExpr",
    "CXXDefaultArgExpr",
    // The parameter that was replaced.
    "NonTypeTemplateParmDecl",
    // They depend on a template's parameters.
    "DependentScopeDeclRefExpr",
    "CXXDependentScopeMemberExpr",
    "UnresolvedLookupExpr",
];

/// Expressions that are what is in them.
const WRAPPERS: [&str; 18] = [
    "ImplicitCastExpr",
    "CStyleCastExpr",
    "CXXStaticCastExpr",
    "CXXFunctionalCastExpr",
    "CXXConstCastExpr",
    "ParenExpr",
    "ConstantExpr",
    "ExprWithCleanups",
    "MaterializeTemporaryExpr",
    "SubstNonTypeTemplateParmExpr",
    "CXXBindTemporaryExpr",
    "InitListExpr",
    "CXXConstructExpr",
    "CXXTemporaryObjectExpr",
    "ParenListExpr",
    "CXXStdInitializerListExpr",
    "ArraySubscriptExpr",
    "CXXUnresolvedConstructExpr",
];

/// What makes a declaration into an annotated one.
pub const ANNOTATIONS: [&str; 4] = ["CUDADeviceAttr", "CUDAConstantAttr", "CUDASharedAttr", "HIPManagedAttr"];

impl<'a> Variables<'a> {
    /// Collects from a translation unit.
    pub fn of(declarations: &'a [Node]) -> Self {
        let mut variables = Variables::default();
        for node in declarations {
            variables.collect(node, Around { function: false, class: None });
        }
        variables
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
            }
            "FunctionDecl" | "CXXMethodDecl" | "CXXConstructorDecl" | "CXXDestructorDecl"
            | "CXXConversionDecl" => {
                let constexpr = node.constexpr
                    || node.previous_decl.as_deref().is_some_and(|previous| {
                        self.constexpr_functions.get(previous).copied().unwrap_or(false)
                    });
                self.constexpr_functions.insert(&node.id, constexpr);
                inside = Around { function: true, class: None };
            }
            _ => {}
        }
        for child in &node.inner {
            self.collect(child, inside);
        }
    }

    fn variable(&mut self, node: &'a Node, around: Around, number: u64) {
        let place = node.loc.place();
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
            initializer: None,
        });
        // An array may get its bound, a template its argument, only later.
        variable.ty = node.ty.text();
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

    fn root(&self, id: &'a str) -> &'a str {
        self.roots.get(id).copied().unwrap_or(id)
    }

    /// The variable of this identity; `None` if it is in a system header.
    pub fn get(&self, id: &str) -> Option<&Variable<'a>> {
        self.variables.get(self.roots.get(id).copied().unwrap_or(id))
    }

    /// Whether an initializer is a constant expression.
    pub fn constness(&self, node: &Node) -> Constness {
        use Constness::{Constant, RunTime};
        match (node.kind.as_str(), &node.inner[..]) {
            ("IntegerLiteral" | "CharacterLiteral" | "CXXBoolLiteralExpr", _) => Constant(number(node)),
            ("DeclRefExpr" | "MemberExpr", _) => self.named(node),
            ("UnaryOperator", [operand]) => self.unary(&node.opcode, operand),
            ("BinaryOperator", [left, right]) => self.binary(node, left, right),
            ("ConditionalOperator", [condition, then, otherwise]) => match self.constness(condition) {
                Constant(Some(0)) => self.constness(otherwise),
                Constant(Some(_)) => self.constness(then),
                _ => self.all(&node.inner),
            },
            ("CallExpr" | "CXXMemberCallExpr" | "CXXOperatorCallExpr", parts) => self.all(parts),
            (kind, _) if CONSTANTS.contains(&kind) => Constant(None),
            (kind, [only]) if WRAPPERS.contains(&kind) => self.constness(only),
            (kind, parts) if WRAPPERS.contains(&kind) => self.all(parts),
            _ => RunTime,
        }
    }

    /// What an expression is that is constant if all its parts are.
    fn all(&self, parts: &[Node]) -> Constness {
        let is_constant = |part: &Node| {
            part.kind.is_empty() || part.kind.ends_with("Attr") || self.constness(part) != Constness::RunTime
        };
        if parts.iter().all(is_constant) { Constness::Constant(None) } else { Constness::RunTime }
    }

    fn unary(&self, operator: &str, operand: &Node) -> Constness {
        use Constness::{Constant, RunTime};
        let is_name = matches!(operand.kind.as_str(), "DeclRefExpr" | "MemberExpr");
        match (operator, self.constness(operand)) {
            // The address of what is static is constant, whatever its value is.
            ("&", _) if is_name => Constant(None),
            ("++" | "--", _) | (_, RunTime) => RunTime,
            ("-", Constant(Some(value))) => Constant(value.checked_neg()),
            ("+", Constant(value)) => Constant(value),
            _ => Constant(None),
        }
    }

    fn binary(&self, node: &Node, left: &Node, right: &Node) -> Constness {
        use Constness::{Constant, RunTime};
        let operator = node.opcode.as_str();
        if operator.ends_with('=') && !matches!(operator, "==" | "!=" | "<=" | ">=") {
            return RunTime;
        }
        let is_integral = kind(node.ty.text()) == TypeKind::Integral;
        match (self.constness(left), self.constness(right), operator) {
            (RunTime, ..) | (_, RunTime, _) => RunTime,
            (_, Constant(Some(0)), "/" | "%") if is_integral => RunTime,
            (Constant(Some(left)), Constant(Some(right)), operator) => Constant(match operator {
                "+" => left.checked_add(right),
                "-" => left.checked_sub(right),
                "*" => left.checked_mul(right),
                "/" => left.checked_div(right),
                "%" => left.checked_rem(right),
                _ => None,
            }),
            _ => Constant(None),
        }
    }

    /// What an expression that names something is.
    fn named(&self, node: &Node) -> Constness {
        use Constness::{Constant, RunTime};
        let (id, kind_of) = match (&node.referenced_decl, &node.referenced_member_decl) {
            (Some(named), _) => (named.id.as_str(), named.kind.as_str()),
            (None, Some(id)) => (id.as_str(), ""),
            _ => return RunTime,
        };
        match kind_of {
            "EnumConstantDecl" | "NonTypeTemplateParmDecl" => return Constant(None),
            // Functions of system headers that stand in an initializer are taken to be constexpr.
            "FunctionDecl" | "CXXMethodDecl" | "CXXConversionDecl" => {
                let constexpr = self.constexpr_functions.get(id).copied().unwrap_or(true);
                return if constexpr { Constant(None) } else { RunTime };
            }
            "ParmVarDecl" => return RunTime,
            _ => {}
        }
        let Some(variable) = self.get(id) else {
            // A member of something, or a variable of a system header: constants there are constants.
            return match (&node.referenced_decl, node.inner.first()) {
                (Some(named), _) if has_qualifier(named.ty.text(), "const") => Constant(None),
                (None, Some(object)) => self.constness(object),
                _ => RunTime,
            };
        };
        let Some((initializer, _)) = variable.initializer else { return RunTime };
        let readable = variable.is_constexpr
            || (variable.is_const()
                && !variable.is_volatile()
                && (variable.kind() == TypeKind::Integral || self.is_enumeration(variable.ty)));
        if readable { self.constness(initializer) } else { RunTime }
    }

    /// Whether a type that is not built in can be an enumeration. Only pointers and arrays are told apart here: a class
    /// object that is not constexpr is not read in an initializer of a scalar but through its members.
    fn is_enumeration(&self, ty: &str) -> bool {
        kind(ty) == TypeKind::Other && !ty.contains(['*', '[', '&'])
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
