//! Finds the uses of host variables in device code, and judges each from what stands around it in the syntax tree.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::ast::{Node, Place};
use super::variables::{ANNOTATIONS, Constness, TypeKind, Variable, Variables};
use super::{Finding, Options};
use crate::rule::Key;

/// What was found in a translation unit.
#[derive(Debug, Default)]
pub struct Found {
    /// The violations, by place.
    pub findings: BTreeMap<(Place, String), Vec<Key>>,
    /// Names of variables in uninstantiated templates whose use depends on the template's parameters, with the place.
    pub undecided: BTreeMap<Place, String>,
}

/// Looks through a translation unit.
pub fn find(declarations: &[Node], variables: &Variables<'_>, options: &Options) -> Found {
    let mut walk = Walk {
        variables,
        options,
        found: Found::default(),
        seen: BTreeSet::new(),
        names: Vec::new(),
        pending: HashMap::new(),
        constructed: HashSet::new(),
        bodies: Vec::new(),
        by_argument: BTreeMap::new(),
        number: 0,
    };
    let outside = Context { device: false, class: None, in_function: false, template: Template::None };
    for node in declarations {
        let mut path = Vec::new();
        walk.node(node, &mut path, outside);
    }
    walk.member_initializers();
    walk.template_arguments();
    walk.found
}

/// Whether the code is a template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Template {
    /// No template, or an instantiation.
    None,
    /// One that is instantiated, so its uses are judged there as well.
    Instantiated,
    /// One that nobody instantiates.
    Uninstantiated,
}

#[derive(Clone, Copy, Debug)]
struct Context {
    device: bool,
    /// The number of the outermost class.
    class: Option<u64>,
    in_function: bool,
    template: Template,
}

/// What a use does with the variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Act {
    Nothing,
    Value,
    Address,
    Copy,
    /// It depends on a template's parameters.
    Unknown,
}

/// A use that may be device code.
struct Use {
    id: String,
    name: String,
    act: Act,
    place: Place,
    number: u64,
}

struct Walk<'a> {
    variables: &'a Variables<'a>,
    options: &'a Options,
    found: Found,
    /// Where a variable was named in the tree: what is named elsewhere the tree does not show.
    seen: BTreeSet<(String, u32)>,
    /// The namespaces and classes around.
    names: Vec<&'a str>,
    /// Uses in default member initializers, by the class.
    pending: HashMap<String, Vec<Use>>,
    /// Classes of which device code makes objects.
    constructed: HashSet<String>,
    /// Where device code begins and ends: file, first and last offset, and the number of its place.
    bodies: Vec<(String, u32, u32)>,
    /// Variables that are template arguments by reference or pointer: file, name.
    by_argument: BTreeMap<String, String>,
    number: u64,
}

impl<'a> Walk<'a> {
    fn node(&mut self, node: &'a Node, path: &mut Vec<&'a Node>, around: Context) {
        self.number += 1;
        let mut inside = around;
        match node.kind.as_str() {
            "FunctionDecl" | "CXXMethodDecl" | "CXXConstructorDecl" | "CXXDestructorDecl"
            | "CXXConversionDecl" => {
                let marked = node.has_attribute("CUDADeviceAttr") || node.has_attribute("CUDAGlobalAttr");
                // What is written in device code, such as the body of a lambda, is device code.
                inside.device = marked || (around.device && around.in_function);
                inside.in_function = true;
                let body = node.inner.iter().find(|child| child.kind == "CompoundStmt");
                if inside.device
                    && let Some(body) = body
                {
                    let (begin, end) = (body.range.begin.place(), body.range.end.place());
                    self.bodies.push((
                        begin.file.clone(),
                        node.range.begin.place().offset.min(begin.offset),
                        end.offset,
                    ));
                }
            }
            "VarDecl" if !around.in_function => {
                inside.device = ANNOTATIONS.iter().any(|kind| node.has_attribute(kind));
            }
            "CXXRecordDecl"
            | "ClassTemplateSpecializationDecl"
            | "ClassTemplatePartialSpecializationDecl" => {
                inside.class = around.class.or(Some(self.number));
            }
            "TemplateArgument" => {
                if let Some(named) = &node.decl {
                    self.by_argument.insert(named.id.clone(), named.name.clone());
                }
            }
            "CXXConstructExpr" | "CXXTemporaryObjectExpr" | "InitListExpr" if around.device => {
                self.constructed.insert(class_name(node.ty.text()));
            }
            "DeclRefExpr" | "MemberExpr" => self.named(node, path, around),
            _ => {}
        }
        let templated =
            matches!(node.kind.as_str(), "FunctionTemplateDecl" | "ClassTemplateDecl" | "VarTemplateDecl");
        let is_name = matches!(
            node.kind.as_str(),
            "NamespaceDecl" | "CXXRecordDecl" | "ClassTemplateSpecializationDecl"
        ) && !node.name.is_empty();
        if is_name {
            self.names.push(&node.name);
        }
        path.push(node);
        let mut first = true;
        for child in &node.inner {
            let mut context = inside;
            let is_pattern = templated && first && is_templated(&child.kind);
            if is_pattern {
                first = false;
                let instantiated = node.inner.iter().filter(|child| is_templated(&child.kind)).count() > 1;
                context.template =
                    if instantiated { Template::Instantiated } else { Template::Uninstantiated };
            } else if templated && is_templated(&child.kind) {
                context.template = Template::None;
            }
            self.node(child, path, context);
        }
        path.pop();
        if is_name {
            self.names.pop();
        }
    }

    /// An expression that names something: a use, if that is a host variable.
    fn named(&mut self, node: &'a Node, path: &[&'a Node], around: Context) {
        let id = match (&node.referenced_decl, &node.referenced_member_decl) {
            (Some(named), _) => named.id.as_str(),
            (None, Some(id)) => id.as_str(),
            _ => return,
        };
        let Some(variable) = self.variables.get(id) else { return };
        if !variable.is_covered() {
            return;
        }
        let place = node.range.begin.place();
        self.seen.insert((place.file.clone(), node.range.end.place().offset));
        let in_member_initializer =
            path.iter().any(|around| around.kind == "FieldDecl") && !around.in_function;
        if !around.device && !in_member_initializer {
            return;
        }
        // In an instantiation, what replaces a parameter of the template is named where the template is used.
        if path.iter().any(|parent| parent.kind == "SubstNonTypeTemplateParmExpr") {
            return;
        }
        let mut act = act(node, path);
        // A template's own declaration lacks conversions that only an instantiation decides.
        if around.template != Template::None && act == Act::Address && is_open(path) {
            act = Act::Unknown;
        }
        if act == Act::Nothing || (act == Act::Unknown && around.template == Template::Instantiated) {
            return;
        }
        let used = Use {
            id: id.to_owned(),
            name: variable.name.to_owned(),
            act,
            place: place.clone(),
            number: around.class.unwrap_or(self.number),
        };
        if in_member_initializer {
            self.pending.entry(self.names.join("::")).or_default().push(used);
        } else {
            self.report(&used);
        }
    }

    fn report(&mut self, used: &Use) {
        let Some(variable) = self.variables.get(&used.id) else { return };
        let keys = match used.act {
            Act::Nothing => return,
            Act::Unknown => {
                self.found.undecided.insert(used.place.clone(), used.name.clone());
                return;
            }
            Act::Address => vec![Key::Address],
            Act::Value => self.value_keys(variable, used.number),
            Act::Copy => {
                let mut keys = self.value_keys(variable, used.number);
                keys.push(Key::Address);
                keys
            }
        };
        if !keys.is_empty() {
            self.found.findings.insert((used.place.clone(), used.name.clone()), keys);
        }
    }

    fn value_keys(&self, variable: &Variable<'_>, number: u64) -> Vec<Key> {
        let mut keys = Vec::new();
        let initialized = variable.initializer.is_some_and(|(node, place)| {
            place <= number && self.variables.constness(node) != Constness::RunTime
        });
        if !initialized {
            keys.push(Key::NotInitialized);
        }
        if variable.is_volatile() {
            keys.push(Key::Volatile);
        }
        let valid = match variable.kind() {
            TypeKind::Integral => true,
            TypeKind::Floating => !self.options.microsoft,
            TypeKind::Other => false,
        };
        if !valid {
            keys.push(Key::InvalidType);
        }
        keys
    }

    /// Default member initializers are device code where device code makes objects of the class.
    fn member_initializers(&mut self) {
        for (class, uses) in std::mem::take(&mut self.pending) {
            if self.constructed.contains(&class) {
                uses.iter().for_each(|used| self.report(used));
            }
        }
    }

    /// The tree does not show where a variable is named as a template argument. The text does: where device code has
    /// its name and the tree shows no use.
    fn template_arguments(&mut self) {
        let arguments = std::mem::take(&mut self.by_argument);
        let is_covered = |id: &str| self.variables.get(id).is_some_and(|variable| variable.is_covered());
        let names: HashSet<String> =
            arguments.into_iter().filter(|(id, _)| is_covered(id)).map(|(_, name)| name).collect();
        if names.is_empty() {
            return;
        }
        let mut texts: HashMap<String, String> = HashMap::new();
        for (file, begin, end) in std::mem::take(&mut self.bodies) {
            let text = texts.entry(file.clone()).or_insert_with(|| self.options.text_of(&file));
            let Some(body) = text.get(begin as usize..(end as usize).min(text.len())) else { continue };
            for (place, name) in words(body) {
                let offset = begin + place as u32;
                if !names.contains(name)
                    || self.seen.contains(&(file.clone(), offset))
                    || !in_template_argument(body, place)
                {
                    continue;
                }
                let start = qualified_start(text, offset as usize);
                let before = &text[..start];
                let line = before.matches('\n').count() as u32 + 1;
                let col = (start - before.rfind('\n').map_or(0, |newline| newline + 1)) as u32 + 1;
                let place = Place { file: file.clone(), line, col, offset: start as u32 };
                self.found.findings.insert((place, name.to_owned()), vec![Key::Address]);
            }
        }
    }
}

/// What can be the pattern or an instantiation of a template.
fn is_templated(kind: &str) -> bool {
    kind.ends_with("Decl")
        && !kind.starts_with("TemplateT")
        && kind != "NonTypeTemplateParmDecl"
        && kind != "TemplateTemplateParmDecl"
}

/// The name of a class as the stack of names spells it.
fn class_name(ty: &str) -> String {
    let ty = ty.trim_start_matches("const ").trim_start_matches("struct ").trim_start_matches("class ");
    ty.split('<').next().unwrap_or(ty).to_owned()
}

/// What the use does, from the expression that names the variable outwards.
fn act(node: &Node, path: &[&Node]) -> Act {
    let unevaluated = ["UnaryExprOrTypeTraitExpr", "CXXNoexceptExpr", "TypeTraitExpr", "CXXTypeidExpr"];
    if node.non_odr_use_reason.as_deref() == Some("unevaluated")
        || path.iter().any(|node| unevaluated.contains(&node.kind.as_str()))
    {
        return Act::Nothing;
    }
    let mut below = node;
    for (depth, parent) in path.iter().enumerate().rev() {
        let above = depth.checked_sub(1).map(|depth| path[depth]);
        if let Some(act) = act_of(parent, below, above) {
            return act;
        }
        below = parent;
    }
    Act::Address
}

/// What an expression does with the variable that stands below it as an lvalue; `None` where it passes the lvalue on.
fn act_of(node: &Node, below: &Node, above: Option<&Node>) -> Option<Act> {
    match node.kind.as_str() {
        "ParenExpr"
        | "ExprWithCleanups"
        | "ConstantExpr"
        | "CXXBindTemporaryExpr"
        | "FullExpr"
        | "SubstNonTypeTemplateParmExpr"
        | "ArraySubscriptExpr" => None,
        "ConditionalOperator" if node.is_lvalue() => None,
        "BinaryOperator" if node.opcode == "," => {
            let is_last = node.inner.last().is_some_and(|last| std::ptr::eq(last, below));
            (!is_last).then_some(Act::Nothing)
        }
        "ImplicitCastExpr" => act_of_cast(node, above),
        "UnaryOperator" if node.opcode == "*" => None,
        "UnaryOperator" if node.opcode == "&" => Some(Act::Address),
        "MemberExpr" => (node.ty.text() == "<bound member function type>").then_some(Act::Address),
        "CStyleCastExpr" | "CXXStaticCastExpr" | "CXXFunctionalCastExpr" if node.cast_kind == "ToVoid" => {
            Some(Act::Nothing)
        }
        _ if node.cast_kind == "Dependent" => Some(Act::Unknown),
        "CXXConstructExpr" | "CXXTemporaryObjectExpr" => Some(Act::Copy),
        "CompoundStmt" | "IfStmt" | "ForStmt" | "WhileStmt" | "DoStmt" | "SwitchStmt" | "CaseStmt"
        | "DefaultStmt" | "LabelStmt" | "AttributedStmt" => Some(Act::Nothing),
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

fn act_of_cast(node: &Node, above: Option<&Node>) -> Option<Act> {
    match node.cast_kind.as_str() {
        // Of std::nullptr_t, reading is called otherwise.
        "LValueToRValue" | "NullToPointer" => Some(Act::Value),
        "NoOp" if node.is_lvalue() => None,
        // An element is read through a pointer, which is nothing but C++'s way to say so.
        "ArrayToPointerDecay" => {
            let is_element = |above: &Node| {
                above.kind == "ArraySubscriptExpr" || (above.kind == "UnaryOperator" && above.opcode == "*")
            };
            (!above.is_some_and(is_element)).then_some(Act::Address)
        }
        "ToVoid" => Some(Act::Nothing),
        _ => Some(Act::Address),
    }
}

/// Whether what binds the variable may turn out to copy it when a template is instantiated: an initializer list whose
/// type is not known, or a lambda whose result is not.
fn is_open(path: &[&Node]) -> bool {
    let in_lambda = path.iter().any(|node| node.kind == "LambdaExpr");
    path.iter().any(|node| {
        (node.kind == "InitListExpr" && node.ty.text() == "void") || (in_lambda && node.kind == "ReturnStmt")
    })
}

/// The words of a text that stand in no comment and no literal, with their places.
fn words(text: &str) -> Vec<(usize, &str)> {
    let bytes = text.as_bytes();
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let mut found = Vec::new();
    let mut place = 0;
    while place < bytes.len() {
        match bytes[place] {
            b'/' if bytes.get(place + 1) == Some(&b'/') => {
                place += text[place..].find('\n').unwrap_or(text.len() - place);
            }
            b'/' if bytes.get(place + 1) == Some(&b'*') => {
                place += text[place..].find("*/").map_or(text.len() - place, |end| end + 2);
            }
            quote @ (b'"' | b'\'') => {
                place += 1;
                while place < bytes.len() && bytes[place] != quote {
                    place += if bytes[place] == b'\\' { 2 } else { 1 };
                }
                place += 1;
            }
            byte if is_part(byte) => {
                let end =
                    bytes[place..].iter().position(|&byte| !is_part(byte)).map_or(bytes.len(), |n| place + n);
                found.push((place, &text[place..end]));
                place = end;
            }
            _ => place += 1,
        }
    }
    found
}

/// Whether the name at this place stands where a template argument does: after `<` or `,`, with nothing but its own
/// qualification and `&` between.
fn in_template_argument(text: &str, place: usize) -> bool {
    let before = text[..qualified_start(text, place)].trim_end().trim_end_matches('&').trim_end();
    before.ends_with(['<', ','])
}

/// Where the qualified name begins whose last part is at this place.
fn qualified_start(text: &str, place: usize) -> usize {
    let mut start = place;
    while let Some(before) = text[..start].strip_suffix("::") {
        let name = before.trim_end_matches(|c: char| c.is_alphanumeric() || c == '_');
        // A template's arguments belong to the name before them.
        if before.ends_with('>') {
            let mut depth = 0;
            let open = before.char_indices().rev().find(|&(_, c)| {
                depth += match c {
                    '>' => 1,
                    '<' => -1,
                    _ => 0,
                };
                depth == 0
            });
            let Some((open, _)) = open else { return start };
            start = before[..open].trim_end_matches(|c: char| c.is_alphanumeric() || c == '_').len();
        } else {
            start = name.len();
        }
    }
    start
}

/// The findings of a unit as they are reported.
pub fn findings(found: &Found) -> Vec<Finding> {
    found
        .findings
        .iter()
        .map(|((place, variable), keys)| Finding {
            file: place.file.clone(),
            line: place.line,
            column: place.col,
            variable: variable.clone(),
            keys: keys.clone(),
        })
        .collect()
}
