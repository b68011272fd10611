//! Reduces kernels: compiles all variants that are smaller by one change together, and continues with the
//! smallest one that still deviates.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use ptxsmith_diff::arithmetic::{KernelVerdict, WrongResult};
use ptxsmith_gen::arithmetic::TARGETS;
use ptxsmith_model::{Class, Outcome as Answer};

use super::{KernelText, MOST_REDUCED, MiscompiledKernel, calculations, class_of, end_of, listed, text_of};
use crate::campaign::Campaign;
use crate::failure::{Failure, of_subject};
use crate::pool::{lock_of, map};
use crate::subjects::TestSubject;

/// The most variants in one module. The smallest are tried first, and often one of the first still deviates.
const MOST_TOGETHER: usize = 64;

/// Reduces examples: first those that no listed deviation covers, each the shortest first. Among those with
/// the same opcodes and subject only one is reduced; it is returned with their number.
pub(super) fn reduce_all(
    campaign: &Campaign<'_>,
    examples: Vec<MiscompiledKernel>,
    limit: Option<Duration>,
) -> Result<Vec<(MiscompiledKernel, u64)>, Failure> {
    let until = end_of(campaign.session, limit);
    let mut alike: BTreeMap<(String, usize), (MiscompiledKernel, u64)> = BTreeMap::new();
    for example in examples {
        let key = (example.kernel.form(), example.subject);
        alike.entry(key).or_insert_with(|| (example, 0)).1 += 1;
    }
    // The examples by kernel, each of another subject.
    let mut kernels: BTreeMap<_, Vec<(MiscompiledKernel, u64)>> = BTreeMap::new();
    for (example, count) in alike.into_values() {
        let order = (
            listed(campaign, &example, |known| known.pattern).is_some(),
            example.kernel.size(),
            example.number,
        );
        kernels.entry(order).or_default().push((example, count));
    }
    let mut distinct: Vec<Vec<(MiscompiledKernel, u64)>> = kernels.into_values().collect();
    let beyond_limit = distinct.split_off(distinct.len().min(MOST_REDUCED));
    let late = Mutex::new(Vec::new());
    let reduced = map(campaign.session, &distinct, |of_kernel| {
        if until.is_some_and(|until| Instant::now() >= until) {
            lock_of(&late).extend(of_kernel.iter().cloned());
            return Ok(Vec::new());
        }
        reduce_for_each(campaign, of_kernel, until)
    })?;
    let mut late = late.into_inner().expect("a panic ends the program");
    // Those that were not started count too.
    let not_started = distinct.iter().zip(&reduced).filter(|(_, reduced)| reduced.is_none());
    late.extend(not_started.flat_map(|(of_kernel, _)| of_kernel.iter().cloned()));
    let mut reduced: Vec<(MiscompiledKernel, u64)> = reduced.into_iter().flatten().flatten().collect();
    // Examples without time for a reduction join a reduced one of the same subject whose opcodes they contain.
    let forms: Vec<(String, MiscompiledKernel)> =
        reduced.iter().map(|(example, _)| (example.kernel.form(), example.clone())).collect();
    for (example, count) in late.into_iter().chain(beyond_limit.into_iter().flatten()) {
        let form = example.kernel.form();
        let is_alike = |(part, other): &&(String, MiscompiledKernel)| {
            contains(&form, part) && (other.class, other.subject) == (example.class, example.subject)
        };
        let alike = forms.iter().find(is_alike).map(|(_, other)| other.clone());
        reduced.push((alike.unwrap_or(example), count));
    }
    Ok(reduced)
}

/// Reduces a kernel for each subject. One that is reduced already for another subject is tried first.
fn reduce_for_each(
    campaign: &Campaign<'_>,
    examples: &[(MiscompiledKernel, u64)],
    until: Option<Instant>,
) -> Result<Vec<(MiscompiledKernel, u64)>, Failure> {
    let mut reduced: Vec<(MiscompiledKernel, u64)> = Vec::new();
    for (example, count) in examples {
        let tested = &campaign.subjects[example.subject];
        let others: Vec<KernelText> = (reduced.iter())
            .filter(|(other, _)| other.class == example.class)
            .map(|(other, _)| other.kernel.clone())
            .collect();
        let smallest = match first_wrong(tested, &others, example)? {
            Some((kernel, wrong)) => MiscompiledKernel { kernel, wrong, ..example.clone() },
            None => reduce(tested, example, until)?,
        };
        reduced.push((smallest, *count));
    }
    Ok(reduced)
}

/// Returns true if a form contains all opcodes of another in the same order.
fn contains(form: &str, other: &str) -> bool {
    let mut all = form.split(' ');
    other.split(' ').all(|opcode| all.any(|present| present == opcode))
}

fn reduce(
    tested: &TestSubject,
    example: &MiscompiledKernel,
    until: Option<Instant>,
) -> Result<MiscompiledKernel, Failure> {
    let mut smallest = example.clone();
    loop {
        let smaller = smallest.kernel.smaller();
        let mut next = None;
        for chunk in smaller.chunks(MOST_TOGETHER) {
            if until.is_some_and(|until| Instant::now() >= until) {
                return Ok(smallest);
            }
            next = first_wrong(tested, chunk, example)?;
            if next.is_some() {
                break;
            }
        }
        match next {
            Some((kernel, wrong)) => smallest = MiscompiledKernel { kernel, wrong, ..smallest },
            None => return Ok(smallest),
        }
    }
}

/// Returns the first of some kernels, if there are any, that shows the class of an example.
fn first_wrong(
    tested: &TestSubject,
    kernels: &[KernelText],
    example: &MiscompiledKernel,
) -> Result<Option<(KernelText, Option<WrongResult>)>, Failure> {
    if kernels.is_empty() {
        return Ok(None);
    }
    if example.class != Class::WrongValue {
        for kernel in kernels {
            if let Some((class, wrong)) = deviation_of(tested, kernel, example.target)?
                && class == example.class
            {
                return Ok(Some((kernel.clone(), wrong)));
            }
        }
        return Ok(None);
    }
    let named: Vec<(String, KernelText)> =
        kernels.iter().enumerate().map(|(index, kernel)| (format!("k{index:04}"), kernel.clone())).collect();
    let text = text_of(&named, example.target);
    let Some(calculations) = calculations(&text) else { return Ok(None) };
    let judged =
        calculations.judge(&*tested.subject, &text, TARGETS[example.target].0).map_err(of_subject)?;
    // If the module is not accepted, compile each kernel alone to find those at fault.
    if judged.observation.outcome != Answer::Accepted {
        for kernel in kernels {
            if let Some((Class::WrongValue, wrong)) = deviation_of(tested, kernel, example.target)? {
                return Ok(Some((kernel.clone(), wrong)));
            }
        }
        return Ok(None);
    }
    let wrong = judged.kernels.into_iter().zip(kernels).find_map(|((_, verdict), kernel)| match verdict {
        KernelVerdict::Differs(wrong) => Some((kernel.clone(), Some(wrong))),
        _ => None,
    });
    Ok(wrong)
}

/// Returns the deviation of a subject on a kernel alone.
pub(super) fn deviation_of(
    tested: &TestSubject,
    kernel: &KernelText,
    target: usize,
) -> Result<Option<(Class, Option<WrongResult>)>, Failure> {
    let text = text_of(&[("k".to_owned(), kernel.clone())], target);
    let Some(calculations) = calculations(&text) else { return Ok(None) };
    let judged = calculations.judge(&*tested.subject, &text, TARGETS[target].0).map_err(of_subject)?;
    if judged.observation.outcome != Answer::Accepted {
        return Ok(class_of(judged.observation.outcome).map(|class| (class, None)));
    }
    Ok(judged.kernels.into_iter().find_map(|(_, verdict)| match verdict {
        KernelVerdict::Differs(wrong) => Some((Class::WrongValue, Some(wrong))),
        _ => None,
    }))
}
