//! What the rule's text leaves open: one question each, the literal text first.

use std::fmt;

/// One open question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Question {
    /// Is a `constexpr` variable one of those that the rule is about? Its type is const-qualified.
    ConstexprVariable,
    /// Is `long double` a built-in floating-point type that device code has?
    LongDouble,
    /// Are the 128-bit integers that only some compilers have built-in integral types?
    ExtendedInteger,
    /// Is an enumeration an integral type? In C++ it is none.
    Enumeration,
    /// Which host compiler is used? With Microsoft's, floating-point types are excepted.
    HostCompiler,
    /// Is an unevaluated operand a use?
    Unevaluated,
    /// Does device code contain a use in a statement that `if constexpr` discards?
    Discarded,
    /// Does device code contain a use in a branch that is never taken?
    Unreached,
    /// Does device code contain what a function says that nobody can call?
    Uncalled,
    /// Does device code contain what a template says that nobody instantiates?
    Uninstantiated,
    /// Does a default argument or a default member initializer belong to the code that makes use of it?
    Elsewhere,
    /// Is the initializer of a `__device__` variable device code?
    DeviceInitializer,
    /// Is an initializer that only a compiler folds a constant expression?
    Folding,
    /// Is an expression that names a variable and throws its value away unread a use of it?
    DiscardedValue,
    /// Does a reference or a pointer count that is gone when the value has been read, as in `*&v`?
    Transient,
    /// Does reading an element of an array, which C++ does through a pointer, take the array's address?
    ElementAccess,
    /// Does a use in a class come after all members of the class, or where it is written?
    ClassContext,
    /// Is the point of a use in a template where it is written, or where the template is instantiated?
    TemplateUse,
}

/// A question with its answers.
struct Entry {
    question: Question,
    name: &'static str,
    answers: &'static [&'static str],
}

#[rustfmt::skip]
const TABLE: &[Entry] = &[
    Entry { question: Question::ConstexprVariable, name: "constexpr-variable", answers: &["covered", "exempt"] },
    Entry { question: Question::LongDouble, name: "long-double", answers: &["floating-point", "invalid"] },
    Entry { question: Question::ExtendedInteger, name: "extended-integer", answers: &["integral", "invalid"] },
    Entry { question: Question::Enumeration, name: "enumeration", answers: &["invalid", "integral"] },
    Entry { question: Question::HostCompiler, name: "host-compiler", answers: &["other", "microsoft"] },
    Entry { question: Question::Unevaluated, name: "unevaluated", answers: &["no-use", "use"] },
    Entry { question: Question::Discarded, name: "discarded", answers: &["contained", "not-contained"] },
    Entry { question: Question::Unreached, name: "unreached", answers: &["contained", "not-contained"] },
    Entry { question: Question::Uncalled, name: "uncalled", answers: &["contained", "not-contained"] },
    Entry { question: Question::Uninstantiated, name: "uninstantiated", answers: &["contained", "not-contained"] },
    Entry { question: Question::Elsewhere, name: "default-initializer", answers: &["device-code", "not-device-code"] },
    Entry { question: Question::DeviceInitializer, name: "device-initializer", answers: &["device-code", "not-device-code"] },
    Entry { question: Question::Folding, name: "folding", answers: &["constant-expression", "whatever-folds"] },
    Entry { question: Question::DiscardedValue, name: "discarded-value", answers: &["no-use", "value-use"] },
    Entry { question: Question::Transient, name: "transient", answers: &["counts", "value-only"] },
    Entry { question: Question::ElementAccess, name: "element-access", answers: &["value", "address"] },
    Entry { question: Question::ClassContext, name: "class-context", answers: &["complete-class", "as-written"] },
    Entry { question: Question::TemplateUse, name: "template-use", answers: &["definition", "instantiation"] },
];

impl Question {
    /// Every question.
    pub const ALL: [Question; 18] = {
        let mut all = [Question::ConstexprVariable; 18];
        let mut i = 0;
        while i < all.len() {
            all[i] = TABLE[i].question;
            i += 1;
        }
        all
    };

    /// Its name in reports and on the command line.
    pub fn name(self) -> &'static str {
        TABLE[self as usize].name
    }

    /// The answers; the first is the literal text's.
    pub fn answers(self) -> &'static [&'static str] {
        TABLE[self as usize].answers
    }

    /// The question of this name.
    pub fn from_name(name: &str) -> Option<Question> {
        TABLE.iter().find(|entry| entry.name == name).map(|entry| entry.question)
    }
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
        Question::ALL.into_iter().filter(move |&question| self.departs(question))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_the_order_of_the_questions() {
        for (index, entry) in TABLE.iter().enumerate() {
            assert_eq!(entry.question as usize, index);
            assert_eq!(Question::from_name(entry.name), Some(entry.question));
            assert_eq!(entry.answers.len(), 2);
        }
        assert_eq!(TABLE.len(), Question::ALL.len());
    }
}
