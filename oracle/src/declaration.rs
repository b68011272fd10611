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

/// The place of a declaration in its module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DeclarationContext {
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
    let mut has_type_or_space = false;
    while let Some(word) = words.next() {
        let is_type_or_space =
            ScalarType::from_keyword(word).is_some() || StateSpace::from_keyword(word).is_some();
        has_type_or_space |= is_type_or_space;
        match word {
            ";" => return has_type_or_space && words.peek().is_none(),
            ".align" => drop(words.next_if(|number| read_number(number).is_some())),
            _ if is_type_or_space => {}
            _ if VectorLength::from_keyword(word).is_some() || Linkage::from_keyword(word).is_some() => {}
            _ => return false,
        }
    }
    false
}

/// Decodes and checks the specifiers; a refusal takes precedence over an undecided part.
pub(crate) fn specified(declaration: &Declaration, context: DeclarationContext) -> Ruled<Specified> {
    let words: Vec<&Specifier> = declaration.variable_specifiers().collect();
    let mut decoder = Decoder::new(declaration, context);
    for at in 0..words.len() {
        decoder.word(&words, at)?;
    }
    decoder.finish()
}

/// Decodes the specifiers of a declaration, word by word.
struct Decoder<'d> {
    declaration: &'d Declaration,
    context: DeclarationContext,
    space: Option<StateSpace>,
    scalar: Option<ScalarType>,
    vector: Option<VectorLength>,
    order: Option<AttributeOrder>,
    /// Whether a word may be a type or a state space that is unknown here.
    opaque: bool,
    undecided: Option<&'static str>,
}

impl<'d> Decoder<'d> {
    fn new(declaration: &'d Declaration, context: DeclarationContext) -> Decoder<'d> {
        Decoder {
            declaration,
            context,
            space: None,
            scalar: None,
            vector: None,
            order: None,
            opaque: false,
            undecided: None,
        }
    }

    fn refuse<T>(&self, class: RefusalClass, clause: Clause) -> Ruled<T> {
        Err(Stop::refused(class, clause, self.declaration.span))
    }

    /// Marks the specifiers as undecided if a condition does not hold. The first reason is kept.
    fn leave(&mut self, holds: bool, reason: &'static str) {
        if !holds {
            self.undecided.get_or_insert(reason);
        }
    }

    fn word(&mut self, words: &[&Specifier], at: usize) -> Ruled<()> {
        let before = at.checked_sub(1).map(|at| words[at]);
        match words[at] {
            Specifier::Linkage(_) => {
                self.leave(at == 0 && self.context == DeclarationContext::Module, LINKAGE);
            }
            Specifier::Space(space, bank) => {
                if self.space.is_some() {
                    return self.refuse(RefusalClass::Specifiers, Clause::OneStateSpace);
                }
                self.leave(bank.is_none(), BANK);
                self.leave(self.scalar.is_none(), TYPE_FIRST);
                self.space = Some(*space);
            }
            Specifier::Align(_) => match before {
                Some(Specifier::Space(..)) => {}
                Some(Specifier::Attributes(_)) if self.order.is_none() && follows_space(&words[..at - 1]) => {
                    self.order = Some(AttributeOrder::AttributeFirst);
                }
                _ => return self.refuse(RefusalClass::Specifiers, Clause::AlignPlace),
            },
            Specifier::Attributes(list) if list.is_empty() => {
                return self.refuse(RefusalClass::Attribute, Clause::AttributeList);
            }
            Specifier::Attributes(_) => match before {
                Some(Specifier::Space(..)) => {}
                Some(Specifier::Align(_)) if self.order.is_none() => {
                    self.order = Some(AttributeOrder::AlignFirst);
                }
                _ => self.leave(false, ATTRIBUTE),
            },
            Specifier::Vector(length) => match words.get(at + 1) {
                Some(Specifier::Type(_)) => self.vector = Some(*length),
                Some(Specifier::Opaque(_) | Specifier::Vector(_)) => {
                    return self.refuse(RefusalClass::VectorType, Clause::VectorFundamentalType);
                }
                Some(Specifier::Word(_)) => self.leave(false, WORD),
                _ => return self.refuse(RefusalClass::Specifiers, Clause::VectorPrefix),
            },
            Specifier::Type(_) if self.scalar.is_some() => {
                return self.refuse(RefusalClass::Specifiers, Clause::OneType);
            }
            Specifier::Type(scalar) => self.scalar = Some(*scalar),
            Specifier::Opaque(_) => {
                self.opaque = true;
                self.leave(false, OPAQUE);
            }
            Specifier::Word(_) => {
                self.opaque = true;
                self.leave(false, WORD);
            }
            Specifier::Ptr => {}
        }
        Ok(())
    }

    /// Checks the specifiers together, after all words.
    fn finish(mut self) -> Ruled<Specified> {
        let is_common = self.declaration.linkage().any(|linkage| linkage == Linkage::Common);
        self.leave(!is_common || self.space == Some(StateSpace::Global), COMMON);
        match (self.context, self.space) {
            (
                DeclarationContext::Module,
                Some(StateSpace::Global | StateSpace::Const | StateSpace::Shared),
            ) => {}
            (DeclarationContext::Module, Some(_)) => self.leave(false, SPACE_AT_MODULE_SCOPE),
            (DeclarationContext::Parameter, Some(StateSpace::Param | StateSpace::Reg)) => {}
            (DeclarationContext::Parameter, Some(_)) => self.leave(false, SPACE_OF_PARAMETER),
            _ => {}
        }
        match (self.space, self.scalar, self.undecided) {
            // An unknown word may be a type or a state space.
            (None, _, Some(reason)) | (_, None, Some(reason)) if self.opaque => Err(Stop::Unmodelled(reason)),
            (None, ..) => self.refuse(RefusalClass::Specifiers, Clause::OneStateSpace),
            (_, None, _) => self.refuse(RefusalClass::Specifiers, Clause::OneType),
            (Some(space), Some(scalar), undecided) => {
                let Decoder { vector, order, .. } = self;
                Ok(Specified { space, scalar, vector, order, undecided })
            }
        }
    }
}

/// Whether the last of these words is a state space.
fn follows_space(words: &[&Specifier]) -> bool {
    matches!(words.last(), Some(Specifier::Space(..)))
}
