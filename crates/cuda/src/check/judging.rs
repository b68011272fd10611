//! Judges uses by the rule, and says what could not be decided.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::acts::Act;
use super::asking::{Answers, Question};
use super::ast::Place;
use super::source::{Readers, ReadersPlace, Source};
use super::text;
use super::uses::{Body, Use, Uses};
use super::variables::{TypeKind, Variable, Variables};
use super::witnesses::{BEFORE, Operand};
use super::{Finding, Fix, Undecided};
use crate::reading::{self, Readings};
use crate::rule::Key;

/// Why a use could not be decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Cause {
    Template,
    Initializer,
    LeftOut,
    Errors,
    Text,
}

impl Cause {
    const fn sentence(self) -> &'static str {
        match self {
            Cause::Template => "depend on the parameters of templates that are not instantiated",
            Cause::Initializer => {
                "read variables that are declared in a way that leaves no place to ask clang for their initialization"
            }
            Cause::LeftOut => "read variables that a declaration before may initialize which is left out",
            Cause::Errors => {
                "stand in expressions, or read variables with initializers, that clang does not understand"
            }
            Cause::Text => "stand in array bounds or template arguments that are too complicated to be read",
        }
    }
}

/// What is wrong with a use.
#[derive(Debug, Default)]
struct Broken {
    keys: Vec<Key>,
    /// The variable's identity, and where the last token of the expression is.
    id: String,
    last: Place,
    /// Whether nvcc accepts every one of the uses here.
    is_accepted: bool,
    /// Where a copy of this type would do: the first byte of the expression, and the first one behind it.
    copied: Option<(usize, usize, String)>,
}

/// Judges the uses of one translation unit.
pub struct Judge<'a> {
    variables: &'a Variables<'a>,
    readings: Readings,
    answers: Answers,
    /// What operands of constants are used for, by the offset of the name.
    operands: HashMap<usize, Act>,
    /// Variables with an initializer in the text and none in the tree.
    misread: HashSet<String>,
    findings: BTreeMap<(Place, String), Broken>,
    undecided: BTreeMap<(Cause, String), (usize, Place, String)>,
}

/// What a judge says: the violations and what could not be decided, with the line in the preprocessed text of each.
#[derive(Debug, Default)]
pub struct Judged {
    /// The violations, by place.
    pub findings: Vec<(u32, Finding)>,
    /// What could not be decided.
    pub undecided: Vec<(u32, Undecided)>,
}

/// The variables of which clang must be asked.
pub fn questions<'a>(
    uses: &Uses,
    variables: &'a Variables<'a>,
    readings: Readings,
    source: &Source,
) -> Vec<Question<'a>> {
    let mut wanted: HashSet<String> = HashSet::new();
    for used in &uses.uses {
        let open = matches!(used.act, Act::Value | Act::Copy | Act::Argument)
            && !used.is_constant
            && variables
                .get(&used.id)
                .is_some_and(|variable| variable.initializer.is_some() && !variable.is_plainly_constant());
        if open {
            wanted.insert(used.id.clone());
        }
    }
    // Where the tree does not show a name, only these can be violations, and what a reference is bound to.
    let is_suspect = |id: &str, variable: &Variable<'_>| {
        uses.by_argument.contains(id)
            || variable.is_volatile()
            || !is_valid(variables, variable, readings)
            || !variable.is_plainly_constant()
    };
    let mut names: HashMap<&str, bool> = HashMap::new();
    for (id, variable) in variables.covered() {
        *names.entry(variable.name).or_default() |= is_suspect(id, variable);
    }
    let unseen = uses.unseen(&names, source);
    let mut questions: Vec<Question<'a>> = variables
        .covered()
        .filter(|(id, variable)| {
            let is_unseen =
                unseen.get(variable.name).is_some_and(|&is_bound| is_bound || is_suspect(id, variable));
            wanted.contains(*id) || is_unseen
        })
        .map(|(id, variable)| Question { id, name: variable.name, places: variable.places.clone() })
        .collect();
    questions.sort_by(|one, other| one.places[0].cmp(other.places[0]));
    questions
}

/// Returns the operands of constants whose use only clang's tree decides: all that are not the whole constant.
pub fn operands<'a>(
    answers: &Answers,
    uses: &Uses,
    variables: &'a Variables<'a>,
    source: &Source,
) -> Vec<Operand<'a>> {
    let code = source.code();
    let mut operands: BTreeMap<usize, Operand<'a>> = BTreeMap::new();
    for (id, place) in answers.mentions.iter().filter(|(_, place)| !uses.names(place)) {
        let Some(variable) = variables.get(id) else { continue };
        let Some(offset) = source.offset(place.line, place.col) else { continue };
        let Some(body) = uses.body_around(offset) else { continue };
        if !code[offset..].starts_with(variable.name) {
            continue;
        }
        let is_whole = text::is_template_argument(code, offset, variable.name)
            || variable.kind() != TypeKind::Other && text::is_whole_bound(code, offset, variable.name);
        if is_whole {
            continue;
        }
        let mut begin = body.begin.saturating_sub(BEFORE);
        while !code.is_char_boundary(begin) {
            begin += 1;
        }
        let mut end = (body.end + 1).min(code.len());
        while !code.is_char_boundary(end) {
            end += 1;
        }
        operands.entry(offset).or_insert(Operand { offset, name: variable.name, around: (begin, end) });
    }
    operands.into_values().collect()
}

/// Whether the rule allows the value of a variable of this type.
fn is_valid(variables: &Variables<'_>, variable: &Variable<'_>, readings: Readings) -> bool {
    let has = |name: &str| variable.ty.contains(name);
    match variable.kind() {
        TypeKind::Integral => !(has("__int128") && readings.departs(reading::Question::ExtendedInteger)),
        TypeKind::Floating => {
            let is_long = has("long double");
            !readings.departs(reading::Question::HostCompiler)
                && (!is_long || !readings.departs(reading::Question::LongDouble))
        }
        TypeKind::Other => {
            readings.departs(reading::Question::Enumeration) && variables.is_enumeration(variable)
        }
    }
}

impl<'a> Judge<'a> {
    /// A judge that has these answers of clang, and knows what these operands of constants are used for.
    pub fn new(
        variables: &'a Variables<'a>,
        readings: Readings,
        answers: Answers,
        operands: HashMap<usize, Act>,
    ) -> Self {
        Judge {
            variables,
            readings,
            answers,
            operands,
            misread: HashSet::new(),
            findings: BTreeMap::new(),
            undecided: BTreeMap::new(),
        }
    }

    /// Judges all of them.
    pub fn judge(mut self, uses: &Uses, source: &Source, readers: &mut Readers<'_>) -> Judged {
        self.misread = self.misread(uses, source);
        for used in &uses.uses {
            let act = match used.act {
                Act::Argument => {
                    match uses.is_bound_by_name(source.code(), used.last.offset as usize, &used.name) {
                        Some(true) => Act::Address,
                        Some(false) => Act::Value,
                        None => Act::Unknown,
                    }
                }
                act => act,
            };
            self.report(&Use { act, ..used.clone() }, source);
        }
        self.mentions(uses, source);
        let mut judged = Judged::default();
        for ((place, variable), mut broken) in self.findings {
            let ReadersPlace { file, line, col, offset, is_exact, .. } = readers.place(source, &place);
            broken.keys.sort();
            // A macro may use it twice.
            let is_same = |(_, found): &(u32, Finding)| {
                found.line == line
                    && found.variable == variable
                    && found.file == file
                    && (!is_exact || found.column == col)
            };
            let index = judged.findings.iter().rposition(is_same);
            if let Some((_, same)) = index.and_then(|index| judged.findings.get_mut(index)) {
                same.keys.extend(broken.keys);
                same.keys.sort();
                same.keys.dedup();
                same.is_accepted &= broken.is_accepted;
                continue;
            }
            let fix = offset.zip(broken.copied).and_then(|(offset, (begin, end, ty))| {
                let name = source.code().get(begin..end).filter(|name| name.ends_with(&variable))?;
                let text = format!("static_cast<{ty}>({name})");
                (!name.contains('\n')).then_some(Fix { begin: offset, end: offset + (end - begin), text })
            });
            let last = readers.place(source, &broken.last);
            let end = if last.line == line && last.col >= col { last.col + last.length } else { col + 1 };
            let used = self.variables.get(&broken.id);
            let declared = used.and_then(|used| used.places.first()).map(|declared| {
                let ReadersPlace { file, line, col, .. } = readers.place(source, declared);
                (file, line, col)
            });
            let finding = Finding {
                text: readers.text(&file, line),
                file,
                line,
                column: col,
                end_column: end,
                declared,
                is_accepted: broken.is_accepted,
                is_enumeration: used.is_some_and(|used| self.variables.is_enumeration(used)),
                variable,
                keys: broken.keys,
                fix,
            };
            judged.findings.push((place.line, finding));
        }
        for ((cause, _), (count, first, variable)) in self.undecided {
            let ReadersPlace { file, line, col, .. } = readers.place(source, &first);
            let undecided = Undecided { file, line, column: col, variable, count, cause: cause.sentence() };
            judged.undecided.push((first.line, undecided));
        }
        judged
    }

    fn report(&mut self, used: &Use, source: &Source) {
        let Some(variable) = self.variables.get(&used.id) else { return };
        if variable.is_constexpr && self.readings.departs(reading::Question::ConstexprVariable) {
            return;
        }
        let mut say = |cause| self.say(cause, source, &used.place, &used.name);
        let keys = match used.act {
            Act::Nothing => return,
            Act::Misread => return say(Cause::Errors),
            Act::Value | Act::Copy if variable.is_open => return say(Cause::Template),
            Act::Argument | Act::Unknown => return say(Cause::Template),
            Act::Address => vec![Key::Address],
            Act::Value | Act::Copy => {
                let mut keys = match self.value_keys(variable, used) {
                    Ok(keys) => keys,
                    Err(cause) => return self.say(cause, source, &used.place, &used.name),
                };
                if used.act == Act::Copy {
                    keys.push(Key::Address);
                }
                keys
            }
        };
        if !keys.is_empty() {
            let copied = used.copied.filter(|_| {
                let is_before = variable.initializer.is_some_and(|(_, place)| place <= used.number);
                is_before
                    && variable.is_plainly_constant()
                    && !variable.is_volatile()
                    && is_valid(self.variables, variable, self.readings)
            });
            let ty = variable.ty.trim_start_matches("const ").to_owned();
            // nvcc copies and reads what it can evaluate, whatever its type.
            let is_copied = used.act == Act::Copy && variable.is_constexpr;
            let is_accepted =
                used.is_folded && (keys == [Key::InvalidType] || is_copied && keys[0] == Key::InvalidType);
            let broken = self.findings.entry((used.place.clone(), used.name.clone())).or_insert_with(|| {
                Broken { id: used.id.clone(), last: used.last.clone(), is_accepted, ..Broken::default() }
            });
            broken.is_accepted &= is_accepted;
            broken.keys.extend(keys);
            broken.keys.sort();
            broken.keys.dedup();
            broken.copied =
                copied.map(|(begin, end)| (begin, end, ty)).filter(|_| broken.keys == [Key::Address]);
        }
    }

    /// The used variables of which an error of clang has taken the initializer away.
    fn misread(&self, uses: &Uses, source: &Source) -> HashSet<String> {
        let mut misread = HashSet::new();
        let mut seen: HashSet<&str> = HashSet::new();
        for used in uses.uses.iter().filter(|used| matches!(used.act, Act::Value | Act::Copy)) {
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

    fn say(&mut self, cause: Cause, source: &Source, place: &Place, name: &str) {
        let entry = self.undecided.entry((cause, source.line(place.line).0.to_owned()));
        entry.or_insert_with(|| (0, place.clone(), name.to_owned())).0 += 1;
    }

    /// The messages about a use of the value; why not, where it cannot be decided.
    fn value_keys(&self, variable: &Variable<'_>, used: &Use) -> Result<Vec<Key>, Cause> {
        let mut keys = Vec::new();
        let not_before = || match self.variables.is_whole_before(used.number) {
            true => Ok(false),
            false => Err(Cause::LeftOut),
        };
        let is_constant = match variable.initializer {
            Some((_, place)) if place > used.number => not_before(),
            // An instantiation may have its initializer in the template only.
            None if used.is_constant || variable.is_constexpr => Ok(true),
            None if self.misread.contains(&used.id) => Err(Cause::Errors),
            None => not_before(),
            Some(_) if used.is_constant || variable.is_plainly_constant() => Ok(true),
            Some(_) => self.answers.constant.get(&used.id).copied().ok_or(Cause::Initializer),
        };
        if is_constant == Ok(false) {
            keys.push(Key::NotInitialized);
        }
        if variable.is_volatile() {
            keys.push(Key::Volatile);
        }
        if !is_valid(self.variables, variable, self.readings) {
            keys.push(Key::InvalidType);
        }
        // What is wrong anyway is said.
        if keys.is_empty() { is_constant.map(|_| keys) } else { Ok(keys) }
    }

    /// Array bounds, template arguments and the like: the tree does not show what they name, the text does.
    fn mentions(&mut self, uses: &Uses, source: &Source) {
        let code = source.code();
        let mut seen: HashSet<Place> = HashSet::new();
        for (id, place) in std::mem::take(&mut self.answers.mentions) {
            if uses.names(&place) || !seen.insert(place.clone()) {
                continue;
            }
            let Some(named) = self.variables.get(&id).map(|variable| variable.name) else { continue };
            let Some(offset) = source.offset(place.line, place.col) else { continue };
            let Some(body) = uses.body_around(offset) else { continue };
            if !code[offset..].starts_with(named) {
                self.say(Cause::Text, source, &place, named);
                continue;
            }
            let start = text::qualified_start(code, offset);
            let col = place.col - (offset - start) as u32;
            let last = Place { offset: offset as u32, ..place };
            let place = Place { col, offset: start as u32, ..last };
            // A member of a template is one in each instance.
            let variables = self.variables;
            let instances = variables.instances(&id);
            for &id in &instances {
                self.mention(uses, source, id, &instances, body, (&place, &last));
            }
        }
    }

    /// One variable that is named where the tree does not say so; its qualified name begins at the first place and ends with the
    /// word at the last one.
    fn mention(
        &mut self,
        uses: &Uses,
        source: &Source,
        id: &str,
        same: &[&str],
        body: &Body,
        (place, last): (&Place, &Place),
    ) {
        let offset = last.offset as usize;
        let (variables, code) = (self.variables, source.code());
        let Some(variable) = variables.get(id) else { return };
        let functions = text::Functions {
            passing: &|from, name| uses.passing(&body.scope, from, name),
            gets_object: &|name| uses.gets_object(variable.ty, name),
        };
        let act = match text::act_of_mention(code, offset, variable.name, &functions) {
            Some(Act::Copy)
                if text::is_template_argument(code, offset, variable.name)
                    && uses.is_bound_by_argument(code, offset, variable.name, same) =>
            {
                Some(Act::Address)
            }
            Some(Act::Nothing) => Some(Act::Nothing),
            _ if self.operands.contains_key(&offset) => self.operands.get(&offset).copied(),
            // A class is copied, anything else only read.
            Some(Act::Copy) if !variable.is_class() => Some(Act::Value),
            act => act,
        };
        // What is declared behind the code is named by a template's parameter there, or is a member of the class around.
        let is_behind = variable.places.first().is_some_and(|declared| declared.offset as usize > body.end);
        let number = if is_behind { u64::MAX } else { body.number };
        match act {
            Some(act) => {
                let unseen = Use::unseen(id, variable.name, act, place.clone(), last.clone(), number);
                self.report(&unseen, source);
            }
            None => self.say(Cause::Text, source, place, variable.name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::ast::Node;

    #[test]
    fn a_variable_that_something_left_out_may_initialize_is_undecided_behind_it_and_only_there() {
        let declared = r#"{"id": "1", "kind": "VarDecl", "name": "k", "type": {"qualType": "const int"}}"#;
        let declarations: [Node; 2] =
            [declared, r#"{"kind": "EmptyDecl"}"#].map(|text| serde_json::from_str(text).unwrap());
        let judged = |whole: Option<usize>, number: u64| {
            let variables = Variables::of(&declarations, whole);
            let mut uses = Uses::default();
            uses.uses.push(Use::unseen("1", "k", Act::Value, Place::default(), Place::default(), number));
            let (source, text_of) = (Source::default(), |_: &str| String::new());
            let (answers, operands) = (Answers::default(), HashMap::new());
            let judge = Judge::new(&variables, Readings::default(), answers, operands);
            let judged = judge.judge(&uses, &source, &mut Readers::new(&text_of));
            (judged.findings.len(), judged.undecided.len())
        };
        assert_eq!(judged(None, 2), (1, 0));
        assert_eq!(judged(Some(1), 1), (1, 0));
        assert_eq!(judged(Some(1), 2), (0, 1));
        assert_eq!(judged(Some(1), u64::MAX), (0, 1));
    }
}
