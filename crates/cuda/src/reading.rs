//! The ambiguities of the rule's text: one question each, with two answers. The literal text's answer comes
//! first.

use std::fmt;

macro_rules! questions {
    ($($(#[doc = $doc:literal])+ $question:ident $name:literal: $literal:literal, $other:literal;)+) => {
        ptxsmith_syntax::every! {
            /// One question that the rule's text leaves open.
            pub enum RuleQuestion { $($(#[doc = $doc])+ $question = $name),+ }
        }

        impl RuleQuestion {
            /// The two possible answers; the first follows the literal text.
            pub const fn answers(self) -> [&'static str; 2] {
                match self { $(RuleQuestion::$question => [$literal, $other],)+ }
            }
        }
    };
}

questions! {
    /// Does the rule cover a `constexpr` variable? Its type is const-qualified.
    ConstexprVariable "constexpr-variable": "covered", "exempt";
    /// Is `long double` a built-in floating-point type that device code has?
    LongDouble "long-double": "floating-point", "invalid";
    /// Are 128-bit integers, which only some compilers support, built-in integral types?
    ExtendedInteger "extended-integer": "integral", "invalid";
    /// Is an enumeration an integral type? In C++ it is not.
    Enumeration "enumeration": "invalid", "integral";
    /// Which host compiler is used? With Microsoft's, values of floating-point types may not be used.
    HostCompiler "host-compiler": "other", "microsoft";
    /// Is an unevaluated operand a use?
    Unevaluated "unevaluated": "no-use", "use";
    /// Does device code contain a use in a statement that `if constexpr` discards?
    Discarded "discarded": "contained", "not-contained";
    /// Does device code contain a use in a branch that is never taken?
    Unreached "unreached": "contained", "not-contained";
    /// Does device code contain the body of a function that nothing can call?
    Uncalled "uncalled": "contained", "not-contained";
    /// Does device code contain the body of a template that is never instantiated?
    Uninstantiated "uninstantiated": "contained", "not-contained";
    /// Does a default argument or a default member initializer belong to the device code that relies on it?
    Elsewhere "default-initializer": "device-code", "not-device-code";
    /// Is the initializer of a `__device__` variable device code?
    DeviceInitializer "device-initializer": "device-code", "not-device-code";
    /// Is an initializer a constant expression if C++ does not call it one but compilers can evaluate it?
    Folding "folding": "constant-expression", "whatever-folds";
    /// Does an expression use a variable's value if it names the variable and discards the value, as in
    /// `(void)v`?
    DiscardedValue "discarded-value": "no-use", "value-use";
    /// Does a reference or a pointer count as one if it only serves to read the value, as in `*&v`?
    Transient "transient": "counts", "value-only";
    /// Does reading an element of an array take the array's address? C++ reads it through a pointer.
    ElementAccess "element-access": "value", "address";
    /// Does a use in a class, as in the body of a member function, come after all members, or where it is
    /// written?
    ClassContext "class-context": "complete-class", "as-written";
    /// Is a use in a template located where it is written, or where the template is instantiated?
    TemplateUse "template-use": "definition", "instantiation";
}

/// A set of interpretations: the questions that are answered against the literal text. By default, there are
/// none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct RuleInterpretations(u32);

impl RuleInterpretations {
    /// Returns these interpretations with a departure from the literal text on this question.
    #[must_use]
    pub fn with(self, question: RuleQuestion) -> RuleInterpretations {
        RuleInterpretations(self.0 | 1 << question as u32)
    }

    /// Whether the answer to this question departs from the literal text.
    pub fn departs(self, question: RuleQuestion) -> bool {
        self.0 & 1 << question as u32 != 0
    }

    /// The questions that are answered against the literal text.
    pub fn departures(self) -> impl Iterator<Item = RuleQuestion> {
        RuleQuestion::ALL.iter().copied().filter(move |&question| self.departs(question))
    }

    /// The number of departures.
    pub fn len(self) -> u32 {
        self.0.count_ones()
    }

    /// Whether all answers follow the literal text.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }
}

/// Writes the departures as `question=answer`, separated by commas, or `literal` if there are none.
impl fmt::Display for RuleInterpretations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_empty() {
            return f.write_str("literal");
        }
        for (index, question) in self.departures().enumerate() {
            let comma = if index > 0 { ", " } else { "" };
            write!(f, "{comma}{}={}", question.name(), question.answers()[1])?;
        }
        Ok(())
    }
}
