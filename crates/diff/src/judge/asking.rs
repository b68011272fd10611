//! Finds out, before a subject is tested, how it answers open questions and which of them crash it.

use ptxsmith_oracle::{Question, Rules};
use ptxsmith_subject::{Error, Subject};
use ptxsmith_syntax::{Header, Item, Specifier, parse};

use super::{Judge, JudgeOptions};
use crate::{
    profile::Profile,
    trial::{Trial, TrialBody},
    verdict::{Class, Verdict},
};

/// Declarations that show how a subject answers the questions that generated programs meet often. Left out
/// are questions that hardly any subject answers differently from the default and questions about listed
/// crashes.
const PROBES: &[(Question, &str)] = &[
    (Question::ForwardReference, ".global .u64 x = y; .global .u32 y;"),
    (Question::SelfReference, ".global .u64 x = x;"),
    (Question::ParenthesizedAddress, ".global .u32 y; .global .u64 x = (y);"),
    (Question::AddressSubtraction, ".global .u32 y[4]; .global .u64 x = y - 4;"),
    (Question::OffsetFirst, ".global .u32 y[4]; .global .u64 x = 4 + y;"),
    (Question::OffsetInGeneric, ".global .u32 y[4]; .global .u64 x = generic(y + 4);"),
    (Question::ShiftCount, ".global .u64 x = 3 << 65;"),
    (Question::DivisionByZero, ".global .u64 x = 1 / 0;"),
    (Question::FloatDivisionByZero, ".global .f64 x = 1.0 / 0.0;"),
    (Question::LiteralRange, ".global .u64 x = 18446744073709551618 + (18446744073709551618 > -1);"),
    (Question::FloatOverflow, ".global .f64 x = 1e400;"),
    (Question::SkippedOperand, ".global .u64 x = 1 ? 2 : 1 / 0;"),
    (Question::ParenthesizedSingle, ".global .f32 x = (0f3f800000);"),
    (Question::NanNarrowing, ".global .f32 x = 0dfff0000020000000;"),
    (Question::ZeroDimension, ".global .u32 x[0];"),
    (Question::TrailingComma, ".global .u32 x[2] = {1, 2,};"),
    (Question::EmptyList, ".global .u32 x[2] = {};"),
    (Question::IncompleteVector, ".global .v2 .u32 x = {1};"),
    (Question::BitwiseType, ".global .u64 x = (1 & 1) > -1;"),
    (Question::WarpSizeType, ".global .u64 x = WARP_SZ > -1;"),
    (Question::BitsFromFloat, ".global .b32 x = 1.5;"),
    (Question::SignedOverflow, ".global .s64 x = 9223372036854775807 + 1;"),
];

impl Profile {
    /// Determines a subject's answers to open questions by showing it fixed programs under this header. The
    /// result depends on the subject and the header only, so one call is enough.
    ///
    /// # Errors
    /// Fails only if the host system or our own code fails.
    pub fn ask(subject: &dyn Subject, header: &Header) -> Result<Profile, Error> {
        let trials: Vec<Trial> =
            PROBES.iter().zip(0..).map(|(&(_, statements), id)| Trial::new(id, body(statements))).collect();
        let options = JudgeOptions { header: header.clone(), recheck_every: 0, ..JudgeOptions::default() };
        let judged = Judge::new(subject, Rules::default(), options).batch(&trials)?;
        let mut profile = Profile::default();
        for (&(question, _), judged) in PROBES.iter().zip(judged) {
            match judged.verdict {
                Verdict::Reads(difference) => {
                    let answers = difference.explanation.map(|explanation| explanation.readings);
                    // An answer from an earlier program, which is about that question alone, has priority.
                    for (question, answer) in answers.into_iter().flatten() {
                        profile.record_answer(question, answer);
                    }
                }
                Verdict::Deviates(difference) if difference.class == Class::Crash => {
                    profile.record_crash(question);
                }
                _ => {}
            }
        }
        Ok(profile)
    }
}

/// Converts statements to a trial's body. A single scalar value becomes an expression.
fn body(statements: &str) -> TrialBody {
    let items = parse(statements).expect("the programs of the table parse").items;
    if let [Item::Variables(declaration)] = &items[..]
        && let [declarator] = &declaration.declarators[..]
        && let (Some(initializer), []) = (&declarator.initializer, &declarator.dimensions[..])
        && let ptxsmith_syntax::Initializer::Value(expr) = initializer
        && !declaration.specifiers.iter().any(|specifier| matches!(specifier, Specifier::Vector(_)))
        && let (Some(ty), Some(space)) = (declaration.scalar_type(), declaration.space())
        && !expr.nodes().iter().any(|node| matches!(node.kind, ptxsmith_syntax::NodeKind::Name(_)))
    {
        return TrialBody::Expression { ty, space, expr: expr.clone() };
    }
    TrialBody::Items(items)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_scalar_value_is_asked_as_an_expression_and_all_else_as_it_is() {
        let is_expression = |statements| matches!(body(statements), TrialBody::Expression { .. });
        assert!(is_expression(".global .u64 x = 3 << 65;"));
        for statements in [
            ".global .u64 x = y; .global .u32 y;",
            ".global .u64 x = x;",
            ".global .v2 .u32 x = 1;",
            ".global .u32 x[2] = 1;",
            ".global .u32 x[2] = {1};",
            ".global .u32 x;",
        ] {
            assert!(!is_expression(statements), "{statements}");
        }
    }
}
