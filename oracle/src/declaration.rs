//! Checks the specifiers before the names of a declaration: which ones, how often, and in which order (5.4.1, 5.4.2,
//! 5.4.5, 5.4.7).

use ptxsmith_syntax::{
    Declaration, Linkage, ScalarType, Specifier, StateSpace, Unread, VectorLength, read_number,
};

use crate::{
    clause::Clause,
    reading::AttributeOrder,
    refusal::{RefusalClass, Stop},
    step::Ruled,
    undecided::WORD,
};

/// The context of a declaration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Context {
    /// At module scope.
    Module,
    /// In the body of a function.
    Body,
    /// In a list of parameters or results.
    Parameter,
}

/// The decoded specifiers of a declaration.
pub(crate) struct Specified {
    pub space: StateSpace,
    pub scalar: ScalarType,
    pub vector: Option<VectorLength>,
    /// Which of `.align` and `.attribute` comes first, if both are present: an open question.
    pub order: Option<AttributeOrder>,
    /// Why the specifiers are undecided, if they are.
    pub undecided: Option<&'static str>,
}

const OPAQUE: &str = "an opaque type for textures, samplers or surfaces";
const BANK: &str = "a bank of a state space, which the specification at hand does not describe";
pub(crate) const LINKAGE: &str =
    "a linking directive, which the specification at hand places nowhere, in this place";
const ATTRIBUTE: &str = "a place of .attribute that the specification at hand does not give";
const TYPE_FIRST: &str =
    "a type before the state space: the specification at hand does not say that it may stand there";
const COMMON: &str =
    "a linking directive .common outside .global, of which the specification at hand does not speak";
const SPACE_AT_MODULE_SCOPE: &str =
    "a state space of which the specification at hand does not say whether it may stand at module scope";
const SPACE_OF_PARAMETER: &str =
    "a parameter in a state space that the specification at hand does not give to parameters";

/// Whether an unparsed statement is a declaration without a name (5.4.1): it contains a state space or a type, and
/// otherwise only words of declarations.
pub fn declares_no_name(unread: &Unread) -> bool {
    let mut words = unread.tokens.iter().map(|token| &*token.text).peekable();
    let mut declares = false;
    while let Some(word) = words.next() {
        let is_type = ScalarType::from_keyword(word).is_some() || StateSpace::from_keyword(word).is_some();
        declares |= is_type;
        match word {
            ";" => return declares && words.peek().is_none(),
            ".align" => drop(words.next_if(|number| read_number(number).is_some())),
            _ if is_type => {}
            _ if VectorLength::from_keyword(word).is_some() || Linkage::from_keyword(word).is_some() => {}
            _ => return false,
        }
    }
    false
}

/// Decodes and checks the specifiers; a refusal takes precedence over an undecided part.
pub(crate) fn specified(declaration: &Declaration, context: Context) -> Ruled<Specified> {
    let refuse = |class, clause| Err(Stop::refused(class, clause, declaration.span));
    let words: Vec<&Specifier> = declaration.own().collect();
    let (mut space, mut scalar, mut vector) = (None, None, None);
    let mut undecided = None;
    let mut leave = |holds: bool, reason: &'static str| {
        if !holds {
            undecided.get_or_insert(reason);
        }
    };
    let (mut opaque, mut order) = (false, None);
    for (at, word) in words.iter().enumerate() {
        let before = at.checked_sub(1).map(|at| words[at]);
        match word {
            Specifier::Linkage(_) => leave(at == 0 && context == Context::Module, LINKAGE),
            Specifier::Space(named, bank) => {
                if space.is_some() {
                    return refuse(RefusalClass::Specifiers, Clause::OneStateSpace);
                }
                leave(bank.is_none(), BANK);
                leave(scalar.is_none(), TYPE_FIRST);
                space = Some(*named);
            }
            Specifier::Align(_) => match before {
                Some(Specifier::Space(..)) => {}
                Some(Specifier::Attributes(_)) if order.is_none() && follows_space(&words[..at - 1]) => {
                    order = Some(AttributeOrder::AttributeFirst);
                }
                _ => return refuse(RefusalClass::Specifiers, Clause::AlignPlace),
            },
            Specifier::Attributes(list) => {
                if list.is_empty() {
                    return refuse(RefusalClass::Attribute, Clause::AttributeList);
                }
                match before {
                    Some(Specifier::Space(..)) => {}
                    Some(Specifier::Align(_)) if order.is_none() => order = Some(AttributeOrder::AlignFirst),
                    _ => leave(false, ATTRIBUTE),
                }
            }
            Specifier::Vector(length) => match words.get(at + 1) {
                Some(Specifier::Type(_)) => vector = Some(*length),
                Some(Specifier::Opaque(_) | Specifier::Vector(_)) => {
                    return refuse(RefusalClass::VectorType, Clause::VectorFundamentalType);
                }
                Some(Specifier::Word(_)) => leave(false, WORD),
                _ => return refuse(RefusalClass::Specifiers, Clause::VectorPrefix),
            },
            Specifier::Type(named) => {
                if scalar.is_some() {
                    return refuse(RefusalClass::Specifiers, Clause::OneType);
                }
                scalar = Some(*named);
            }
            Specifier::Opaque(_) => {
                opaque = true;
                leave(false, OPAQUE);
            }
            Specifier::Word(_) => {
                opaque = true;
                leave(false, WORD);
            }
            Specifier::Ptr => {}
        }
    }
    let is_common = declaration.linkage().any(|linkage| linkage == Linkage::Common);
    leave(!is_common || space == Some(StateSpace::Global), COMMON);
    match (context, space) {
        (Context::Module, Some(StateSpace::Global | StateSpace::Const | StateSpace::Shared)) => {}
        (Context::Module, Some(_)) => leave(false, SPACE_AT_MODULE_SCOPE),
        (Context::Parameter, Some(StateSpace::Param | StateSpace::Reg)) => {}
        (Context::Parameter, Some(_)) => leave(false, SPACE_OF_PARAMETER),
        _ => {}
    }
    match (space, scalar, undecided) {
        // An unknown word may be a type or a state space.
        (None, _, Some(reason)) | (_, None, Some(reason)) if opaque => Err(Stop::Unmodelled(reason)),
        (None, ..) => refuse(RefusalClass::Specifiers, Clause::OneStateSpace),
        (_, None, _) => refuse(RefusalClass::Specifiers, Clause::OneType),
        (Some(space), Some(scalar), undecided) => Ok(Specified { space, scalar, vector, order, undecided }),
    }
}

/// Whether the last of these words is a state space.
fn follows_space(words: &[&Specifier]) -> bool {
    matches!(words.last(), Some(Specifier::Space(..)))
}
