//! The uses of host variables in a translation unit, and the facts that are needed to judge them.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::ast::Position;
use super::source::PreprocessedText;
use super::text::{self, Passing};
use super::tokens::tokens;
use super::use_kind::UseKind;

/// The uses of host variables in device code, as far as the tree shows them, and facts about the names in the
/// text.
#[derive(Debug, Default)]
pub struct Uses {
    /// The uses in device code that the tree shows, without those of kind [`UseKind::Nothing`].
    pub uses: Vec<Use>,
    /// The device code.
    pub bodies: Vec<DeviceCode>,
    /// The variables that are template arguments by reference or pointer.
    pub by_argument: BTreeSet<String>,
    /// The way in which functions get their arguments, by name.
    pub(super) passing: HashMap<String, Passing>,
    /// Whether member functions get the object that they are called on, by name and by class and name. `None`
    /// if some do and some do not.
    pub(super) gets_object: HashMap<String, Option<bool>>,
    /// The ranges in which the tree names a variable or anything else.
    pub(super) named: BTreeSet<(LineColumn, LineColumn)>,
    /// The ranges in which the tree names instances of templates: first and last offset, and the identity of
    /// the instance.
    pub(super) instances: Vec<((u32, u32), String)>,
    /// The variables that are arguments of an instance of a template, by its identity.
    pub(super) arguments: HashMap<String, Vec<String>>,
    /// The places where device code names host variables that the rule does not cover.
    pub(super) uncovered: BTreeSet<LineColumn>,
    /// Whether each parameter of the templates with a name is a reference or a pointer. `None` if they
    /// differ.
    pub(super) parameters: HashMap<String, Vec<Option<bool>>>,
    /// The names of variables in device code that the tree has no declaration of, if what they are can matter.
    pub(super) undeclared: BTreeSet<String>,
}

/// A line and a column.
pub type LineColumn = (u32, u32);

/// A use of a variable in device code.
#[derive(Clone, Debug)]
pub struct Use {
    /// The identity of the variable.
    pub id: String,
    /// The name of the variable.
    pub name: String,
    /// The effect of the use.
    pub kind: UseKind,
    /// The place of the expression that names the variable.
    pub place: Position,
    /// The number of the place in the order of the text.
    pub number: u64,
    /// Whether clang replaced the variable by its constant value.
    pub is_constant: bool,
    /// The range of the expression if a copy of the variable could replace it: the first offset, and the
    /// first one behind.
    pub copied: Option<(usize, usize)>,
    /// Whether the use is in the own declaration of a template.
    pub is_in_pattern: bool,
    /// The place of the last token of the expression.
    pub last: Position,
    /// Whether compilers know the value: it is a scalar's, or that of a constant expression. False if the
    /// program reads an element of an array while it runs.
    pub is_folded: bool,
}

/// The text of a declaration that is device code.
#[derive(Debug)]
pub struct DeviceCode {
    /// The first line.
    pub line: u32,
    /// The first offset.
    pub begin: usize,
    /// The offset of the last token.
    pub end: usize,
    /// The number of the declaration's place in the order of the text.
    pub number: u64,
    /// The namespaces and classes around, joined by `::`.
    pub scope: String,
}

impl Use {
    /// Creates a use that the text shows and the tree does not.
    pub fn in_text(id: &str, name: &str, kind: UseKind, place: Position, last: Position, number: u64) -> Use {
        Use {
            id: id.to_owned(),
            name: name.to_owned(),
            kind,
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

/// The number of preceding ranges in which a place is looked for. A range is one name, so no range that
/// begins farther away reaches the place.
const MOST_RANGES: usize = 8;

impl Uses {
    /// Returns the device code around an offset: of a template its own declaration, because the tree has the
    /// instances where the template is declared first.
    pub fn body_around(&self, offset: usize) -> Option<&DeviceCode> {
        let around = self.bodies.iter().filter(|body| (body.begin..=body.end).contains(&offset));
        around.max_by_key(|body| body.number)
    }

    /// Records that the tree has the name at this place.
    pub(super) fn record_name(&mut self, place: &Position) {
        let place = (place.line, place.col);
        self.named.insert((place, place));
    }

    /// Whether the tree shows what is named at this place.
    pub fn names(&self, place: &Position) -> bool {
        let place = (place.line, place.col);
        let mut before = self.named.range(..=(place, (u32::MAX, 0))).rev().take(MOST_RANGES);
        before.any(|&(_, end)| end >= place)
    }

    /// Whether the name at this offset is a whole argument for a reference or a pointer, in all templates
    /// with the name before it. `None` if the templates differ, or the name is no whole argument.
    pub fn is_bound_by_name(&self, code: &str, offset: usize, name: &str) -> Option<bool> {
        let (template, index) = text::template_argument(code, offset, name)?;
        *self.parameters.get(template)?.get(index)?
    }

    /// Whether headers that are left out of the tree may decide about a use: one names a variable of a library, or
    /// may do so as an argument of a template, which the tree does not show.
    pub fn need_headers(&self, source: &PreprocessedText) -> bool {
        let binds = self.parameters.values().flatten().any(|is_reference| *is_reference == Some(true));
        binds || self.undeclared.iter().any(|name| source.is_word_of_libraries(name))
    }

    /// Whether the name at this place is that of a host variable that the rule does not cover.
    pub fn is_of_uncovered_variable(&self, place: LineColumn) -> bool {
        self.uncovered.contains(&place)
    }

    /// Whether a variable that the rule covers is used in this line.
    pub fn is_used_in(&self, line: u32) -> bool {
        self.uses.iter().any(|used| (used.place.line..=used.last.line).contains(&line))
    }

    /// Whether the whole template argument at this offset is for a reference or a pointer. `instances` are
    /// the variables that the name stands for.
    pub fn is_bound_by_argument(&self, code: &str, offset: usize, name: &str, instances: &[&str]) -> bool {
        let is_instance = |id: &String| instances.contains(&id.as_str());
        // Overload resolution has chosen the template in the innermost expression around the name.
        if let Some(arguments) = self.innermost_instance(offset).and_then(|id| self.arguments.get(id)) {
            return arguments.iter().any(is_instance);
        }
        self.is_bound_by_name(code, offset, name).unwrap_or_else(|| self.by_argument.iter().any(is_instance))
    }

    /// Returns the identity of the instance of a template that the innermost expression around an offset
    /// names.
    fn innermost_instance(&self, offset: usize) -> Option<&String> {
        let around = self
            .instances
            .iter()
            .filter(|((begin, end), _)| (*begin as usize..=*end as usize).contains(&offset));
        around.min_by_key(|((begin, end), _)| end - begin).map(|(_, id)| id)
    }

    /// Returns the way in which the functions of a name that a scope knows get their arguments. `from` is the
    /// text before the name, which may end with a namespace.
    pub fn passing(&self, scope: &str, from: &str, name: &str) -> Passing {
        // System headers declare these functions, and constants use them.
        let is_standard = from.ends_with("std::") || from.ends_with("thrust::");
        match name {
            "min" | "max" | "clamp" | "minmax" | "forward" | "move" | "addressof" if is_standard => {
                Passing::Reference
            }
            "min" | "max" if !self.passing.contains_key(name) => Passing::Value,
            _ => self.passing_in_scope(scope, name).unwrap_or(Passing::Unknown),
        }
    }

    /// Looks a function up in a scope, in the scopes around it, and then by its name alone.
    fn passing_in_scope(&self, scope: &str, name: &str) -> Option<Passing> {
        let mut scope = scope;
        while !scope.is_empty() {
            if let Some(passing) = self.passing.get(&format!("{scope}::{name}")) {
                return Some(*passing);
            }
            scope = scope.rsplit_once("::").map_or("", |(outer, _)| outer);
        }
        self.passing.get(name).copied()
    }

    /// Whether a member function of this name gets the object of this type that it is called on; `None` if
    /// that is not known.
    pub fn gets_object(&self, ty: &str, name: &str) -> Option<bool> {
        let class = class_name(ty);
        let class = class.rsplit("::").next().unwrap_or(&class);
        *self.gets_object.get(&format!("{class}::{name}")).or_else(|| self.gets_object.get(name))?
    }

    /// Returns names that are in device code at places where the tree names nothing, and whether a
    /// reference may be bound there.
    ///
    /// `names` maps each name to whether all uses of it matter. The other names are returned only if a
    /// reference may be bound.
    pub fn names_in_text<'a>(
        &self,
        names: &HashMap<&'a str, bool>,
        source: &PreprocessedText,
    ) -> BTreeMap<&'a str, bool> {
        let mut found = BTreeMap::new();
        let code = source.code();
        for body in &self.bodies {
            let Some(inside) = code.get(body.begin..body.end.min(code.len())) else { continue };
            for word in tokens(inside).iter().filter(|token| token.is_word()) {
                let Some((&name, &always_matters)) = names.get_key_value(word.text) else { continue };
                let offset = body.begin + word.offset;
                let line_start = code[..offset].rfind('\n').map_or(0, |newline| newline + 1);
                let line = body.line + word.line - 1;
                let place = Position { line, col: (offset - line_start) as u32 + 1, offset: 0 };
                let is_attribute = code[..offset].ends_with("__attribute__((");
                if is_attribute || self.names(&place) {
                    continue;
                }
                let is_bound = text::may_be_bound(code, offset, name);
                if always_matters || is_bound {
                    *found.entry(name).or_default() |= is_bound;
                }
            }
        }
        found
    }
}

/// Returns the name of a class type without qualifiers, template arguments and array bounds.
pub fn class_name(ty: &str) -> String {
    let ty = ty.trim_start_matches("const ").trim_start_matches("struct ").trim_start_matches("class ");
    ty.split(['<', '[']).next().unwrap_or(ty).replace("(anonymous namespace)::", "")
}
