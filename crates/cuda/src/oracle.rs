//! What the rule's text alone says of a use.
//!
//! Every decision names its clause and, where the text leaves it open, the question that it asked. Nothing here comes
//! from a compiler.

use crate::language::{
    Annotation, Case, Category, Order, Place, Qualifier, Site, Step, Value,
    constant::{self, Constness},
};
use crate::reading::{Question, Readings};
use crate::rule::{Clause, Key};

/// What the rule says of a use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The use is allowed.
    Allowed,
    /// The use is forbidden; the messages that apply, the primary one first. Never empty.
    Forbidden(Vec<Key>),
    /// The rule does not speak of it.
    Silent(Silence),
}

/// Why the rule does not speak of a use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Silence {
    /// It stands in host code, or in what a reading takes for no device code.
    HostCode,
    /// The variable has an annotation.
    Annotated,
    /// The variable is neither of namespace scope nor a static member.
    Local,
    /// The variable is `constexpr`, and the reading exempts it.
    Constexpr,
    /// The type is not const-qualified. Other rules of CUDA forbid such uses.
    NotConst,
}

impl Verdict {
    /// Whether an implementation of the rule refuses the use; `None` where the rule says nothing that an
    /// implementation could be held to.
    pub fn refuses(&self) -> Option<bool> {
        match self {
            Verdict::Allowed => Some(false),
            Verdict::Forbidden(_) => Some(true),
            // Code that this rule forbids nothing in is CUDA C++ that everybody writes.
            Verdict::Silent(Silence::NotConst) => None,
            Verdict::Silent(_) => Some(false),
        }
    }

    /// The primary message.
    pub fn primary(&self) -> Option<Key> {
        match self {
            Verdict::Forbidden(keys) => keys.first().copied(),
            _ => None,
        }
    }
}

/// The verdict and how it came about.
#[derive(Clone, Debug, PartialEq)]
pub struct Expectation {
    /// The verdict.
    pub verdict: Verdict,
    /// The clauses that it rests on.
    pub clauses: Vec<Clause>,
    /// The open questions that were asked on the way.
    pub questions: Vec<Question>,
    /// The value that an allowed use reads.
    pub value: Option<Value>,
}

/// What the rule says of this use under these readings.
pub fn judge(case: &Case, readings: Readings) -> Expectation {
    let mut judge = Judge { case, readings, clauses: Vec::new(), questions: Vec::new(), read: false };
    let verdict = judge.verdict();
    let value = match verdict {
        Verdict::Allowed if judge.read => constant::of(&case.declaration).value(),
        _ => None,
    };
    Expectation { verdict, clauses: judge.clauses, questions: judge.questions, value }
}

/// Every combination of readings that this use can meet, the literal one first, then by the number of departures.
/// The host compiler is no open question but an option, and stays as it is.
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

/// Whether the rule's text alone decides: every reading gives the same verdict and the same primary message.
pub fn is_clear(case: &Case, base: Readings) -> bool {
    let literal = judge(case, base).verdict;
    readings_met(case, base).into_iter().all(|readings| {
        let verdict = judge(case, readings).verdict;
        verdict.refuses() == literal.refuses() && verdict.primary() == literal.primary()
    })
}

/// What a use does with the variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Act {
    /// Nothing that the rule speaks of.
    Nothing,
    /// It uses the value.
    Value,
    /// It refers to the variable or takes its address.
    Address,
    /// A constructor uses the value through a reference.
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
    /// Asks an open question: whether the answer departs from the literal one.
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

    /// Why the rule does not speak of the use, if so.
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

    /// What the use does, from the expression that names the variable outwards.
    fn act(&mut self) -> Act {
        let form = self.case.form;
        if form.unevaluated {
            if !self.departs(Question::Unevaluated) {
                return Act::Nothing;
            }
            // A mention is either a value's use or a reference.
            return match self.walk(form.steps) {
                Act::Nothing => Act::Address,
                act => act,
            };
        }
        self.walk(form.steps)
    }

    fn walk(&mut self, steps: &[Step]) -> Act {
        let volatile = self.case.declaration.qualifier == Qualifier::ConstVolatile;
        // An address or a reference that only serves to read the value.
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
                // Thrown away unread, unless it is volatile: reading that has an effect. Arrays are never read.
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

    /// Which of the three conditions on the use of a value do not hold.
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
        // Which variable a name means that depends on a parameter, an instantiation says: there it is used.
        let dependent = matches!(self.case.place, Place::Dependent | Place::DependentBefore);
        let before = match declaration.order {
            Order::AtDeclaration | Order::DefinedBefore => true,
            Order::BeforeInstantiation if dependent => true,
            Order::BeforeInstantiation => self.departs(Question::TemplateUse),
            // The end of the translation unit is a point of instantiation too.
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

    /// Whether the exception for Microsoft's compiler holds.
    fn is_excepted(&mut self) -> bool {
        self.rests_on(Clause::TypeMicrosoft);
        self.departs(Question::HostCompiler)
    }
}

#[cfg(test)]
mod tests;
