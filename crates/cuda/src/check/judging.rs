//! Judges uses by the rule, and says what could not be decided.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::acts::Act;
use super::asking::{Answers, Question};
use super::ast::Place;
use super::text;
use super::uses::{Body, Use, Uses};
use super::variables::{TypeKind, Variable, Variables};
use super::{Finding, Fix, Undecided};
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
                "read variables that a macro declares, so that clang cannot be asked for their initialization"
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
    /// Where a copy of this type would do: the first byte of the expression, and the first one behind it.
    copied: Option<(usize, usize, String)>,
}

/// Judges the uses of one translation unit.
pub struct Judge<'a> {
    variables: &'a Variables<'a>,
    microsoft: bool,
    answers: Answers,
    /// Variables with an initializer in the text and none in the tree.
    misread: HashSet<String>,
    findings: BTreeMap<(Place, String), Broken>,
    undecided: BTreeMap<(Cause, String), (usize, Place, String)>,
}

/// The variables of which clang must be asked.
pub fn questions<'a>(
    uses: &Uses,
    variables: &'a Variables<'a>,
    microsoft: bool,
    text_of: &dyn Fn(&str) -> String,
) -> Vec<Question<'a>> {
    let mut wanted: HashSet<String> = HashSet::new();
    for used in &uses.uses {
        let open = matches!(used.act, Act::Value | Act::Copy)
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
            || !is_valid(variable, microsoft)
            || !variable.is_plainly_constant()
    };
    let mut names: HashMap<&str, bool> = HashMap::new();
    for (id, variable) in variables.covered() {
        *names.entry(variable.name).or_default() |= is_suspect(id, variable);
    }
    let unseen = uses.unseen(&names, text_of);
    let mut questions: Vec<Question<'a>> = variables
        .covered()
        .filter(|(id, variable)| {
            let is_unseen =
                unseen.get(variable.name).is_some_and(|&is_bound| is_bound || is_suspect(id, variable));
            wanted.contains(*id) || is_unseen
        })
        .map(|(id, variable)| Question { id, name: variable.name, places: variable.places.clone() })
        .collect();
    questions.sort_by(|one, other| one.places[0].place().cmp(other.places[0].place()));
    questions
}

fn is_valid(variable: &Variable<'_>, microsoft: bool) -> bool {
    match variable.kind() {
        TypeKind::Integral => true,
        TypeKind::Floating => !microsoft,
        TypeKind::Other => false,
    }
}

impl<'a> Judge<'a> {
    /// A judge that has these answers of clang.
    pub fn new(variables: &'a Variables<'a>, microsoft: bool, answers: Answers) -> Self {
        Judge {
            variables,
            microsoft,
            answers,
            misread: HashSet::new(),
            findings: BTreeMap::new(),
            undecided: BTreeMap::new(),
        }
    }

    /// Judges all of them.
    pub fn judge(mut self, uses: &Uses, text_of: &dyn Fn(&str) -> String) -> (Vec<Finding>, Vec<Undecided>) {
        self.misread = self.misread(uses, text_of);
        for used in &uses.uses {
            self.report(used);
        }
        self.mentions(uses, text_of);
        let findings =
            self.findings.into_iter().map(|((place, variable), Broken { keys, copied })| Finding {
                fix: copied.and_then(|(begin, end, ty)| {
                    let text = text_of(&place.file);
                    let name = text
                        .get(begin..end)
                        .filter(|name| name.ends_with(&variable) && !name.contains('\n'))?;
                    Some(Fix { begin, end, text: format!("static_cast<{ty}>({name})") })
                }),
                file: place.file,
                line: place.line,
                column: place.col,
                variable,
                keys,
            });
        let undecided = self.undecided.into_iter().map(|((cause, file), (count, first, name))| Undecided {
            file,
            line: first.line,
            column: first.col,
            variable: name,
            count,
            cause: cause.sentence(),
        });
        (findings.collect(), undecided.collect())
    }

    fn report(&mut self, used: &Use) {
        let Some(variable) = self.variables.get(&used.id) else { return };
        let keys = match used.act {
            Act::Nothing => return,
            Act::Misread => return self.say(Cause::Errors, &used.place, &used.name),
            Act::Unknown => return self.say(Cause::Template, &used.place, &used.name),
            Act::Address => vec![Key::Address],
            Act::Value | Act::Copy => {
                let mut keys = match self.value_keys(variable, used) {
                    Ok(keys) => keys,
                    Err(cause) => return self.say(cause, &used.place, &used.name),
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
                    && is_valid(variable, self.microsoft)
            });
            let ty = variable.ty.trim_start_matches("const ").to_owned();
            let broken = self.findings.entry((used.place.clone(), used.name.clone())).or_default();
            broken.keys.extend(keys);
            broken.keys.sort();
            broken.keys.dedup();
            broken.copied =
                copied.map(|(begin, end)| (begin, end, ty)).filter(|_| broken.keys == [Key::Address]);
        }
    }

    /// The used variables of which an error of clang has taken the initializer away.
    fn misread(&self, uses: &Uses, text_of: &dyn Fn(&str) -> String) -> HashSet<String> {
        let mut texts: HashMap<&str, String> = HashMap::new();
        let mut misread = HashSet::new();
        let mut seen: HashSet<&str> = HashSet::new();
        for used in uses.uses.iter().filter(|used| matches!(used.act, Act::Value | Act::Copy)) {
            let Some(variable) = self.variables.get(&used.id) else { continue };
            if variable.initializer.is_some() || variable.is_constexpr || !seen.insert(&used.id) {
                continue;
            }
            let is_initialized = variable.places.iter().filter(|place| !place.is_in_macro()).any(|place| {
                let place = place.place();
                let text = texts.entry(&place.file).or_insert_with(|| text_of(&place.file));
                text::has_initializer(text, place.offset as usize, variable.name)
            });
            if is_initialized {
                misread.insert(used.id.clone());
            }
        }
        misread
    }

    fn say(&mut self, cause: Cause, place: &Place, name: &str) {
        let entry = self.undecided.entry((cause, place.file.clone()));
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
        if !is_valid(variable, self.microsoft) {
            keys.push(Key::InvalidType);
        }
        // What is wrong anyway is said.
        if keys.is_empty() { is_constant.map(|_| keys) } else { Ok(keys) }
    }

    /// Array bounds, template arguments and the like: the tree does not show what they name, the text does.
    fn mentions(&mut self, uses: &Uses, text_of: &dyn Fn(&str) -> String) {
        let mut texts: HashMap<String, String> = HashMap::new();
        let mut seen: HashSet<Place> = HashSet::new();
        // An instantiation stands where its template does.
        let place_of = |id: &String| Some(self.variables.get(id)?.places.first()?.place());
        let by_argument: HashSet<&Place> = uses.by_argument.iter().filter_map(place_of).collect();
        for (id, place) in std::mem::take(&mut self.answers.mentions) {
            if uses.names(&place) || !seen.insert(place.clone()) {
                continue;
            }
            let Some(variable) = self.variables.get(&id) else { continue };
            let text = &*texts.entry(place.file.clone()).or_insert_with(|| text_of(&place.file));
            let Some(offset) = offset(text, place.line, place.col) else { continue };
            let is_in = |body: &&Body| body.file == place.file && (body.begin..=body.end).contains(&offset);
            let Some(body) = uses.bodies.iter().find(is_in) else { continue };
            if !text[offset..].starts_with(variable.name) {
                continue;
            }
            let whole = text::is_template_argument(text, offset, variable.name);
            let functions = text::Functions {
                passing: &|from, name| uses.passing(&body.scope, from, name),
                gets_object: &|name| uses.gets_object(variable.ty, name),
            };
            let act = match text::act_of_mention(text, offset, variable.name, &functions) {
                // A class is copied, anything else only read.
                Some(Act::Copy)
                    if whole && place_of(&id).is_some_and(|place| by_argument.contains(place)) =>
                {
                    Some(Act::Address)
                }
                Some(Act::Copy) if !variable.is_class() => Some(Act::Value),
                act => act,
            };
            let start = text::qualified_start(text, offset);
            let col = place.col - (offset - start) as u32;
            let place = Place { col, offset: start as u32, ..place };
            // What is declared behind the code is named by a template's parameter there, or is a member of the class around.
            let is_behind = variable.places.first().is_some_and(|declared| {
                let declared = declared.place();
                declared.file == body.file && declared.offset as usize > body.end
            });
            let number = if is_behind { u64::MAX } else { body.number };
            match act {
                Some(act) => self.report(&Use::unseen(&id, variable.name, act, place, number)),
                None => self.say(Cause::Text, &place, variable.name),
            }
        }
    }
}

/// The offset of a line and a column.
fn offset(text: &str, line: u32, col: u32) -> Option<usize> {
    let mut start = 0;
    for _ in 1..line {
        start += text[start..].find('\n')? + 1;
    }
    let offset = start + col as usize - 1;
    text.is_char_boundary(offset).then_some(offset)
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
            uses.uses.push(Use::unseen("1", "k", Act::Value, Place::default(), number));
            let (findings, undecided) =
                Judge::new(&variables, false, Answers::default()).judge(&uses, &|_| String::new());
            (findings.len(), undecided.len())
        };
        assert_eq!(judged(None, 2), (1, 0));
        assert_eq!(judged(Some(1), 1), (1, 0));
        assert_eq!(judged(Some(1), 2), (0, 1));
        assert_eq!(judged(Some(1), u64::MAX), (0, 1));
    }
}
