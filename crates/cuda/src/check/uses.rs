//! Finds the uses of host variables in device code.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::acts::{Act, act, copy_is_safe};
use super::ast::{Node, Place};
use super::source::Source;
use super::text::{self, Passing};
use super::tokens::tokens;
use super::variables::{ANNOTATIONS, TypeKind, Variables};

/// What was found in a translation unit.
#[derive(Debug, Default)]
pub struct Uses {
    /// The uses in device code that the tree shows, those that do nothing left out.
    pub uses: Vec<Use>,
    /// Where device code is.
    pub bodies: Vec<Body>,
    /// Variables that are template arguments by reference or pointer.
    pub by_argument: BTreeSet<String>,
    /// How functions of a name take their arguments.
    passing: HashMap<String, Passing>,
    /// Whether member functions of a name, or of a class and a name, get the object that they are called on; `None` where
    /// some do and some do not.
    gets_object: HashMap<String, Option<bool>>,
    /// Where the tree names variables: first and last line and column.
    named: BTreeSet<(Point, Point)>,
    /// Where the tree names what a template makes: first and last offset, and the identity.
    chosen: Vec<((u32, u32), String)>,
    /// The variables that are arguments of what a template makes, by its identity.
    arguments: HashMap<String, Vec<String>>,
    /// Where device code names variables of the host that the rule does not speak of: line and column.
    others: BTreeSet<Point>,
    /// Whether templates of a name have references and pointers as parameters, one by one; `None` where they differ.
    parameters: HashMap<String, Vec<Option<bool>>>,
}

/// A line and a column.
type Point = (u32, u32);

/// A use in device code.
#[derive(Clone, Debug)]
pub struct Use {
    /// The variable's identity.
    pub id: String,
    /// The variable's name.
    pub name: String,
    /// What it does.
    pub act: Act,
    /// Where it is.
    pub place: Place,
    /// The number of the place in the order of the text.
    pub number: u64,
    /// Whether clang has replaced the variable by its constant value.
    pub is_constant: bool,
    /// Where a copy of the variable would do: the first byte of the expression, and the first one behind it.
    pub copied: Option<(usize, usize)>,
    /// Whether it stands in the own declaration of a template.
    pub is_in_pattern: bool,
    /// Where the last token of the expression is.
    pub last: Place,
    /// Whether the value is that of a constant expression which compilers evaluate, or a scalar's; no element of an array is read
    /// while the program runs.
    pub is_folded: bool,
}

/// The text of a declaration that is device code.
#[derive(Debug)]
pub struct Body {
    /// Its first line.
    pub line: u32,
    /// The first offset.
    pub begin: usize,
    /// The offset of the last token.
    pub end: usize,
    /// The number of its place in the order of the text.
    pub number: u64,
    /// The namespaces and classes around.
    pub scope: String,
}

impl Use {
    /// A use that the tree does not show.
    pub fn unseen(id: &str, name: &str, act: Act, place: Place, last: Place, number: u64) -> Use {
        Use {
            id: id.to_owned(),
            name: name.to_owned(),
            act,
            place,
            number,
            is_constant: false,
            copied: None,
            is_in_pattern: false,
            last,
            is_folded: true,
        }
    }
}

impl Uses {
    /// The device code around an offset.
    pub fn body_around(&self, offset: usize) -> Option<&Body> {
        self.bodies.iter().find(|body| (body.begin..=body.end).contains(&offset))
    }

    /// Whether the tree shows that a variable is named here.
    pub fn names(&self, place: &Place) -> bool {
        let at = (place.line, place.col);
        // No name is that long.
        self.named.range(..=(at, (u32::MAX, 0))).rev().take(8).any(|&(_, end)| end >= at)
    }

    /// Whether a whole template argument here stands for a reference or a pointer in all templates of the name before it.
    pub fn is_bound_by_name(&self, code: &str, offset: usize, name: &str) -> Option<bool> {
        let (template, index) = text::template_argument(code, offset, name)?;
        *self.parameters.get(template)?.get(index)?
    }

    /// Whether a variable is named here that the rule does not speak of.
    pub fn is_of_another(&self, place: (u32, u32)) -> bool {
        self.others.contains(&place)
    }

    /// Whether a variable that the rule speaks of is used in this line.
    pub fn is_used_in(&self, line: u32) -> bool {
        self.uses.iter().any(|used| (used.place.line..=used.last.line).contains(&line))
    }

    /// Whether a variable that is a whole template argument here stands for a reference or a pointer. Other declarations of the
    /// variable, as in another instance, are in `same`.
    pub fn is_bound_by_argument(&self, code: &str, offset: usize, name: &str, same: &[&str]) -> bool {
        let is_around =
            |&&((begin, end), _): &&((u32, u32), String)| (begin as usize..=end as usize).contains(&offset);
        // Overload resolution has chosen what the innermost expression around names.
        let chosen = self.chosen.iter().filter(is_around).min_by_key(|((begin, end), _)| end - begin);
        if let Some(arguments) = chosen.and_then(|(_, id)| self.arguments.get(id)) {
            return arguments.iter().any(|id| same.contains(&id.as_str()));
        }
        self.is_bound_by_name(code, offset, name)
            .unwrap_or_else(|| self.by_argument.iter().any(|id| same.contains(&id.as_str())))
    }

    /// How functions of this name take their arguments that a scope knows; what stands before the name may be a namespace.
    pub fn passing(&self, scope: &str, from: &str, name: &str) -> Passing {
        // Of the standard's functions that headers of the system declare, these are used in constants.
        let is_standard = from.ends_with("std::") || from.ends_with("thrust::");
        match name {
            "min" | "max" | "clamp" | "minmax" | "forward" | "move" | "addressof" if is_standard => {
                Passing::Reference
            }
            "min" | "max" if !self.passing.contains_key(name) => Passing::Value,
            _ => in_scope(scope, name, |full| self.passing.get(full).copied())
                .or_else(|| self.passing.get(name).copied())
                .unwrap_or(Passing::Unknown),
        }
    }

    /// Whether a member function of this name gets the object of this type that it is called on, where that is known.
    pub fn gets_object(&self, ty: &str, name: &str) -> Option<bool> {
        let class = class_name(ty);
        let class = class.rsplit("::").next().unwrap_or(&class);
        *self.gets_object.get(&format!("{class}::{name}")).or_else(|| self.gets_object.get(name))?
    }

    /// Names that the text of device code has where the tree names no variable, and whether a reference may be bound there. Names
    /// that are no suspects are only found where one may.
    pub fn unseen<'a>(&self, names: &HashMap<&'a str, bool>, source: &Source) -> BTreeMap<&'a str, bool> {
        let mut found = BTreeMap::new();
        let code = source.code();
        for body in &self.bodies {
            let Some(inside) = code.get(body.begin..body.end.min(code.len())) else { continue };
            for word in tokens(inside).iter().filter(|token| token.is_word()) {
                let Some((&name, &is_suspect)) = names.get_key_value(word.text) else { continue };
                let offset = body.begin + word.offset;
                let start = code[..offset].rfind('\n').map_or(0, |newline| newline + 1);
                let place =
                    Place { line: body.line + word.line - 1, col: (offset - start) as u32 + 1, offset: 0 };
                if self.names(&place) {
                    continue;
                }
                let is_bound = text::may_be_bound(code, offset, name);
                if is_suspect || is_bound {
                    *found.entry(name).or_default() |= is_bound;
                }
            }
        }
        found
    }
}

/// Looks through a translation unit.
pub fn find(declarations: &[Node], variables: &Variables<'_>) -> Uses {
    let mut walk = Walk {
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
    let outside = Context { device: false, class: None, in_function: false, pattern: false };
    for node in declarations {
        let mut path = Vec::new();
        walk.node(node, &mut path, outside);
    }
    walk.member_initializers();
    // What a template says is judged in its instantiations; what no instantiation contains, in the template.
    let judged = walk.outside_patterns;
    walk.found.uses.retain(|used| !used.is_in_pattern || !judged.contains(&used.last.offset));
    walk.found
}

#[derive(Clone, Copy, Debug)]
struct Context {
    device: bool,
    /// The number of the outermost class.
    class: Option<u64>,
    in_function: bool,
    /// Whether it is the own declaration of a template, not an instantiation.
    pattern: bool,
}

struct Walk<'a> {
    variables: &'a Variables<'a>,
    found: Uses,
    /// The namespaces and classes around.
    names: Vec<&'a str>,
    /// Uses in default member initializers, by the class.
    pending: BTreeMap<String, Vec<Use>>,
    /// The classes of bases and members, by the class.
    parts: HashMap<String, Vec<String>>,
    /// Classes of which device code makes objects, with the scope where they are named.
    constructed: HashSet<(String, String)>,
    /// The class templates' own declarations, by identity.
    patterns: HashSet<&'a str>,
    /// Where variables are named outside of those: what is instantiated is judged there.
    outside_patterns: HashSet<u32>,
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
                self.function(node);
                // A member of a class template that is defined outside of it.
                inside.pattern |= self.patterns.contains(node.parent_decl_context_id.as_str());
            }
            "VarDecl" if !around.in_function => {
                inside.device = ANNOTATIONS.iter().any(|kind| node.has_attribute(kind));
            }
            "CXXRecordDecl"
            | "ClassTemplateSpecializationDecl"
            | "ClassTemplatePartialSpecializationDecl" => {
                let number = self.variables.order(&node.loc, self.number);
                inside.class = around.class.or(Some(number));
                inside.pattern |= node.kind == "ClassTemplatePartialSpecializationDecl";
                if inside.pattern {
                    self.patterns.insert(&node.id);
                }
                self.parts_of(node);
            }
            // What a using-declaration names is printed where it stands as well.
            "UsingShadowDecl" => return,
            // The instances of a friend that is a template are printed in the class.
            _ if node.befriends_class_template() => inside.class = None,
            "TemplateArgument" => {
                if let Some(made) = path.last() {
                    let arguments = self.found.arguments.entry(made.id.clone()).or_default();
                    if let Some(named) = &node.decl {
                        let argument = self.variables.root(&named.id).to_owned();
                        arguments.push(argument.clone());
                        self.found.by_argument.insert(argument);
                    }
                }
            }
            "CXXConstructExpr" | "CXXTemporaryObjectExpr" | "InitListExpr" if around.device => {
                self.constructed.insert((self.names.join("::"), class_name(node.ty.text())));
            }
            "DeclRefExpr" | "MemberExpr" => self.named(node, path, around),
            "ClassTemplateDecl"
            | "TypeAliasTemplateDecl"
            | "VarTemplateDecl"
            | "FunctionTemplateDecl"
            | "ConceptDecl" => {
                self.template(node);
            }
            _ => {}
        }
        let is_name = matches!(
            node.kind.as_str(),
            "NamespaceDecl" | "CXXRecordDecl" | "ClassTemplateSpecializationDecl"
        ) && !node.name.is_empty();
        if is_name {
            self.names.push(&node.name);
        }
        path.push(node);
        self.children(node, path, inside);
        path.pop();
        if is_name {
            self.names.pop();
        }
        if inside.device && !(around.device && around.in_function) && is_body(node) {
            let (begin, end) = (&node.range.begin, &node.range.end);
            self.found.bodies.push(Body {
                line: begin.line,
                begin: begin.offset as usize,
                // The last token is a bracket, a name or a number; what comes behind it does no harm.
                end: end.offset as usize + 1,
                number: self.number,
                scope: self.names.join("::"),
            });
        }
    }

    fn children(&mut self, node: &'a Node, path: &mut Vec<&'a Node>, inside: Context) {
        let templated =
            matches!(node.kind.as_str(), "FunctionTemplateDecl" | "ClassTemplateDecl" | "VarTemplateDecl");
        let has_call_operator = node.kind == "LambdaExpr"
            && node.inner.first().is_some_and(|class| class.kind == "CXXRecordDecl");
        let mut first = true;
        for child in &node.inner {
            let mut context = inside;
            if templated && is_templated(&child.kind) {
                context.pattern |= first;
                first = false;
            }
            if has_call_operator && child.kind == "CompoundStmt" {
                // A lambda's body is there a second time. Places are numbered as if it were looked through.
                self.number += size(child);
            } else {
                self.node(child, path, context);
            }
        }
    }

    /// An expression that names something: a use, if that is a host variable.
    fn named(&mut self, node: &'a Node, path: &[&'a Node], around: Context) {
        let id = match (&node.referenced_decl, &node.referenced_member_decl) {
            (Some(named), _) => named.id.as_str(),
            (None, Some(id)) => id.as_str(),
            _ => return,
        };
        if node.range.begin.offset < node.range.end.offset {
            let range = (node.range.begin.offset, node.range.end.offset);
            self.found.chosen.push((range, id.to_owned()));
        }
        let Some(variable) = self.variables.get(id) else { return };
        let (place, last) = (&node.range.begin, &node.range.end);
        if !variable.is_covered() {
            if variable.is_global && !variable.is_annotated {
                self.found.others.extend([place, last].map(|place| (place.line, place.col)));
            }
            return;
        }
        // The name is the last token, where no template arguments follow.
        let is_template = node.referenced_decl.as_ref().is_some_and(|named| named.kind.contains("Template"));
        let from = if is_template { place } else { last };
        self.found.named.insert(((from.line, from.col), (last.line, last.col)));
        let in_member_initializer =
            path.iter().any(|around| around.kind == "FieldDecl") && !around.in_function;
        if !around.device && !in_member_initializer {
            return;
        }
        // In an instantiation, what replaces a parameter of the template is named where the template is used.
        if path.iter().any(|parent| parent.kind == "SubstNonTypeTemplateParmExpr") {
            return;
        }
        // A type has the text of the aliases that it names, which stand elsewhere.
        if path.iter().any(|parent| parent.kind.ends_with("Type")) && !is_in_declaration(place, path) {
            return;
        }
        if !around.pattern {
            self.outside_patterns.insert(last.offset);
        }
        let act = match act(node, path, around.pattern, &|id| self.variables.get(id).is_some()) {
            // Outside of templates, only a mistake depends on what is not known.
            Act::Unknown if !around.pattern => Act::Misread,
            act => act,
        };
        if act == Act::Nothing {
            return;
        }
        let is_plain = around.in_function && !path.iter().any(|node| node.kind.contains("Template"));
        let copied = act == Act::Address && is_plain && copy_is_safe(node, path);
        let used = Use {
            id: self.variables.root(id).to_owned(),
            name: variable.name.to_owned(),
            act,
            place: place.clone(),
            number: match self.variables.is_dependent(place) {
                true => u64::MAX,
                false => around.class.unwrap_or_else(|| self.variables.order(place, self.number)),
            },
            is_constant: node.non_odr_use_reason.as_deref() == Some("constant"),
            copied: copied.then(|| (place.offset as usize, last.offset as usize + variable.name.len())),
            is_in_pattern: around.pattern,
            last: last.clone(),
            is_folded: is_folded(path),
        };
        if in_member_initializer {
            self.pending.entry(self.names.join("::")).or_default().push(used);
        } else {
            self.found.uses.push(used);
        }
    }

    /// Notes which parameters of a template are references or pointers.
    fn template(&mut self, node: &Node) {
        let parameters = node
            .inner
            .iter()
            .filter(|child| child.kind.starts_with("Template") || child.kind.starts_with("NonType"));
        let own = parameters.map(|parameter| {
            let ty = parameter.ty.text();
            let is_value = super::variables::kind(ty) != TypeKind::Other || ty == "auto";
            (is_value || ty.ends_with(['&', '*'])).then_some(!is_value)
        });
        let own: Vec<Option<bool>> = own.collect();
        let known = self.found.parameters.entry(node.name.clone()).or_default();
        for (index, own) in own.into_iter().enumerate() {
            match known.get_mut(index) {
                Some(known) if *known != own => *known = None,
                Some(_) => {}
                None => known.push(own),
            }
        }
    }

    /// Notes how a function takes its arguments.
    fn function(&mut self, node: &Node) {
        let parameters = node.inner.iter().filter(|child| child.kind == "ParmVarDecl");
        let (by_reference, by_value): (Vec<&Node>, Vec<&Node>) =
            parameters.partition(|parameter| parameter.ty.text().ends_with('&'));
        let own = match (by_reference.is_empty(), by_value.is_empty()) {
            (true, true) => None,
            (true, false) => Some(Passing::Value),
            (false, true) => Some(Passing::Reference),
            (false, false) => Some(Passing::Unknown),
        };
        if let Some(own) = own {
            for name in [node.name.clone(), format!("{}::{}", self.names.join("::"), node.name)] {
                let passing = self.found.passing.entry(name).or_insert(own);
                if *passing != own {
                    *passing = Passing::Unknown;
                }
            }
        }
        if node.kind == "CXXMethodDecl" {
            let own = Some(node.storage_class != "static");
            let class = self.names.last().copied().unwrap_or_default();
            for name in [node.name.clone(), format!("{class}::{}", node.name)] {
                let gets = self.found.gets_object.entry(name).or_insert(own);
                if *gets != own {
                    *gets = None;
                }
            }
        }
    }

    /// The classes of a class's bases and members.
    fn parts_of(&mut self, class: &Node) {
        let bases = class.bases.iter().map(|base| base.ty.text());
        let fields = class.inner.iter().filter(|node| node.kind == "FieldDecl").map(|field| field.ty.text());
        let parts: Vec<String> =
            bases.chain(fields.filter(|ty| !ty.contains(['*', '&']))).map(class_name).collect();
        let mut name = self.names.clone();
        name.push(&class.name);
        self.parts.entry(name.join("::")).or_default().extend(parts);
    }

    /// Default member initializers are device code where device code makes objects of the class.
    fn member_initializers(&mut self) {
        let constructed = std::mem::take(&mut self.constructed);
        let mut open: Vec<String> =
            constructed.iter().map(|(scope, name)| self.class_of(scope, name)).collect();
        let mut made: HashSet<String> = HashSet::new();
        while let Some(class) = open.pop() {
            let parts = self.parts.get(&class).into_iter().flatten();
            open.extend(parts.map(|part| self.class_of(&class, part)).filter(|part| !made.contains(part)));
            made.insert(class);
        }
        for (class, uses) in std::mem::take(&mut self.pending) {
            if made.contains(&class) {
                self.found.uses.extend(uses);
            }
        }
    }

    /// The class that a name means in a scope.
    fn class_of(&self, scope: &str, name: &str) -> String {
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

/// What a name means in a scope or in one around it.
fn in_scope<T>(scope: &str, name: &str, find: impl Fn(&str) -> Option<T>) -> Option<T> {
    let mut scope = scope;
    while !scope.is_empty() {
        if let Some(found) = find(&format!("{scope}::{name}")) {
            return Some(found);
        }
        scope = scope.rsplit_once("::").map_or("", |(outer, _)| outer);
    }
    None
}

/// Whether compilers evaluate the expression while they compile, whatever it reads.
fn is_folded(path: &[&Node]) -> bool {
    let is_element =
        |node: &Node| node.kind == "ArraySubscriptExpr" || node.kind == "UnaryOperator" && node.opcode == "*";
    let is_constant = |node: &Node| node.kind == "ConstantExpr" || node.kind == "VarDecl" && node.constexpr;
    path.iter().any(|node| is_constant(node)) || !path.iter().any(|node| is_element(node))
}

/// Whether a declaration's text is looked through.
fn is_body(node: &Node) -> bool {
    match node.kind.as_str() {
        "VarDecl" | "VarTemplateSpecializationDecl" => true,
        kind => kind.ends_with("Decl") && node.inner.iter().any(|child| child.kind == "CompoundStmt"),
    }
}

/// Whether a place is in the text of the innermost function or variable around.
fn is_in_declaration(place: &Place, path: &[&Node]) -> bool {
    let is_code = |kind: &str| {
        kind == "FunctionDecl" || kind == "VarDecl" || kind.starts_with("CXX") && kind.ends_with("Decl")
    };
    path.iter()
        .rev()
        .find(|node| is_code(&node.kind))
        .is_some_and(|node| (node.range.begin.offset..=node.range.end.offset).contains(&place.offset))
}

/// How many nodes are looked through.
fn size(node: &Node) -> u64 {
    match node.kind.as_str() {
        "UsingShadowDecl" => 1,
        _ => 1 + node.inner.iter().map(size).sum::<u64>(),
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
    ty.split(['<', '[']).next().unwrap_or(ty).replace("(anonymous namespace)::", "")
}
