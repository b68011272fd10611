//! Variants of programs that exist: what means the same has to come out the same, also where no rule says what is right.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, OnceLock};

use ptxsmith_diff::{Class, Difference, Header, Judged, NotCompared, Part, Trial, Verdict, observe};
use ptxsmith_gen::variants::{Edit, Kind, Same, Variant, Variants};
use ptxsmith_oracle::{Rules, Trace};
use ptxsmith_report::harmless::line as harmless;
use ptxsmith_subject::{Observation, Outcome};
use ptxsmith_syntax::{Item, Module, Role, Text, Visit, parse, print};

use crate::alike::{Differs, differs};
use crate::campaign::{Campaign, Source};
use crate::failure::{Failure, of_subject};
use crate::input::Program;
use crate::judges::{Entry, judge, trial_of};
use crate::pool::lock_of;
use crate::subjects::{Tested, target_for};

/// How many variants are one task.
pub const TOGETHER: u64 = 32;
/// How many programs a difference is made smaller with.
const MOST_SHOWN: u32 = 120;
/// Set in the number of a variant.
const VARIANT: u64 = 1 << 62;

/// The number of a variant of a file that a subject is shown.
fn number_of(file: u64, index: u64, subject: usize) -> u64 {
    VARIANT | file << 40 | index << 8 | subject as u64
}

/// Which variant of its file this trial is, counted from one, where it is a variant.
pub fn nth_variant(trial: u64) -> Option<u64> {
    (trial >> 62 == 1).then_some((trial >> 8 & u64::from(u32::MAX)) + 1)
}

/// A program and what the subjects make of it.
struct Base {
    program: Program,
    variants: Variants,
    trial: Trial,
    header: Header,
    /// By the number of the subject.
    seen: Vec<Observation>,
}

/// The programs of which variants are being shown.
#[derive(Default)]
pub struct Bases {
    open: Mutex<BTreeMap<u64, Arc<Open>>>,
}

#[derive(Default)]
struct Open {
    base: OnceLock<Option<Base>>,
    making: Mutex<()>,
    tally: Mutex<Tally>,
}

#[derive(Default)]
struct Tally {
    shown: u64,
    /// By the number of the subject: how many are the same, and how many are not.
    same: BTreeMap<usize, (u64, u64)>,
}

impl Bases {
    /// Shows some variants of a file, of so many in all, and enters what differs. `read` reads the file, which may be left out.
    ///
    /// # Errors
    /// Only where our machine or code fails.
    pub fn show(
        &self,
        campaign: &Campaign<'_>,
        (file, range, of): (u64, Range<u64>, u64),
        path: &str,
        read: impl FnOnce() -> Option<Program>,
    ) -> Result<(), Failure> {
        let open = Arc::clone(lock_of(&self.open).entry(file).or_default());
        {
            let _one = lock_of(&open.making);
            if open.base.get().is_none() {
                let base = read().map(|program| Base::of(campaign, program)).transpose()?;
                open.base.get_or_init(|| base);
            }
        }
        let Some(Some(base)) = open.base.get() else { return Ok(()) };
        for index in range.clone() {
            let edits = base.variants.draw(campaign.seed, index);
            let variant = base.variants.make(&edits);
            for (nth, tested) in campaign.subjects.iter().enumerate() {
                let shown = ShownTo { campaign, base, tested, path, nth };
                let is_same = shown.judge(number_of(file, index, nth), &edits, &variant)?;
                let mut tally = lock_of(&open.tally);
                let (same, other) = tally.same.entry(nth).or_default();
                match is_same {
                    Some(true) => *same += 1,
                    Some(false) => *other += 1,
                    None => {}
                }
            }
        }
        let mut tally = lock_of(&open.tally);
        tally.shown += range.end - range.start;
        if tally.shown == of {
            for (&nth, (same, other)) in &tally.same {
                let id = campaign.subjects[nth].subject.id();
                let others = if *other > 0 { format!(", {other} do not") } else { String::new() };
                let line = format!("{}: {id}: {same} variants hold the same{others}", base.program.name);
                campaign.session.events.judged(&harmless(&line));
            }
            lock_of(&self.open).remove(&file);
        }
        Ok(())
    }
}

impl Base {
    fn of(campaign: &Campaign<'_>, program: Program) -> Result<Base, Failure> {
        let module = program.module.clone();
        let of = |tested: &Tested| seen(tested, &module, &program.text);
        let seen = campaign.subjects.iter().map(of).collect::<Result<_, _>>()?;
        let (trial, header) = (trial_of(0, &module), Header::of(&module));
        Ok(Base { variants: Variants::new(module), trial, header, seen, program })
    }
}

/// What a subject makes of a program.
fn seen(tested: &Tested, module: &Module, text: &str) -> Result<Observation, Failure> {
    let target = target_for(module, tested.subject.description());
    observe(&*tested.subject, &Rules::default(), module, text, &target).map_err(of_subject)
}

/// A subject that is shown variants of a program.
struct ShownTo<'c> {
    campaign: &'c Campaign<'c>,
    base: &'c Base,
    tested: &'c Tested,
    path: &'c str,
    nth: usize,
}

/// Two programs that mean the same, and in what they differ for the subject.
struct Pair {
    module: Module,
    text: String,
    seen: Observation,
    variant: Variant,
    variant_seen: Observation,
    differs: Differs,
}

impl ShownTo<'_> {
    /// Whether a variant is the same to the subject; `None` where that cannot be told.
    fn judge(&self, number: u64, edits: &[Edit], variant: &Variant) -> Result<Option<bool>, Failure> {
        let seen_before = &self.base.seen[self.nth];
        let whole = |verdict| Judged::new(number, verdict, None, Trace::default());
        let enter = |judged: Judged, trial: &Trial, source: Option<&Source>| {
            let entry = Entry { trial, header: &self.base.header, judged };
            self.campaign.enter(self.tested, [entry], source)
        };
        if !matches!(seen_before.outcome, Outcome::Accepted | Outcome::Refused) {
            // What it dies of is found by itself; what it lacks has no variants.
            return Ok(None);
        }
        let variant_seen = seen(self.tested, &variant.module, &variant.text)?;
        let Some(difference) = in_what(variant, seen_before, &variant_seen) else {
            let silent = matches!(variant_seen.outcome, Outcome::Unsupported | Outcome::Unavailable);
            let verdict =
                if silent { Verdict::NotCompared(NotCompared::Unsupported) } else { Verdict::Conforms };
            enter(whole(verdict), &self.base.trial, None)?;
            return Ok((!silent).then_some(true));
        };
        let pair = Pair {
            module: self.base.program.module.clone(),
            text: self.base.program.text.clone(),
            seen: seen_before.clone(),
            variant: variant.clone(),
            variant_seen,
            differs: difference,
        };
        let own = judge(&*self.tested.subject, &pair.module, &pair.text).map_err(of_subject)?.parts();
        let parts = judge(&*self.tested.subject, &pair.variant.module, &pair.variant.text)
            .map_err(of_subject)?
            .parts();
        let explained = own.iter().any(|part| explains(part, &pair, false))
            || parts.iter().any(|part| explains(part, &pair, true));
        let died = parts.iter().any(died);
        if explained || died {
            // What a listed deviation, or an answer to an open question, predicts is that.
            let trial = trial_of(number, &pair.variant.module);
            let source = Source { path: self.path.to_owned(), text: pair.variant.text.clone() };
            let counts = |part: &Part| matches!(part.verdict, Verdict::Deviates(_) | Verdict::Reads(_));
            for part in parts.into_iter().filter(|part| part.derived.is_none()).filter(counts) {
                enter(part.judged(number), &trial, Some(&source))?;
            }
            return Ok(Some(false));
        }
        // No answer in time is no other answer: where it is a deviation, it died.
        if pair.variant_seen.outcome == Outcome::TimedOut {
            let verdict = Verdict::NotCompared(NotCompared::Unobserved);
            enter(whole(verdict), &self.base.trial, None)?;
            return Ok(None);
        }
        let (edits, pair) = self.smaller(edits, pair)?;
        let kinds: Vec<&str> = {
            let mut kinds: Vec<Kind> = edits.iter().map(|edit| edit.kind).collect();
            kinds.dedup();
            kinds.into_iter().map(Kind::name).collect()
        };
        let difference = Difference {
            class: Class::Inconsistent,
            variable: match &pair.differs {
                Differs::Outcome => None,
                Differs::Variable(name) => Some(name.clone()),
            },
            expected: expected(&pair, &kinds),
            observed: named_as_before(&pair.variant_seen, &pair.variant),
            explanation: None,
            suspected: Some(Vec::new()),
        };
        let trial = trial_of(number, &pair.variant.module);
        let source = Source { path: self.path.to_owned(), text: pair.variant.text.clone() };
        self.campaign.means_same(number, pair.text);
        enter(whole(Verdict::Deviates(Box::new(difference))), &trial, Some(&source))?;
        Ok(Some(false))
    }

    /// The fewest edits that still make a difference, in the smallest part of the program that still shows it.
    fn smaller(&self, edits: &[Edit], pair: Pair) -> Result<(Vec<Edit>, Pair), Failure> {
        let mut left = MOST_SHOWN;
        let Pair { module, text, seen: before, .. } = &pair;
        let mut show = |edits: &[Edit]| -> Result<Option<Pair>, Failure> {
            let Some(fewer) = left.checked_sub(1) else { return Ok(None) };
            left = fewer;
            let variant = self.base.variants.make(edits);
            let variant_seen = seen(self.tested, &variant.module, &variant.text)?;
            let differs = in_what(&variant, before, &variant_seen);
            let (module, text, seen) = (module.clone(), text.clone(), before.clone());
            Ok(differs.map(|differs| Pair { module, text, seen, variant, variant_seen, differs }))
        };
        let mut best = (edits.to_vec(), None);
        let mut size = edits.len().div_ceil(2);
        while size > 0 {
            let mut at = 0;
            while at < best.0.len() {
                let mut fewer = best.0.clone();
                fewer.drain(at..(at + size).min(fewer.len()));
                match show(&fewer)? {
                    Some(pair) => best = (fewer, Some(pair)),
                    None => at += size,
                }
            }
            size = if size == 1 { 0 } else { size.div_ceil(2) };
        }
        let (edits, found) = best;
        let pair = found.unwrap_or(pair);
        let cut = self.cut(&pair)?;
        Ok((edits, cut.unwrap_or(pair)))
    }

    /// The pair with only what the variable that differs needs, where that still differs.
    fn cut(&self, pair: &Pair) -> Result<Option<Pair>, Failure> {
        let Differs::Variable(name) = &pair.differs else { return Ok(None) };
        let same = pair.variant.same.iter().find(|same| same.variable == *name);
        let here = same.map_or(name.as_str(), |same| &same.of);
        let names = pair.variant.module.items.iter().flat_map(|item| item.declared().map(|(name, _)| name));
        let there: Vec<&Text> =
            names.filter(|own| *own == name || pair.variant.original(own) == here).collect();
        let (Some(module), Some(variant_module)) = (
            needed(&pair.module, |own| own == here),
            needed(&pair.variant.module, |own| there.iter().any(|name| *name == own)),
        ) else {
            return Ok(None);
        };
        let text = print(&module);
        let variant = pair.variant.with(variant_module);
        let own = seen(self.tested, &module, &text)?;
        let variant_seen = seen(self.tested, &variant.module, &variant.text)?;
        let still = in_what(&variant, &own, &variant_seen).filter(|differs| *differs == pair.differs);
        Ok(still.map(|differs| Pair { module, text, seen: own, variant, variant_seen, differs }))
    }
}

/// The header, the statements that declare what is wanted, and what they name.
fn needed(module: &Module, wanted: impl Fn(&str) -> bool) -> Option<Module> {
    struct Used(Vec<Text>);
    impl Visit<'_> for Used {
        fn name(&mut self, name: &Text, role: Role) {
            if role == Role::Use {
                self.0.push(name.clone());
            }
        }
    }
    let mut kept = vec![false; module.items.len()];
    let declares = |item: &Item| item.declared().any(|(name, _)| wanted(name));
    let mut left: Vec<usize> = (0..module.items.len()).filter(|&at| declares(&module.items[at])).collect();
    if left.is_empty() {
        return None;
    }
    while let Some(at) = left.pop() {
        if std::mem::replace(&mut kept[at], true) {
            continue;
        }
        let mut used = Used(Vec::new());
        used.item(&module.items[at]);
        let names = |item: &Item| used.0.iter().any(|name| item.may_declare(name));
        left.extend((0..module.items.len()).filter(|&other| !kept[other] && names(&module.items[other])));
    }
    let items = module.items.iter().zip(kept);
    let text = print(&Module {
        items: items.filter(|(item, kept)| *kept || item.is_header()).map(|(item, _)| item.clone()).collect(),
    });
    parse(&text).ok()
}

fn died(part: &Part) -> bool {
    matches!(&part.verdict, Verdict::Deviates(difference) if matches!(difference.class, Class::Crash | Class::Hang))
}

/// Whether what is known of one of the two programs explains in what they differ.
fn explains(part: &Part, pair: &Pair, of_variant: bool) -> bool {
    let known = match &part.verdict {
        Verdict::Reads(_) => true,
        Verdict::Deviates(difference) => difference.explanation.is_some(),
        _ => false,
    };
    let concerns = match (&pair.differs, &part.variable) {
        (Differs::Variable(name), Some(own)) => {
            let added = pair.variant.same.iter().find(|same| same.variable == *name);
            own == name
                || added.is_some_and(|same| same.of == *own)
                || of_variant && pair.variant.original(own) == *name
        }
        _ => true,
    };
    known && concerns
}

/// In what a variant differs from the other program for a subject, where it does.
fn in_what(variant: &Variant, before: &Observation, after: &Observation) -> Option<Differs> {
    let named = named_as_before(after, variant);
    if let Some(differs) = differs(before, &named) {
        return Some(differs);
    }
    if (before.outcome, after.outcome) != (Outcome::Accepted, Outcome::Accepted) {
        return None;
    }
    let is_missing = |(name, own): (&Text, &ptxsmith_subject::Variable)| {
        own.bytes.is_some() && !name.starts_with("$__") && !named.variables.contains_key(name)
    };
    if let Some((name, _)) = before.variables.iter().find(|one| is_missing(*one)) {
        return Some(Differs::Variable(name.to_string()));
    }
    let other = variant.same.iter().find(|same| !holds(same, before, after));
    other.map(|same| Differs::Variable(same.variable.to_string()))
}

/// Whether a variable that was added holds what it has to, as far as both are seen.
fn holds(same: &Same, before: &Observation, after: &Observation) -> bool {
    let seen = after.variables.get(same.variable.as_str());
    let own =
        before.variables.get(same.of.as_str()).and_then(|own| own.bytes.as_ref()?.get(..same.size as usize));
    let (Some(seen), Some(own)) = (seen, own) else { return true };
    match same.at {
        None => {
            let size = own.iter().rev().fold(0, |size, &byte| size << 8 | u64::from(byte));
            seen.size.is_none_or(|seen| seen == size)
        }
        Some(at) => seen.bytes.as_ref().is_none_or(|bytes| {
            bytes.get(at as usize..(at + same.size) as usize).is_some_and(|bytes| bytes == own)
        }),
    }
}

/// What was seen of a variant, under the names of the other program.
fn named_as_before(seen: &Observation, variant: &Variant) -> Observation {
    let mut named = seen.clone();
    named.variables = std::mem::take(&mut named.variables)
        .into_iter()
        .map(|(name, mut variable)| {
            for address in variable.addresses.iter_mut().flatten() {
                address.symbol = variant.original(&address.symbol).to_string();
            }
            // What was added has no other name.
            let added = variant.same.iter().any(|same| same.variable == name);
            (if added { name } else { variant.original(&name) }, variable)
        })
        .collect();
    named
}

/// What was seen of the other program, with what the variant was made by.
fn expected(pair: &Pair, kinds: &[&str]) -> serde_json::Value {
    let mut before = pair.seen.clone();
    if let Differs::Variable(name) = &pair.differs
        && let Some(same) = pair.variant.same.iter().find(|same| same.variable == *name)
        && let Some(mut added) = pair.variant_seen.variables.get(name.as_str()).cloned()
        && let Some(own) = before.variables.get(same.of.as_str()).and_then(|own| own.bytes.clone())
    {
        let own = &own[..same.size as usize];
        if let (Some(at), Some(bytes)) = (same.at, &mut added.bytes)
            && let Some(place) = bytes.get_mut(at as usize..(at + same.size) as usize)
        {
            place.copy_from_slice(own);
        }
        before.variables.insert(name.into(), added);
    }
    let mut json = serde_json::to_value(&before).unwrap_or_default();
    json["edits"] = kinds.into();
    json
}

#[cfg(test)]
mod tests;
