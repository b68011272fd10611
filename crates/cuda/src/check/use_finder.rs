//! Finds the uses of host variables in device code, in clang's syntax tree.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::ast::{AstNode, Position};
use super::text::Passing;
use super::use_kind::{UseKind, is_copy_safe, is_element, use_kind};
use super::uses::{DeviceCode, Use, Uses, class_name};
use super::variables::{ANNOTATIONS, ArithmeticKind, Variables, kind};

/// Finds the uses in a translation unit.
pub fn find(declarations: &[AstNode], variables: &Variables<'_>) -> Uses {
    let mut finder = UseFinder {
        variables,
        found: Uses::default(),
        names: Vec::new(),
        pending: BTreeMap::new(),
        parts: HashMap::new(),
        constructed: HashSet::new(),
        patterns: HashSet::new(),
        outside_patterns: HashSet::new(),
        number: 0,
    };
    for node in declarations {
        finder.visit(node, &mut Vec::new(), WalkContext::default());
    }
    finder.add_member_initializers();
    // A use in a template is judged in the instances. It is judged in the template itself only if no instance
    // contains it.
    let judged = finder.outside_patterns;
    finder.found.uses.retain(|used| !used.is_in_pattern || !judged.contains(&used.last.offset));
    finder.found
}

/// The declarations around a node.
#[derive(Clone, Copy, Debug, Default)]
struct WalkContext {
    /// Whether the node is in device code.
    is_device: bool,
    class: Option<OutermostClass>,
    in_function: bool,
    /// Whether the node is in the own declaration of a template, not in an instance.
    in_pattern: bool,
}

/// The outermost class around a node.
#[derive(Clone, Copy, Debug)]
struct OutermostClass {
    number: u64,
    /// The offsets of its first and last token.
    begin: u32,
    end: u32,
}

struct UseFinder<'a> {
    variables: &'a Variables<'a>,
    found: Uses,
    /// The names of the namespaces and classes around the current node.
    names: Vec<&'a str>,
    /// The uses in default member initializers, by class.
    pending: BTreeMap<String, Vec<Use>>,
    /// The classes of the bases and members of each class.
    parts: HashMap<String, Vec<String>>,
    /// The classes of objects that device code creates, with the scope in which they are named.
    constructed: HashSet<(String, String)>,
    /// The identities of class templates' own declarations.
    patterns: HashSet<&'a str>,
    /// The offsets of variables' names outside of these declarations, including those in instances.
    outside_patterns: HashSet<u32>,
    /// The number of the current node.
    number: u64,
}

impl<'a> UseFinder<'a> {
    fn visit(&mut self, node: &'a AstNode, path: &mut Vec<&'a AstNode>, around: WalkContext) {
        self.number += 1;
        // The tree repeats a declaration where a using-declaration names it.
        if node.kind == "UsingShadowDecl" {
            return;
        }
        if !node.name.is_empty() && node.kind.ends_with("Decl") {
            self.found.record_name(&node.loc);
        }
        let inside = self.enter(node, path, around);
        let is_scope = matches!(
            node.kind.as_str(),
            "NamespaceDecl" | "CXXRecordDecl" | "ClassTemplateSpecializationDecl"
        ) && !node.name.is_empty();
        if is_scope {
            self.names.push(&node.name);
        }
        path.push(node);
        self.visit_children(node, path, inside);
        path.pop();
        if is_scope {
            self.names.pop();
        }
        if inside.is_device && !(around.is_device && around.in_function) && is_body(node) {
            self.found.bodies.push(DeviceCode {
                line: node.range.begin.line,
                begin: node.range.begin.offset as usize,
                // The last token is a bracket, a name or a number. One byte of it is sufficient.
                end: node.range.end.offset as usize + 1,
                number: self.number,
                scope: self.names.join("::"),
            });
        }
    }

    /// Records the facts that a node shows by itself, and returns the context of its children.
    fn enter(&mut self, node: &'a AstNode, path: &[&'a AstNode], around: WalkContext) -> WalkContext {
        let mut inside = around;
        match node.kind.as_str() {
            "FunctionDecl" | "CXXMethodDecl" | "CXXConstructorDecl" | "CXXDestructorDecl"
            | "CXXConversionDecl" => {
                let is_marked = node.has_attribute("CUDADeviceAttr") || node.has_attribute("CUDAGlobalAttr");
                // A function within device code, such as the body of a lambda, is device code too.
                inside.is_device = is_marked || (around.is_device && around.in_function);
                inside.in_function = true;
                self.record_function(node);
                // A member of a class template may be defined outside of it.
                inside.in_pattern |= self.patterns.contains(node.parent_decl_context_id.as_str());
            }
            "VarDecl" if !around.in_function => {
                inside.is_device = ANNOTATIONS.iter().any(|kind| node.has_attribute(kind));
            }
            "CXXRecordDecl"
            | "ClassTemplateSpecializationDecl"
            | "ClassTemplatePartialSpecializationDecl" => {
                inside.class = around.class.or(Some(OutermostClass {
                    number: self.variables.order(&node.loc, self.number),
                    begin: node.range.begin.offset,
                    end: node.range.end.offset,
                }));
                inside.in_pattern |= node.kind == "ClassTemplatePartialSpecializationDecl";
                if inside.in_pattern {
                    self.patterns.insert(&node.id);
                }
                self.record_parts(node);
            }
            // The tree has the instances of a class template in the class that declares it a friend.
            _ if node.befriends_class_template() => inside.class = None,
            "TemplateArgument" => {
                if let Some(instance) = path.last() {
                    self.record_argument(node, instance);
                }
            }
            "CXXConstructExpr" | "CXXTemporaryObjectExpr" | "InitListExpr" if around.is_device => {
                self.constructed.insert((self.names.join("::"), class_name(node.ty.text())));
            }
            "DeclRefExpr" | "MemberExpr" => self.visit_reference(node, path, around),
            "ClassTemplateDecl"
            | "TypeAliasTemplateDecl"
            | "VarTemplateDecl"
            | "FunctionTemplateDecl"
            | "ConceptDecl" => self.record_parameters(node),
            _ => {}
        }
        inside
    }

    fn visit_children(&mut self, node: &'a AstNode, path: &mut Vec<&'a AstNode>, inside: WalkContext) {
        let is_template =
            matches!(node.kind.as_str(), "FunctionTemplateDecl" | "ClassTemplateDecl" | "VarTemplateDecl");
        let has_call_operator = node.kind == "LambdaExpr"
            && node.inner.first().is_some_and(|class| class.kind == "CXXRecordDecl");
        let mut is_first = true;
        for child in &node.inner {
            let mut context = inside;
            // The first of them is the template's own declaration, the others are instances.
            if is_template && is_templated(&child.kind) {
                context.in_pattern |= is_first;
                is_first = false;
            }
            if has_call_operator && child.kind == "CompoundStmt" {
                // The tree repeats the body of a lambda. Skip the copy, but number places as `Variables`
                // does.
                self.number += size(child);
            } else {
                self.visit(child, path, context);
            }
        }
    }

    /// Visits an expression that refers to a declaration. Records a use if that is a host variable.
    fn visit_reference(&mut self, node: &'a AstNode, path: &[&'a AstNode], around: WalkContext) {
        let id = match (&node.referenced_decl, &node.referenced_member_decl) {
            (Some(declaration), _) => declaration.id.as_str(),
            (None, Some(id)) => id.as_str(),
            _ => return,
        };
        let (place, last) = (&node.range.begin, &node.range.end);
        if place.offset < last.offset {
            self.found.instances.push(((place.offset, last.offset), id.to_owned()));
        }
        let in_member_initializer = path.iter().any(|node| node.kind == "FieldDecl") && !around.in_function;
        let Some(variable) = self.variables.get(id) else {
            self.found.record_name(last);
            if (around.is_device || in_member_initializer)
                && let Some(name) = undeclared_variable(node)
            {
                self.found.undeclared.insert(name.to_owned());
            }
            return;
        };
        if !variable.is_covered() {
            self.found.record_name(last);
            if variable.is_global && !variable.is_annotated {
                self.found.uncovered.extend([place, last].map(|place| (place.line, place.col)));
            }
            return;
        }
        // The name is the last token, unless template arguments follow.
        let is_template = node.referenced_decl.as_ref().is_some_and(|decl| decl.kind.contains("Template"));
        let first = if is_template { place } else { last };
        self.found.named.insert(((first.line, first.col), (last.line, last.col)));
        if !around.is_device && !in_member_initializer || is_written_elsewhere(place, path) {
            return;
        }
        if !around.in_pattern {
            self.outside_patterns.insert(last.offset);
        }
        let is_static = |id: &str| self.variables.get(id).is_some();
        let kind = match use_kind(node, path, around.in_pattern, &is_static) {
            // Outside of templates, an expression has an unknown type only if it is invalid.
            UseKind::Unknown if !around.in_pattern => UseKind::Misread,
            UseKind::Nothing => return,
            kind => kind,
        };
        let is_plain = around.in_function && !path.iter().any(|node| node.kind.contains("Template"));
        let is_copied = kind == UseKind::Address && is_plain && is_copy_safe(node, path);
        let number = if self.variables.is_dependent(place) {
            u64::MAX
        } else {
            // An instance has members that are defined outside of its class too.
            let class = around.class.filter(|class| (class.begin..=class.end).contains(&place.offset));
            class.map_or_else(|| self.variables.order(place, self.number), |class| class.number)
        };
        let used = Use {
            id: self.variables.root(id).to_owned(),
            name: variable.name.to_owned(),
            kind,
            place: place.clone(),
            number,
            is_constant: node.non_odr_use_reason.as_deref() == Some("constant"),
            copied: is_copied.then(|| (place.offset as usize, last.offset as usize + variable.name.len())),
            is_in_pattern: around.in_pattern,
            last: last.clone(),
            is_folded: is_folded(path),
        };
        if in_member_initializer {
            self.pending.entry(self.names.join("::")).or_default().push(used);
        } else {
            self.found.uses.push(used);
        }
    }

    /// Records a variable that is an argument of an instance of a template.
    fn record_argument(&mut self, argument: &AstNode, instance: &AstNode) {
        let arguments = self.found.arguments.entry(instance.id.clone()).or_default();
        if let Some(declaration) = &argument.decl {
            let variable = self.variables.root(&declaration.id).to_owned();
            arguments.push(variable.clone());
            self.found.by_argument.insert(variable);
        }
    }

    /// Records which parameters of a template are references or pointers.
    fn record_parameters(&mut self, template: &AstNode) {
        let known = self.found.parameters.entry(template.name.clone()).or_default();
        let parameters = template.inner.iter().filter(|child| is_template_parameter(&child.kind));
        for (index, parameter) in parameters.enumerate() {
            let is_reference = is_reference_parameter(parameter.ty.text());
            match known.get_mut(index) {
                Some(known) if *known != is_reference => *known = None,
                Some(_) => {}
                None => known.push(is_reference),
            }
        }
    }

    /// Records the way in which a function gets its arguments, and its object.
    fn record_function(&mut self, function: &AstNode) {
        let parameters = function.inner.iter().filter(|child| child.kind == "ParmVarDecl");
        let (by_reference, by_value): (Vec<&AstNode>, Vec<&AstNode>) =
            parameters.partition(|parameter| parameter.ty.text().ends_with('&'));
        let passing = match (by_reference.is_empty(), by_value.is_empty()) {
            (true, true) => None,
            (true, false) => Some(Passing::Value),
            (false, true) => Some(Passing::Reference),
            (false, false) => Some(Passing::Unknown),
        };
        if let Some(passing) = passing {
            let full_name = format!("{}::{}", self.names.join("::"), function.name);
            for name in [function.name.clone(), full_name] {
                record(&mut self.found.passing, name, passing, Passing::Unknown);
            }
        }
        if function.kind == "CXXMethodDecl" {
            let gets_object = Some(function.storage_class != "static");
            let class = self.names.last().copied().unwrap_or_default();
            for name in [function.name.clone(), format!("{class}::{}", function.name)] {
                record(&mut self.found.gets_object, name, gets_object, None);
            }
        }
    }

    /// Records the classes of a class's bases and members.
    fn record_parts(&mut self, class: &AstNode) {
        let bases = class.bases.iter().map(|base| base.ty.text());
        let fields = class.inner.iter().filter(|node| node.kind == "FieldDecl").map(|field| field.ty.text());
        let objects = fields.filter(|ty| !ty.contains(['*', '&']));
        let mut name = self.names.join("::");
        if !name.is_empty() {
            name += "::";
        }
        name += &class.name;
        self.parts.entry(name).or_default().extend(bases.chain(objects).map(class_name));
    }

    /// Adds the uses in default member initializers. They are device code if device code creates an object of
    /// the class, directly or as a base or member of another object.
    fn add_member_initializers(&mut self) {
        let constructed = std::mem::take(&mut self.constructed);
        let mut waiting: Vec<String> =
            constructed.iter().map(|(scope, name)| self.resolve_class(scope, name)).collect();
        let mut created: HashSet<String> = HashSet::new();
        while let Some(class) = waiting.pop() {
            let parts = self.parts.get(&class).into_iter().flatten();
            let parts = parts.map(|part| self.resolve_class(&class, part));
            waiting.extend(parts.filter(|part| !created.contains(part)));
            created.insert(class);
        }
        for (class, uses) in std::mem::take(&mut self.pending) {
            if created.contains(&class) {
                self.found.uses.extend(uses);
            }
        }
    }

    /// Returns the full name of the class that a name means in a scope.
    fn resolve_class(&self, scope: &str, name: &str) -> String {
        let mut scope = scope;
        loop {
            let full = if scope.is_empty() { name.to_owned() } else { format!("{scope}::{name}") };
            if scope.is_empty() || self.parts.contains_key(&full) {
                return full;
            }
            scope = scope.rsplit_once("::").map_or("", |(outer, _)| outer);
        }
    }
}

/// Returns the name of the variable that a reference to something unknown may name; `None` where its value is all
/// that is used, and that of an integral constant, which the rule allows whatever declares it.
fn undeclared_variable(node: &AstNode) -> Option<&str> {
    let is_value = |ty: &str| {
        node.non_odr_use_reason.as_deref() == Some("constant")
            && kind(ty) == ArithmeticKind::Integral
            && !ty.contains("volatile")
            && !ty.contains("__int128")
    };
    match &node.referenced_decl {
        Some(named) => {
            (named.kind.starts_with("Var") && !is_value(named.ty.text())).then_some(named.name.as_str())
        }
        // A member of an object: of a constant type if the object is, or if it is a static member.
        None => {
            let is_const = |node: &AstNode| node.ty.text().contains("const");
            let is_static = is_const(node) && !node.inner.first().is_some_and(is_const);
            (is_static && !is_value(node.ty.text())).then_some(node.name.as_str())
        }
    }
}

/// Records a fact about a name, or `conflict` if the name already has a different fact.
fn record<T: Copy + PartialEq>(facts: &mut HashMap<String, T>, name: String, fact: T, conflict: T) {
    let known = facts.entry(name).or_insert(fact);
    if *known != fact {
        *known = conflict;
    }
}

/// Whether an expression of the tree is written elsewhere in the text, where the tree has it again.
fn is_written_elsewhere(place: &Position, path: &[&AstNode]) -> bool {
    // In an instance, the tree has the argument in place of the parameter. The argument is written where the
    // template is used.
    let is_argument = path.iter().any(|parent| parent.kind == "SubstNonTypeTemplateParmExpr");
    // A type contains the text of the aliases that it names.
    let is_in_type = path.iter().any(|parent| parent.kind.ends_with("Type"));
    is_argument || is_in_type && !is_in_declaration(place, path)
}

/// Whether compilers evaluate the expression, whatever it reads: it is a constant expression, or reads no
/// element of an array.
fn is_folded(path: &[&AstNode]) -> bool {
    path.iter().any(|node| is_constant(node)) || !path.iter().any(|node| is_element(node))
}

fn is_constant(node: &AstNode) -> bool {
    node.kind == "ConstantExpr" || node.kind == "VarDecl" && node.constexpr
}

/// Whether the text of a declaration may contain names that the tree does not show.
fn is_body(node: &AstNode) -> bool {
    match node.kind.as_str() {
        "VarDecl" | "VarTemplateSpecializationDecl" => true,
        kind => kind.ends_with("Decl") && node.inner.iter().any(|child| child.kind == "CompoundStmt"),
    }
}

/// Whether a place is in the text of the innermost function or variable around.
fn is_in_declaration(place: &Position, path: &[&AstNode]) -> bool {
    let declaration = path.iter().rev().find(|node| is_function_or_variable(&node.kind));
    declaration.is_some_and(|node| (node.range.begin.offset..=node.range.end.offset).contains(&place.offset))
}

fn is_function_or_variable(kind: &str) -> bool {
    kind == "FunctionDecl" || kind == "VarDecl" || kind.starts_with("CXX") && kind.ends_with("Decl")
}

/// Returns the number of nodes that a visit would count.
fn size(node: &AstNode) -> u64 {
    match node.kind.as_str() {
        "UsingShadowDecl" => 1,
        _ => 1 + node.inner.iter().map(size).sum::<u64>(),
    }
}

/// Whether a child of a template with this kind is the template's own declaration or an instance.
fn is_templated(kind: &str) -> bool {
    kind.ends_with("Decl")
        && !kind.starts_with("TemplateT")
        && kind != "NonTypeTemplateParmDecl"
        && kind != "TemplateTemplateParmDecl"
}

fn is_template_parameter(kind: &str) -> bool {
    kind.starts_with("Template") || kind.starts_with("NonType")
}

/// Whether a template parameter of this type is a reference or a pointer; `None` for types that may be
/// anything.
fn is_reference_parameter(ty: &str) -> Option<bool> {
    let is_value = kind(ty) != ArithmeticKind::Other || ty == "auto";
    (is_value || ty.ends_with(['&', '*'])).then_some(!is_value)
}
