//! Derives the verdict for a case from the rule's text alone.
//!
//! Every decision records its clause and, where the text is ambiguous, the question that it depends on.
//! Nothing here is derived from the behaviour of a compiler.

use crate::language::{
    Annotation, Category, ConstantValue, CudaCase, DeclarationSite, InitializerPosition, Qualifier, UsePlace,
    UseStep,
    constant::{self, Constness},
};
use crate::reading::{RuleInterpretations, RuleQuestion};
use crate::rule::{Key, RuleClause};

/// The rule's verdict on the use in a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UseVerdict {
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

impl UseVerdict {
    /// Whether a conforming implementation rejects the use. `None` if the variable is not const, because other rules
    /// of CUDA may forbid the use; every other use about which the rule is silent has to be accepted.
    pub fn refuses(&self) -> Option<bool> {
        match self {
            UseVerdict::Allowed => Some(false),
            UseVerdict::Forbidden(_) => Some(true),
            // Other rules of CUDA may forbid the use of a variable that is not const.
            UseVerdict::Silent(Silence::NotConst) => None,
            // The other silent cases are ordinary CUDA C++, which a compiler must accept.
            UseVerdict::Silent(_) => Some(false),
        }
    }

    /// The primary message; `None` unless the use is forbidden.
    pub fn primary(&self) -> Option<Key> {
        match self {
            UseVerdict::Forbidden(keys) => keys.first().copied(),
            _ => None,
        }
    }
}

/// A verdict with the clauses and open questions that led to it.
#[derive(Clone, Debug, PartialEq)]
pub struct UseExpectation {
    /// The verdict.
    pub verdict: UseVerdict,
    /// The clauses that the verdict is based on.
    pub clauses: Vec<RuleClause>,
    /// The open questions that the verdict may depend on, in the order in which they arose.
    pub questions: Vec<RuleQuestion>,
    /// The value that an allowed use reads; `None` if the use is not allowed or reads no value.
    pub value: Option<ConstantValue>,
}

/// Judges the use in `case` under these interpretations.
pub fn judge(case: &CudaCase, interpretations: RuleInterpretations) -> UseExpectation {
    let mut judge =
        CaseJudge { case, interpretations, clauses: Vec::new(), questions: Vec::new(), read: false };
    let verdict = judge.verdict();
    let value = match verdict {
        UseVerdict::Allowed if judge.read => constant::evaluate(&case.declaration).value(),
        _ => None,
    };
    UseExpectation { verdict, clauses: judge.clauses, questions: judge.questions, value }
}

/// Returns every combination of interpretations that can affect this case, sorted by the number of departures
/// from the literal text, so `base` comes first.
///
/// Varies only questions that come up while the case is judged. [`RuleQuestion::HostCompiler`] is never
/// varied: it is a setting, not an ambiguity.
pub fn relevant_interpretations(case: &CudaCase, base: RuleInterpretations) -> Vec<RuleInterpretations> {
    let mut varied: Vec<RuleQuestion> = Vec::new();
    let mut combinations = vec![base];
    let mut next = 0;
    while next < combinations.len() {
        for question in judge(case, combinations[next]).questions {
            if question != RuleQuestion::HostCompiler && !varied.contains(&question) {
                varied.push(question);
                let more: Vec<_> =
                    combinations.iter().map(|interpretations| interpretations.with(question)).collect();
                combinations.extend(more);
            }
        }
        next += 1;
    }
    combinations.sort_by_key(|interpretations| (interpretations.len(), *interpretations));
    combinations.dedup();
    combinations
}

/// Whether the rule's text alone decides the case: all interpretations give the same verdict and primary
/// message.
pub fn is_clear(case: &CudaCase, base: RuleInterpretations) -> bool {
    let literal = judge(case, base).verdict;
    relevant_interpretations(case, base).into_iter().all(|interpretations| {
        let verdict = judge(case, interpretations).verdict;
        verdict.refuses() == literal.refuses() && verdict.primary() == literal.primary()
    })
}

/// The effect of a use on the variable, as far as the rule distinguishes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum UseEffect {
    /// Nothing that the rule restricts.
    Nothing,
    /// Uses the value.
    Value,
    /// Refers to the variable or takes its address.
    Address,
    /// Copies the variable with a constructor: uses the value through a reference.
    Copy,
}

struct CaseJudge<'a> {
    case: &'a CudaCase,
    interpretations: RuleInterpretations,
    clauses: Vec<RuleClause>,
    questions: Vec<RuleQuestion>,
    read: bool,
}

impl CaseJudge<'_> {
    /// Records that the verdict depends on `question`; returns whether the answer departs from the literal
    /// text.
    fn departs(&mut self, question: RuleQuestion) -> bool {
        if !self.questions.contains(&question) {
            self.questions.push(question);
        }
        self.interpretations.departs(question)
    }

    fn rests_on(&mut self, clause: RuleClause) {
        if !self.clauses.contains(&clause) {
            self.clauses.push(clause);
        }
    }

    fn verdict(&mut self) -> UseVerdict {
        if let Some(silence) = self.silence() {
            return UseVerdict::Silent(silence);
        }
        let keys = match self.act() {
            UseEffect::Nothing => Vec::new(),
            UseEffect::Value => self.value_keys(),
            UseEffect::Address => vec![self.broken(Key::Address)],
            UseEffect::Copy => {
                let mut keys = self.value_keys();
                keys.push(self.broken(Key::Address));
                keys
            }
        };
        if keys.is_empty() { UseVerdict::Allowed } else { UseVerdict::Forbidden(keys) }
    }

    fn broken(&mut self, key: Key) -> Key {
        self.rests_on(key.clause());
        key
    }

    /// Returns why the rule does not apply to the use; `None` if it applies.
    fn silence(&mut self) -> Option<Silence> {
        let declaration = &self.case.declaration;
        self.rests_on(RuleClause::HostVariable);
        if declaration.qualifier == Qualifier::None {
            return Some(Silence::NotConst);
        }
        if declaration.annotation != Annotation::None {
            return Some(Silence::Annotated);
        }
        if declaration.site == DeclarationSite::Local {
            return Some(Silence::Local);
        }
        self.rests_on(RuleClause::Scope);
        let host = match self.case.place {
            UsePlace::Host | UsePlace::HostLambda | UsePlace::HostTemplate | UsePlace::HostMember => true,
            UsePlace::Discarded | UsePlace::DiscardedInTemplate => self.departs(RuleQuestion::Discarded),
            UsePlace::DeadBranch => self.departs(RuleQuestion::Unreached),
            UsePlace::Uncalled => self.departs(RuleQuestion::Uncalled),
            UsePlace::Uninstantiated => self.departs(RuleQuestion::Uninstantiated),
            UsePlace::DefaultArgument | UsePlace::MemberInitializer => self.departs(RuleQuestion::Elsewhere),
            UsePlace::VariableInitializer => self.departs(RuleQuestion::DeviceInitializer),
            UsePlace::Device
            | UsePlace::Global
            | UsePlace::HostDevice
            | UsePlace::Lambda
            | UsePlace::Member
            | UsePlace::StaticMember
            | UsePlace::OwnMember
            | UsePlace::OwnMemberBefore
            | UsePlace::Template
            | UsePlace::Dependent
            | UsePlace::DependentBefore => false,
        };
        if host {
            return Some(Silence::HostCode);
        }
        if declaration.qualifier == Qualifier::Constexpr && self.departs(RuleQuestion::ConstexprVariable) {
            return Some(Silence::Constexpr);
        }
        None
    }

    /// Classifies the use, from the expression that names the variable outwards.
    fn act(&mut self) -> UseEffect {
        let form = self.case.form;
        if form.unevaluated {
            if !self.departs(RuleQuestion::Unevaluated) {
                return UseEffect::Nothing;
            }
            // Under this interpretation even a bare mention counts; one that reads nothing counts as a
            // reference.
            return match self.walk(form.steps) {
                UseEffect::Nothing => UseEffect::Address,
                act => act,
            };
        }
        self.walk(form.steps)
    }

    fn walk(&mut self, steps: &[UseStep]) -> UseEffect {
        let volatile = self.case.declaration.qualifier == Qualifier::ConstVolatile;
        // The use ends in a read, so an address or a reference on the way only serves to read the value.
        let transient = matches!(steps.last(), Some(UseStep::Read));
        let mut element = false;
        for step in steps {
            match step {
                UseStep::Same | UseStep::Member | UseStep::Dereference => {}
                UseStep::Element => element = true,
                UseStep::Read if element => {
                    return if self.departs(RuleQuestion::ElementAccess) {
                        UseEffect::Address
                    } else {
                        UseEffect::Value
                    };
                }
                UseStep::Read => return UseEffect::Value,
                UseStep::Copy => return UseEffect::Copy,
                // A discarded-value expression reads a scalar only if it is volatile, since that read is a
                // side effect. It never reads an array.
                UseStep::Discard if volatile && self.case.declaration.ty.is_scalar() => {
                    return UseEffect::Value;
                }
                UseStep::Discard => {
                    return if self.departs(RuleQuestion::DiscardedValue) {
                        UseEffect::Value
                    } else {
                        UseEffect::Nothing
                    };
                }
                UseStep::CastReference | UseStep::AddressOf if transient => {
                    if !self.departs(RuleQuestion::Transient) {
                        return UseEffect::Address;
                    }
                }
                UseStep::Decay if transient => {
                    if self.departs(RuleQuestion::ElementAccess) {
                        return UseEffect::Address;
                    }
                }
                UseStep::Bind
                | UseStep::CastReference
                | UseStep::AddressOf
                | UseStep::Decay
                | UseStep::Call => {
                    return UseEffect::Address;
                }
            }
        }
        UseEffect::Nothing
    }

    /// Checks the three conditions on a use of the value, and returns a message for each violated condition.
    fn value_keys(&mut self) -> Vec<Key> {
        self.read = true;
        let mut keys = Vec::new();
        self.rests_on(RuleClause::Initialized);
        if !self.is_initialized() {
            keys.push(Key::NotInitialized);
        }
        self.rests_on(RuleClause::NotVolatile);
        if self.case.declaration.qualifier == Qualifier::ConstVolatile {
            keys.push(Key::Volatile);
        }
        self.rests_on(RuleClause::Type);
        if !self.is_valid_type() {
            keys.push(Key::InvalidType);
        }
        keys
    }

    fn is_initialized(&mut self) -> bool {
        let declaration = &self.case.declaration;
        // A dependent name is resolved at the instantiation, so the use counts as being there.
        let dependent = matches!(self.case.place, UsePlace::Dependent | UsePlace::DependentBefore);
        let before = match declaration.order {
            InitializerPosition::AtDeclaration | InitializerPosition::DefinedBefore => true,
            InitializerPosition::BeforeInstantiation if dependent => true,
            InitializerPosition::BeforeInstantiation => self.departs(RuleQuestion::TemplateUse),
            // The end of the translation unit is also a point of instantiation, and the definition comes
            // before it.
            InitializerPosition::DefinedAfter if dependent || self.case.place == UsePlace::Template => {
                self.departs(RuleQuestion::TemplateUse)
            }
            InitializerPosition::DefinedAfter | InitializerPosition::Elsewhere => false,
        };
        let before = before
            && !(self.case.place == UsePlace::OwnMemberBefore && self.departs(RuleQuestion::ClassContext));
        before
            && match constant::evaluate(declaration) {
                Constness::Constant(_) => true,
                Constness::Folded(_) => self.departs(RuleQuestion::Folding),
                Constness::RunTime => false,
            }
    }

    fn is_valid_type(&mut self) -> bool {
        match self.case.declaration.ty.category() {
            Category::Integral { .. } => true,
            Category::Extended { .. } => !self.departs(RuleQuestion::ExtendedInteger),
            Category::Floating(_) => !self.is_excepted(),
            Category::LongDouble => !self.is_excepted() && !self.departs(RuleQuestion::LongDouble),
            Category::Enumeration { .. } => self.departs(RuleQuestion::Enumeration),
            Category::Pointer
            | Category::NullPointer
            | Category::MemberPointer
            | Category::Class
            | Category::Array => false,
        }
    }

    /// Whether the exception for Microsoft's compiler as host compiler applies.
    fn is_excepted(&mut self) -> bool {
        self.rests_on(RuleClause::TypeMicrosoft);
        self.departs(RuleQuestion::HostCompiler)
    }
}

#[cfg(test)]
mod tests;
