//! A renamed program has no name left that it declared, and means the same.

use ptxsmith_gen::{Config, Coverage, Focus, Generator, Header};
use ptxsmith_oracle::{Expectation, KernelOutcome, Prediction, Rules, predict};
use ptxsmith_syntax::{
    Candidate, Module, Names, Role, Span, Text, Visit, parse, prefixed, print, rename, without_prefix,
};

const PREFIX: &str = "renamed_";

/// The names that a module declares, and those that it uses.
#[derive(Default)]
struct Named {
    declared: Names<()>,
    used: Vec<Text>,
}

impl<'m> Visit<'m> for Named {
    fn name(&mut self, name: &'m Text, role: Role) {
        self.declared.declare_by_role(name, role, ());
        if role == Role::Use {
            self.used.push(name.clone());
        }
    }
}

fn named(module: &Module) -> Named {
    let mut named = Named::default();
    named.module(module);
    named
}

/// What is predicted, with the names from before and without places in the text.
fn as_before(mut prediction: Prediction) -> Prediction {
    let back = |name: &mut Text| *name = without_prefix(name, PREFIX).unwrap_or_else(|| name.clone());
    match &mut prediction.data {
        Expectation::Accepted { variables, unmodelled, .. } => {
            for variable in variables {
                back(&mut variable.name);
                variable.addresses.iter_mut().for_each(|address| back(&mut address.symbol));
            }
            for one in unmodelled {
                one.part =
                    without_prefix(&one.part, PREFIX).map_or(one.part.clone(), |name| name.to_string());
                one.span = Span::NONE;
            }
        }
        Expectation::Refused { refusal, .. } => refusal.span = Span::NONE,
        Expectation::Unmodelled { parts, .. } => parts.iter_mut().for_each(|one| one.part.clear()),
    }
    // Their names are in sentences; how many there are, and why, is the same.
    for one in &mut prediction.undecided {
        (one.part, one.span) = (String::new(), Span::NONE);
    }
    for kernel in &mut prediction.kernels {
        back(&mut kernel.name);
        if let KernelOutcome::Output(output) = &mut kernel.outcome {
            output.addresses.iter_mut().for_each(|address| back(&mut address.symbol));
        }
    }
    prediction
}

/// How many of the programs had what would show an error.
#[derive(Debug, Default)]
struct Seen {
    refused: u32,
    addresses: u32,
    numbered: u32,
    outputs: u32,
}

#[test]
fn a_renamed_program_means_the_same_under_names_that_share_nothing() {
    let config = Config { unified: true, operands: true, ..Config::default() };
    let generator = Generator::new(config);
    let header = Header { version: "8.3".into(), target: "sm_90".into(), ..Header::default() };
    let rules = Rules::default();
    let mut seen = Seen::default();
    let focuses = [Focus::Initializers, Focus::Addresses, Focus::Negatives, Focus::Operands];
    for index in 0..4_000 {
        let case = generator.case(focuses[index as usize % 4], 11, index, &mut Coverage::new());
        let text = print(&case.module(&header));
        // An edit may take what the parser needs.
        let Ok(module) = parse(&text) else { continue };
        let printed = print(&Module { items: prefixed(&module.items, PREFIX) });
        let mut renamed = parse(&printed).unwrap_or_else(|error| panic!("{error}:\n{printed}"));

        let (before, after) = (named(&module), named(&renamed));
        for name in &after.used {
            assert!(before.declared.candidates(name).next().is_none(), "`{name}` is left:\n{printed}");
        }
        let expected = as_before(predict(&module, &rules));
        assert_eq!(as_before(predict(&renamed, &rules)), expected, "{text}\n{printed}");

        let is_numbered = |c: Candidate<'_, ()>| c.count.is_some();
        seen.numbered +=
            u32::from(before.used.iter().any(|n| before.declared.candidates(n).any(is_numbered)));
        if let Expectation::Accepted { variables, .. } = &expected.data {
            seen.addresses += u32::from(variables.iter().any(|variable| !variable.addresses.is_empty()));
        } else {
            seen.refused += 1;
        }
        seen.outputs +=
            u32::from(expected.kernels.iter().any(|k| matches!(k.outcome, KernelOutcome::Output(_))));

        rename(&mut renamed.items, |name| without_prefix(name, PREFIX));
        assert_eq!(print(&renamed), text);
    }
    let enough = seen.refused > 500 && seen.addresses > 500 && seen.numbered > 100 && seen.outputs > 500;
    assert!(enough, "too few programs show anything: {seen:?}");
}
