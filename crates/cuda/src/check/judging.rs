//! Judges uses by the rule, and reports the uses that could not be decided.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::ast::Position;
use super::queries::{QueryAnswers, VariableQuery};
use super::source::PreprocessedText;
use super::source_map::{SourceMap, WrittenPlace};
use super::text;
use super::use_kind::UseKind;
use super::uses::{DeviceCode, Use, Uses};
use super::variables::{ArithmeticKind, CppVariable, Variables};
use super::witnesses::{BEFORE, ConstantOperand};
use super::{Fix, UndecidedUses, Violation};
use crate::reading::{RuleInterpretations, RuleQuestion};
use crate::rule::Key;

/// The reason why a use could not be decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum UndecidedCause {
    /// The use depends on the parameters of a template without instances.
    Template,
    /// clang could not be asked about the variable's initializer.
    Initializer,
    /// A declaration that is left out may initialize the variable.
    LeftOut,
    /// clang does not understand the expression or the initializer.
    Errors,
    /// The text around the name is too complicated.
    Text,
}

impl UndecidedCause {
    /// The predicate of a sentence about the uses.
    const fn sentence(self) -> &'static str {
        match self {
            UndecidedCause::Template => "depend on the parameters of templates that are not instantiated",
            UndecidedCause::Initializer => {
                "read variables that are declared in a way that leaves no place to ask clang for their \
                 initialization"
            }
            UndecidedCause::LeftOut => {
                "read variables that a declaration before may initialize which is left out"
            }
            UndecidedCause::Errors => {
                "stand in expressions, or read variables with initializers, that clang does not understand"
            }
            UndecidedCause::Text => {
                "stand in array bounds or template arguments that are too complicated to be read"
            }
        }
    }
}

/// A violation at a place of the preprocessed text.
#[derive(Debug, Default)]
struct PendingViolation {
    keys: Vec<Key>,
    /// The identity of the variable.
    id: String,
    /// The place of the last token of the expression.
    last: Position,
    /// Whether nvcc accepts all uses at this place.
    is_accepted: bool,
    /// The range of the expression and the type, if a copy of that type could replace it.
    copied: Option<(usize, usize, String)>,
}

/// Judges the uses of one translation unit.
pub struct UseJudge<'a> {
    variables: &'a Variables<'a>,
    interpretations: RuleInterpretations,
    answers: QueryAnswers,
    /// The kinds of use of operands of constants, by the offset of the name.
    operands: HashMap<usize, UseKind>,
    /// The variables that have an initializer in the text but not in the tree.
    misread: HashSet<String>,
    /// The violations, by place and name of the variable.
    pending: BTreeMap<(Position, String), PendingViolation>,
    /// The undecided uses by cause and file: their number, and the place and the name of the first one.
    undecided: BTreeMap<(UndecidedCause, String), (usize, Position, String)>,
}

/// The violations and the undecided uses of a translation unit, each with its line in the preprocessed text.
#[derive(Debug, Default)]
pub struct JudgedUses {
    /// The violations, by place.
    pub findings: Vec<(u32, Violation)>,
    /// The undecided uses, by cause and file.
    pub undecided: Vec<(u32, UndecidedUses)>,
}

/// Returns the variables that clang must be asked about.
pub fn queries<'a>(
    uses: &Uses,
    variables: &'a Variables<'a>,
    interpretations: RuleInterpretations,
    source: &PreprocessedText,
) -> Vec<VariableQuery<'a>> {
    let mut wanted: HashSet<&str> = HashSet::new();
    for used in &uses.uses {
        let is_open = matches!(used.kind, UseKind::Value | UseKind::Copy | UseKind::Argument)
            && !used.is_constant
            && variables
                .get(&used.id)
                .is_some_and(|variable| variable.initializer.is_some() && !variable.is_plainly_constant());
        if is_open {
            wanted.insert(&used.id);
        }
    }
    let mut names: HashMap<&str, bool> = HashMap::new();
    for (id, variable) in variables.covered() {
        *names.entry(variable.name).or_default() |=
            is_suspect(id, variable, uses, variables, interpretations);
    }
    let in_text = uses.names_in_text(&names, source);
    let mut queries = Vec::new();
    for (id, variable) in variables.covered() {
        let is_in_text = in_text
            .get(variable.name)
            .is_some_and(|&is_bound| is_bound || is_suspect(id, variable, uses, variables, interpretations));
        if wanted.contains(id) || is_in_text {
            queries.push(VariableQuery { id, name: variable.name, places: variable.places.clone() });
        }
    }
    queries.sort_by(|one, other| one.places[0].cmp(other.places[0]));
    queries
}

/// Whether a use of the variable in a constant may be a violation although no reference is bound to it.
fn is_suspect(
    id: &str,
    variable: &CppVariable<'_>,
    uses: &Uses,
    variables: &Variables<'_>,
    interpretations: RuleInterpretations,
) -> bool {
    uses.by_argument.contains(id)
        || variable.is_volatile()
        || !has_valid_type(variables, variable, interpretations)
        || !variable.is_plainly_constant()
}

/// Returns the operands of constants that clang's tree must classify. A variable that is the whole constant
/// is not among them.
pub fn operands<'a>(
    answers: &QueryAnswers,
    uses: &Uses,
    variables: &'a Variables<'a>,
    source: &PreprocessedText,
) -> Vec<ConstantOperand<'a>> {
    let code = source.code();
    let mut operands: BTreeMap<usize, ConstantOperand<'a>> = BTreeMap::new();
    for (id, place) in answers.mentions.iter().filter(|(_, place)| !uses.names(place)) {
        let Some(variable) = variables.get(id) else { continue };
        let Some(offset) = source.offset(place.line, place.col) else { continue };
        let Some(body) = uses.body_around(offset) else { continue };
        if !code[offset..].starts_with(variable.name) {
            continue;
        }
        // A constant of a template may have a type only in the instances.
        let is_arithmetic = || {
            let instances = variables.instances(id).into_iter().filter_map(|id| variables.get(id));
            instances.map(CppVariable::kind).all(|kind| kind != ArithmeticKind::Other)
        };
        let is_whole = text::is_template_argument(code, offset, variable.name)
            || text::is_whole_bound(code, offset, variable.name) && is_arithmetic();
        if is_whole {
            continue;
        }
        let begin = char_boundary_from(code, body.begin.saturating_sub(BEFORE));
        let end = char_boundary_from(code, (body.end + 1).min(code.len()));
        operands.entry(offset).or_insert(ConstantOperand {
            offset,
            name: variable.name,
            around: (begin, end),
        });
    }
    operands.into_values().collect()
}

/// Returns the first offset from this one on where a character begins.
fn char_boundary_from(text: &str, mut offset: usize) -> usize {
    while !text.is_char_boundary(offset) {
        offset += 1;
    }
    offset
}

/// Whether the rule allows using the value of a variable of this type.
fn has_valid_type(
    variables: &Variables<'_>,
    variable: &CppVariable<'_>,
    interpretations: RuleInterpretations,
) -> bool {
    match variable.kind() {
        ArithmeticKind::Integral => {
            !(variable.ty.contains("__int128") && interpretations.departs(RuleQuestion::ExtendedInteger))
        }
        ArithmeticKind::Floating => {
            let is_long = variable.ty.contains("long double");
            !interpretations.departs(RuleQuestion::HostCompiler)
                && (!is_long || !interpretations.departs(RuleQuestion::LongDouble))
        }
        ArithmeticKind::Other => {
            interpretations.departs(RuleQuestion::Enumeration) && variables.is_enumeration(variable)
        }
    }
}

impl<'a> UseJudge<'a> {
    /// Creates a judge with clang's answers. `operands` are the kinds of use of operands of constants, by the
    /// offset of the name.
    pub fn new(
        variables: &'a Variables<'a>,
        interpretations: RuleInterpretations,
        answers: QueryAnswers,
        operands: HashMap<usize, UseKind>,
    ) -> Self {
        UseJudge {
            variables,
            interpretations,
            answers,
            operands,
            misread: HashSet::new(),
            pending: BTreeMap::new(),
            undecided: BTreeMap::new(),
        }
    }

    /// Judges all uses, and translates the places of violations into places of the user's files.
    pub fn judge(mut self, uses: &Uses, source: &PreprocessedText, map: &mut SourceMap<'_>) -> JudgedUses {
        self.misread = self.misread_variables(uses, source);
        for used in &uses.uses {
            let kind =
                if used.kind == UseKind::Argument { kind_of_argument(used, uses, source) } else { used.kind };
            self.judge_use(&Use { kind, ..used.clone() }, source);
        }
        self.judge_mentions(uses, source);
        let mut judged = JudgedUses::default();
        for ((place, variable), mut pending) in std::mem::take(&mut self.pending) {
            let written = map.place(source, &place);
            pending.keys.sort();
            if let Some((_, same)) = find_same(&mut judged.findings, &written, &variable) {
                same.keys.extend(pending.keys);
                same.keys.sort();
                same.keys.dedup();
                same.is_accepted &= pending.is_accepted;
            } else {
                let violation = self.violation(pending, variable, written, source, map);
                judged.findings.push((place.line, violation));
            }
        }
        for ((cause, _), (count, first, variable)) in self.undecided {
            let WrittenPlace { file, line, col, .. } = map.place(source, &first);
            let undecided =
                UndecidedUses { file, line, column: col, variable, count, cause: cause.sentence() };
            judged.undecided.push((first.line, undecided));
        }
        judged
    }

    /// Turns a violation at a place of the preprocessed text into one at the written place.
    fn violation(
        &self,
        pending: PendingViolation,
        variable: String,
        written: WrittenPlace,
        source: &PreprocessedText,
        map: &mut SourceMap<'_>,
    ) -> Violation {
        let WrittenPlace { file, line, col, offset, .. } = written;
        let fix = offset.zip(pending.copied).and_then(|(offset, (begin, end, ty))| {
            let name = source.code().get(begin..end).filter(|name| name.ends_with(&variable))?;
            let text = format!("static_cast<{ty}>({name})");
            (!name.contains('\n')).then_some(Fix { begin: offset, end: offset + (end - begin), text })
        });
        let last = map.place(source, &pending.last);
        let is_after = last.line == line && last.col >= col;
        let used = self.variables.get(&pending.id);
        let declared = used.and_then(|used| used.places.first()).map(|declared| {
            let WrittenPlace { file, line, col, .. } = map.place(source, declared);
            (file, line, col)
        });
        Violation {
            text: map.text(&file, line),
            file,
            line,
            column: col,
            end_column: if is_after { last.col + last.length } else { col + 1 },
            declared,
            is_accepted: pending.is_accepted,
            is_enumeration: used.is_some_and(|used| self.variables.is_enumeration(used)),
            variable,
            keys: pending.keys,
            fix,
        }
    }

    /// Judges one use. Records a violation or an undecided use, or nothing.
    fn judge_use(&mut self, used: &Use, source: &PreprocessedText) {
        let Some(variable) = self.variables.get(&used.id) else { return };
        if variable.is_constexpr && self.interpretations.departs(RuleQuestion::ConstexprVariable) {
            return;
        }
        let result = match used.kind {
            UseKind::Nothing => return,
            UseKind::Misread => Err(UndecidedCause::Errors),
            UseKind::Value | UseKind::Copy if variable.is_open => Err(UndecidedCause::Template),
            UseKind::Argument | UseKind::Unknown => Err(UndecidedCause::Template),
            UseKind::Address => Ok(vec![Key::Address]),
            UseKind::Value => self.value_keys(variable, used),
            UseKind::Copy => self.value_keys(variable, used).map(|mut keys| {
                keys.push(Key::Address);
                keys
            }),
        };
        match result {
            Ok(keys) if keys.is_empty() => {}
            Ok(keys) => self.add_violation(used, variable, keys),
            Err(cause) => self.add_undecided(cause, source, &used.place, &used.name),
        }
    }

    fn add_violation(&mut self, used: &Use, variable: &CppVariable<'_>, keys: Vec<Key>) {
        let is_initialized_before = variable.initializer.is_some_and(|(_, place)| place <= used.number);
        let is_copy_allowed = is_initialized_before
            && variable.is_plainly_constant()
            && !variable.is_volatile()
            && has_valid_type(self.variables, variable, self.interpretations);
        // nvcc copies and reads everything that it can evaluate, whatever its type.
        let is_copied = used.kind == UseKind::Copy && variable.is_constexpr;
        let is_accepted =
            used.is_folded && (keys == [Key::InvalidType] || is_copied && keys[0] == Key::InvalidType);
        let pending =
            self.pending.entry((used.place.clone(), used.name.clone())).or_insert_with(|| PendingViolation {
                id: used.id.clone(),
                last: used.last.clone(),
                is_accepted,
                ..PendingViolation::default()
            });
        pending.is_accepted &= is_accepted;
        pending.keys.extend(keys);
        pending.keys.sort();
        pending.keys.dedup();
        let ty = variable.ty.trim_start_matches("const ");
        pending.copied = used
            .copied
            .filter(|_| is_copy_allowed && pending.keys == [Key::Address])
            .map(|(begin, end)| (begin, end, ty.to_owned()));
    }

    /// Returns the used variables whose initializers are missing in the tree because of clang's errors.
    fn misread_variables(&self, uses: &Uses, source: &PreprocessedText) -> HashSet<String> {
        let mut misread = HashSet::new();
        let mut seen: HashSet<&str> = HashSet::new();
        for used in uses.uses.iter().filter(|used| matches!(used.kind, UseKind::Value | UseKind::Copy)) {
            let Some(variable) = self.variables.get(&used.id) else { continue };
            if variable.initializer.is_some() || variable.is_constexpr || !seen.insert(&used.id) {
                continue;
            }
            let is_initialized = variable
                .places
                .iter()
                .any(|place| text::has_initializer(source.code(), place.offset as usize, variable.name));
            if is_initialized {
                misread.insert(used.id.clone());
            }
        }
        misread
    }

    fn add_undecided(
        &mut self,
        cause: UndecidedCause,
        source: &PreprocessedText,
        place: &Position,
        name: &str,
    ) {
        let entry = self.undecided.entry((cause, source.line(place.line).0.to_owned()));
        entry.or_insert_with(|| (0, place.clone(), name.to_owned())).0 += 1;
    }

    /// Returns the messages about a use of the value. If one applies in any case, such as that of a volatile
    /// variable, undecided conditions are left out; if none does, they are the error.
    fn value_keys(&self, variable: &CppVariable<'_>, used: &Use) -> Result<Vec<Key>, UndecidedCause> {
        let is_initialized = self.is_initialized(variable, used);
        let mut keys = Vec::new();
        if is_initialized == Ok(false) {
            keys.push(Key::NotInitialized);
        }
        if variable.is_volatile() {
            keys.push(Key::Volatile);
        }
        if !has_valid_type(self.variables, variable, self.interpretations) {
            keys.push(Key::InvalidType);
        }
        // Other messages apply regardless of the initialization.
        if keys.is_empty() { is_initialized.map(|_| keys) } else { Ok(keys) }
    }

    /// Whether a constant expression has initialized the variable before the use.
    fn is_initialized(&self, variable: &CppVariable<'_>, used: &Use) -> Result<bool, UndecidedCause> {
        match variable.initializer {
            Some((_, place)) if place > used.number => self.not_initialized(used),
            // The initializer of an instance may be in the template only.
            None if used.is_constant || variable.is_constexpr => Ok(true),
            None if self.misread.contains(&used.id) => Err(UndecidedCause::Errors),
            None => self.not_initialized(used),
            Some(_) if used.is_constant || variable.is_plainly_constant() => Ok(true),
            Some(_) => self.answers.constant.get(&used.id).copied().ok_or(UndecidedCause::Initializer),
        }
    }

    /// Returns false, unless a declaration that is left out may initialize the variable before the use.
    fn not_initialized(&self, used: &Use) -> Result<bool, UndecidedCause> {
        if self.variables.is_whole_before(used.number) { Ok(false) } else { Err(UndecidedCause::LeftOut) }
    }

    /// Judges the uses that the tree does not show, such as those in array bounds and template arguments.
    fn judge_mentions(&mut self, uses: &Uses, source: &PreprocessedText) {
        let code = source.code();
        let mut seen: HashSet<Position> = HashSet::new();
        for (id, place) in std::mem::take(&mut self.answers.mentions) {
            if uses.names(&place) || !seen.insert(place.clone()) {
                continue;
            }
            let Some(name) = self.variables.get(&id).map(|variable| variable.name) else { continue };
            let Some(offset) = source.offset(place.line, place.col) else { continue };
            let Some(body) = uses.body_around(offset) else { continue };
            if !code[offset..].starts_with(name) {
                self.add_undecided(UndecidedCause::Text, source, &place, name);
                continue;
            }
            let start = text::qualified_start(code, offset);
            let mention = Mention {
                place: Position { col: place.col - (offset - start) as u32, offset: start as u32, ..place },
                last: Position { offset: offset as u32, ..place },
                body,
            };
            let variables = self.variables;
            let instances = variables.instances(&id);
            for &id in &instances {
                self.judge_mention(uses, source, id, &instances, &mention);
            }
        }
    }

    /// Judges a use of the variable `id`, one of the `instances` that the name stands for.
    fn judge_mention(
        &mut self,
        uses: &Uses,
        source: &PreprocessedText,
        id: &str,
        instances: &[&str],
        mention: &Mention<'_>,
    ) {
        let variables = self.variables;
        let Some(variable) = variables.get(id) else { return };
        let Mention { place, last, body } = mention;
        // A variable that is declared behind the code is named by a parameter of a template, or is a member
        // of the class around the code.
        let is_behind = variable.places.first().is_some_and(|declared| declared.offset as usize > body.end);
        let number = if is_behind { u64::MAX } else { body.number };
        match self.kind_of_mention(uses, source, variable, instances, mention) {
            Some(kind) => {
                let used = Use::in_text(id, variable.name, kind, place.clone(), last.clone(), number);
                self.judge_use(&used, source);
            }
            None => self.add_undecided(UndecidedCause::Text, source, place, variable.name),
        }
    }

    /// Classifies a use that the tree does not show; `None` if neither the text nor clang's answers decide.
    fn kind_of_mention(
        &self,
        uses: &Uses,
        source: &PreprocessedText,
        variable: &CppVariable<'_>,
        instances: &[&str],
        mention: &Mention<'_>,
    ) -> Option<UseKind> {
        let code = source.code();
        let offset = mention.last.offset as usize;
        let functions = text::KnownFunctions {
            passing: &|from, name| uses.passing(&mention.body.scope, from, name),
            gets_object: &|name| uses.gets_object(variable.ty, name),
        };
        match text::kind_of_mention(code, offset, variable.name, &functions) {
            Some(UseKind::Copy)
                if text::is_template_argument(code, offset, variable.name)
                    && uses.is_bound_by_argument(code, offset, variable.name, instances) =>
            {
                Some(UseKind::Address)
            }
            Some(UseKind::Nothing) => Some(UseKind::Nothing),
            _ if self.operands.contains_key(&offset) => self.operands.get(&offset).copied(),
            // Only an object of a class is copied; the value of any other variable is read.
            Some(UseKind::Copy) if !variable.is_class() => Some(UseKind::Value),
            kind => kind,
        }
    }
}

/// A name of a variable that the text shows and the tree does not.
struct Mention<'a> {
    /// The beginning of the qualified name.
    place: Position,
    /// The last word of the name.
    last: Position,
    /// The device code around the name.
    body: &'a DeviceCode,
}

/// Classifies a template argument by all templates with the name before it.
fn kind_of_argument(used: &Use, uses: &Uses, source: &PreprocessedText) -> UseKind {
    match uses.is_bound_by_name(source.code(), used.last.offset as usize, &used.name) {
        Some(true) => UseKind::Address,
        Some(false) => UseKind::Value,
        None => UseKind::Unknown,
    }
}

/// Finds a violation that was reported at the same place for the same variable. A macro that uses a variable
/// twice has both uses at its own place.
fn find_same<'f>(
    findings: &'f mut [(u32, Violation)],
    written: &WrittenPlace,
    variable: &str,
) -> Option<&'f mut (u32, Violation)> {
    findings.iter_mut().rev().find(|(_, found)| {
        found.line == written.line
            && found.variable == variable
            && found.file == written.file
            && (!written.is_exact || found.column == written.col)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::ast::AstNode;

    #[test]
    fn a_use_behind_a_left_out_declaration_is_undecided_if_that_may_initialize_the_variable() {
        let declared = r#"{"id": "1", "kind": "VarDecl", "name": "k", "type": {"qualType": "const int"}}"#;
        let declarations: [AstNode; 2] =
            [declared, r#"{"kind": "EmptyDecl"}"#].map(|text| serde_json::from_str(text).unwrap());
        let judged = |whole: Option<usize>, number: u64| {
            let variables = Variables::collect(&declarations, whole);
            let mut uses = Uses::default();
            uses.uses.push(Use::in_text(
                "1",
                "k",
                UseKind::Value,
                Position::default(),
                Position::default(),
                number,
            ));
            let (source, text_of) = (PreprocessedText::default(), |_: &str| String::new());
            let (answers, operands) = (QueryAnswers::default(), HashMap::new());
            let judge = UseJudge::new(&variables, RuleInterpretations::default(), answers, operands);
            let judged = judge.judge(&uses, &source, &mut SourceMap::new(&text_of));
            (judged.findings.len(), judged.undecided.len())
        };
        assert_eq!(judged(None, 2), (1, 0));
        assert_eq!(judged(Some(1), 1), (1, 0));
        assert_eq!(judged(Some(1), 2), (0, 1));
        assert_eq!(judged(Some(1), u64::MAX), (0, 1));
    }
}
