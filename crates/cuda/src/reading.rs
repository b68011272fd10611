//! What the rule's text leaves open: one question each, the literal text first.

use std::fmt;

macro_rules! questions {
    ($($(#[doc = $doc:literal])+ $question:ident $name:literal: $literal:literal, $other:literal;)+) => {
        ptxsmith_syntax::every! {
            /// One open question.
            pub enum Question { $($(#[doc = $doc])+ $question = $name),+ }
        }

        impl Question {
            /// The answers; the first is the literal text's.
            pub const fn answers(self) -> [&'static str; 2] {
                match self { $(Question::$question => [$literal, $other],)+ }
            }
        }
    };
}

questions! {
    /// Is a `constexpr` variable one of those that the rule is about? Its type is const-qualified.
    ConstexprVariable "constexpr-variable": "covered", "exempt";
    /// Is `long double` a built-in floating-point type that device code has?
    LongDouble "long-double": "floating-point", "invalid";
    /// Are the 128-bit integers that only some compilers have built-in integral types?
    ExtendedInteger "extended-integer": "integral", "invalid";
    /// Is an enumeration an integral type? In C++ it is none.
    Enumeration "enumeration": "invalid", "integral";
    /// Which host compiler is used? With Microsoft's, floating-point types are excepted.
    HostCompiler "host-compiler": "other", "microsoft";
    /// Is an unevaluated operand a use?
    Unevaluated "unevaluated": "no-use", "use";
    /// Does device code contain a use in a statement that `if constexpr` discards?
    Discarded "discarded": "contained", "not-contained";
    /// Does device code contain a use in a branch that is never taken?
    Unreached "unreached": "contained", "not-contained";
    /// Does device code contain what a function says that has no possible caller?
    Uncalled "uncalled": "contained", "not-contained";
    /// Does device code contain what a template says that has no instance?
    Uninstantiated "uninstantiated": "contained", "not-contained";
    /// Does a default argument or a default member initializer belong to the code that makes use of it?
    Elsewhere "default-initializer": "device-code", "not-device-code";
    /// Is the initializer of a `__device__` variable device code?
    DeviceInitializer "device-initializer": "device-code", "not-device-code";
    /// Is an initializer that only a compiler folds a constant expression?
    Folding "folding": "constant-expression", "whatever-folds";
    /// Is an expression that names a variable and throws its value away unread a use of it?
    DiscardedValue "discarded-value": "no-use", "value-use";
    /// Does a reference or a pointer count that is gone when the value has been read, as in `*&v`?
    Transient "transient": "counts", "value-only";
    /// Does reading an element of an array, which C++ does through a pointer, take the array's address?
    ElementAccess "element-access": "value", "address";
    /// Does a use in a class come after all members of the class, or where it is written?
    ClassContext "class-context": "complete-class", "as-written";
    /// Is the point of a use in a template where it is written, or where the template is instantiated?
    TemplateUse "template-use": "definition", "instantiation";
}

/// Which questions are answered otherwise than by the literal text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Readings(u32);

impl Readings {
    /// The same, with this question answered otherwise.
    #[must_use]
    pub fn with(self, question: Question) -> Readings {
        Readings(self.0 | 1 << question as u32)
    }

    /// Whether this question is answered otherwise than by the literal text.
    pub fn departs(self, question: Question) -> bool {
        self.0 & 1 << question as u32 != 0
    }

    /// The questions that are answered otherwise.
    pub fn departures(self) -> impl Iterator<Item = Question> {
        Question::ALL.iter().copied().filter(move |&question| self.departs(question))
    }

    /// How many.
    pub fn len(self) -> u32 {
        self.0.count_ones()
    }

    /// Whether all questions are answered by the literal text.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }
}

/// `question=answer`, several with a comma between; `literal` where there are none.
impl fmt::Display for Readings {
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
