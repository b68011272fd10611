//! Derives the verdict for a case from the rule's text alone.
//!
//! Every decision records its clause and, where the text is ambiguous, the question that it depends on. Nothing here is
//! derived from the behaviour of a compiler.

use crate::language::{
    Annotation, Case, Category, Order, Place, Qualifier, Site, Step, Value,
    constant::{self, Constness},
};
use crate::reading::{Question, Readings};
use crate::rule::{Clause, Key};

/// The rule's verdict on the use in a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The use is allowed.
    Allowed,
    /// The use is forbidden. Lists the messages that apply, the primary one first; never empty.
    Forbidden(Vec<Key>),
    /// The rule does not apply to the use.
    Silent(Silence),
}

/// The reason why the rule does not apply to a use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Silence {
    /// The use is in host code, or in code that the interpretation does not count as device code.
    HostCode,
    /// The variable has an execution-space annotation.
    Annotated,
    /// The variable is local: neither of namespace scope nor a static member.
    Local,
    /// The variable is `constexpr`, and the interpretation exempts such variables.
    Constexpr,
    /// The variable's type is not const-qualified. Other rules of CUDA forbid such uses.
    NotConst,
}

impl Verdict {
    /// Whether a conforming implementation rejects the use; `None` if the rule requires nothing here.
    pub fn refuses(&self) -> Option<bool> {
        match self {
            Verdict::Allowed => Some(false),
            Verdict::Forbidden(_) => Some(true),
            // Other rules of CUDA may forbid the use of a variable that is not const.
            Verdict::Silent(Silence::NotConst) => None,
            // The other silent cases are ordinary CUDA C++, which a compiler must accept.
            Verdict::Silent(_) => Some(false),
        }
    }

    /// The primary message; `None` unless the use is forbidden.
    pub fn primary(&self) -> Option<Key> {
        match self {
            Verdict::Forbidden(keys) => keys.first().copied(),
            _ => None,
        }
    }
}

/// A verdict with the clauses and open questions that led to it.
#[derive(Clone, Debug, PartialEq)]
pub struct Expectation {
    /// The verdict.
    pub verdict: Verdict,
    /// The clauses that the verdict is based on.
    pub clauses: Vec<Clause>,
    /// The open questions that the verdict may depend on, in the order in which they arose.
    pub questions: Vec<Question>,
    /// The value that an allowed use reads; `None` if the use is not allowed or reads no value.
    pub value: Option<Value>,
}

/// Judges the use in `case` under these interpretations.
pub fn judge(case: &Case, readings: Readings) -> Expectation {
    let mut judge = Judge { case, readings, clauses: Vec::new(), questions: Vec::new(), read: false };
    let verdict = judge.verdict();
    let value = match verdict {
        Verdict::Allowed if judge.read => constant::of(&case.declaration).value(),
        _ => None,
    };
    Expectation { verdict, clauses: judge.clauses, questions: judge.questions, value }
}

/// Returns every combination of interpretations that can affect this case, sorted by the number of departures from the
/// literal text, so `base` comes first.
///
/// Varies only questions that come up while the case is judged. [`Question::HostCompiler`] is never varied: it is a
/// setting, not an ambiguity.
pub fn readings_met(case: &Case, base: Readings) -> Vec<Readings> {
    let mut met: Vec<Question> = Vec::new();
    let mut combinations = vec![base];
    let mut next = 0;
    while next < combinations.len() {
        for question in judge(case, combinations[next]).questions {
            if question != Question::HostCompiler && !met.contains(&question) {
                met.push(question);
                let more: Vec<_> = combinations.iter().map(|readings| readings.with(question)).collect();
                combinations.extend(more);
            }
        }
        next += 1;
    }
    combinations.sort_by_key(|readings| (readings.len(), *readings));
    combinations.dedup();
    combinations
}

/// Whether the rule's text alone decides the case: all interpretations give the same verdict and primary message.
pub fn is_clear(case: &Case, base: Readings) -> bool {
    let literal = judge(case, base).verdict;
    readings_met(case, base).into_iter().all(|readings| {
        let verdict = judge(case, readings).verdict;
        verdict.refuses() == literal.refuses() && verdict.primary() == literal.primary()
    })
}

/// The effect of a use on the variable, as far as the rule distinguishes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Act {
    /// Nothing that the rule restricts.
    Nothing,
    /// Uses the value.
    Value,
    /// Refers to the variable or takes its address.
    Address,
    /// Copies the variable with a constructor: uses the value through a reference.
    Copy,
}

struct Judge<'a> {
    case: &'a Case,
    readings: Readings,
    clauses: Vec<Clause>,
    questions: Vec<Question>,
    read: bool,
}

impl Judge<'_> {
    /// Records that the verdict depends on `question`; returns whether the answer departs from the literal text.
    fn departs(&mut self, question: Question) -> bool {
        if !self.questions.contains(&question) {
            self.questions.push(question);
        }
        self.readings.departs(question)
    }

    fn rests_on(&mut self, clause: Clause) {
        if !self.clauses.contains(&clause) {
            self.clauses.push(clause);
        }
    }

    fn verdict(&mut self) -> Verdict {
        if let Some(silence) = self.silence() {
            return Verdict::Silent(silence);
        }
        let keys = match self.act() {
            Act::Nothing => Vec::new(),
            Act::Value => self.value_keys(),
            Act::Address => vec![self.broken(Key::Address)],
            Act::Copy => {
                let mut keys = self.value_keys();
                keys.push(self.broken(Key::Address));
                keys
            }
        };
        if keys.is_empty() { Verdict::Allowed } else { Verdict::Forbidden(keys) }
    }

    fn broken(&mut self, key: Key) -> Key {
        self.rests_on(key.clause());
        key
    }

    /// Returns why the rule does not apply to the use; `None` if it applies.
    fn silence(&mut self) -> Option<Silence> {
        let declaration = &self.case.declaration;
        self.rests_on(Clause::HostVariable);
        if declaration.qualifier == Qualifier::None {
            return Some(Silence::NotConst);
        }
        if declaration.annotation != Annotation::None {
            return Some(Silence::Annotated);
        }
        if declaration.site == Site::Local {
            return Some(Silence::Local);
        }
        self.rests_on(Clause::Scope);
        let host = match self.case.place {
            Place::Host | Place::HostLambda | Place::HostTemplate | Place::HostMember => true,
            Place::Discarded | Place::DiscardedInTemplate => self.departs(Question::Discarded),
            Place::DeadBranch => self.departs(Question::Unreached),
            Place::Uncalled => self.departs(Question::Uncalled),
            Place::Uninstantiated => self.departs(Question::Uninstantiated),
            Place::DefaultArgument | Place::MemberInitializer => self.departs(Question::Elsewhere),
            Place::VariableInitializer => self.departs(Question::DeviceInitializer),
            Place::Device
            | Place::Global
            | Place::HostDevice
            | Place::Lambda
            | Place::Member
            | Place::StaticMember
            | Place::OwnMember
            | Place::OwnMemberBefore
            | Place::Template
            | Place::Dependent
            | Place::DependentBefore => false,
        };
        if host {
            return Some(Silence::HostCode);
        }
        if declaration.qualifier == Qualifier::Constexpr && self.departs(Question::ConstexprVariable) {
            return Some(Silence::Constexpr);
        }
        None
    }

    /// Classifies the use, from the expression that names the variable outwards.
    fn act(&mut self) -> Act {
        let form = self.case.form;
        if form.unevaluated {
            if !self.departs(Question::Unevaluated) {
                return Act::Nothing;
            }
            // Under this interpretation even a bare mention counts; one that reads nothing counts as a reference.
            return match self.walk(form.steps) {
                Act::Nothing => Act::Address,
                act => act,
            };
        }
        self.walk(form.steps)
    }

    fn walk(&mut self, steps: &[Step]) -> Act {
        let volatile = self.case.declaration.qualifier == Qualifier::ConstVolatile;
        // The use ends in a read, so an address or a reference on the way only serves to read the value.
        let transient = matches!(steps.last(), Some(Step::Read));
        let mut element = false;
        for step in steps {
            match step {
                Step::Same | Step::Member | Step::Dereference => {}
                Step::Element => element = true,
                Step::Read if element => {
                    return if self.departs(Question::ElementAccess) { Act::Address } else { Act::Value };
                }
                Step::Read => return Act::Value,
                Step::Copy => return Act::Copy,
                // A discarded-value expression reads a scalar only if it is volatile, since that read is a side effect. It
                // never reads an array.
                Step::Discard if volatile && self.case.declaration.ty.is_scalar() => return Act::Value,
                Step::Discard => {
                    return if self.departs(Question::DiscardedValue) { Act::Value } else { Act::Nothing };
                }
                Step::CastReference | Step::AddressOf if transient => {
                    if !self.departs(Question::Transient) {
                        return Act::Address;
                    }
                }
                Step::Decay if transient => {
                    if self.departs(Question::ElementAccess) {
                        return Act::Address;
                    }
                }
                Step::Bind | Step::CastReference | Step::AddressOf | Step::Decay | Step::Call => {
                    return Act::Address;
                }
            }
        }
        Act::Nothing
    }

    /// Checks the three conditions on a use of the value, and returns a message for each violated condition.
    fn value_keys(&mut self) -> Vec<Key> {
        self.read = true;
        let mut keys = Vec::new();
        self.rests_on(Clause::Initialized);
        if !self.is_initialized() {
            keys.push(Key::NotInitialized);
        }
        self.rests_on(Clause::NotVolatile);
        if self.case.declaration.qualifier == Qualifier::ConstVolatile {
            keys.push(Key::Volatile);
        }
        self.rests_on(Clause::Type);
        if !self.is_valid_type() {
            keys.push(Key::InvalidType);
        }
        keys
    }

    fn is_initialized(&mut self) -> bool {
        let declaration = &self.case.declaration;
        // A dependent name is resolved at the instantiation, so the use counts as being there.
        let dependent = matches!(self.case.place, Place::Dependent | Place::DependentBefore);
        let before = match declaration.order {
            Order::AtDeclaration | Order::DefinedBefore => true,
            Order::BeforeInstantiation if dependent => true,
            Order::BeforeInstantiation => self.departs(Question::TemplateUse),
            // The end of the translation unit is also a point of instantiation, and the definition comes before it.
            Order::DefinedAfter if dependent || self.case.place == Place::Template => {
                self.departs(Question::TemplateUse)
            }
            Order::DefinedAfter | Order::Elsewhere => false,
        };
        let before =
            before && !(self.case.place == Place::OwnMemberBefore && self.departs(Question::ClassContext));
        before
            && match constant::of(declaration) {
                Constness::Constant(_) => true,
                Constness::Folded(_) => self.departs(Question::Folding),
                Constness::RunTime => false,
            }
    }

    fn is_valid_type(&mut self) -> bool {
        match self.case.declaration.ty.category() {
            Category::Integral { .. } => true,
            Category::Extended { .. } => !self.departs(Question::ExtendedInteger),
            Category::Floating(_) => !self.is_excepted(),
            Category::LongDouble => !self.is_excepted() && !self.departs(Question::LongDouble),
            Category::Enumeration { .. } => self.departs(Question::Enumeration),
            Category::Pointer
            | Category::NullPointer
            | Category::MemberPointer
            | Category::Class
            | Category::Array => false,
        }
    }

    /// Whether the exception for Microsoft's compiler as host compiler applies.
    fn is_excepted(&mut self) -> bool {
        self.rests_on(Clause::TypeMicrosoft);
        self.departs(Question::HostCompiler)
    }
}

#[cfg(test)]
mod tests;
