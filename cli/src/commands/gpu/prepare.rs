//! `ptxsmith gpu prepare`: modules, and cubins of them by several releases of ptxas.

use std::fs;
use std::path::Path;

use ptxsmith_campaign::files::{make_directory, write_whole};
use ptxsmith_diff::{Body, Header, Trial};
use ptxsmith_gen::{Config, Coverage, Focus, Generator};
use ptxsmith_oracle::{Expectation, Rules, Variable, expect};
use ptxsmith_subject::toolchain::Toolchains;
use ptxsmith_subject::{Limits, Ptxas, Request, Subject, process};
use ptxsmith_syntax::{Item, Module, Name, print};

use super::{Context, Exit, Failure, Prepare, kernels};

/// Variables of a module that hold one expression each; aggregates and addresses come on top.
const EXPRESSIONS: u64 = 90;

/// Makes as many modules as asked for of which every release makes cubins for every target.
pub(super) fn run(context: &Context, args: &Prepare) -> Result<Exit, Failure> {
    let assemblers = assemblers(context, args)?;
    let modules = args.out.join("modules");
    make_directory(&modules)?;
    for release in &args.releases {
        for target in &args.targets {
            make_directory(&folder(&args.out, release.name(), target))?;
        }
    }
    let generator = Generator::new(Config::calm());
    let (mut made, mut left_out, mut variables, mut launches) = (0, 0u32, 0, 0);
    for index in 0.. {
        if made == args.modules.get() {
            break;
        }
        if context.cancel.is_cancelled() {
            return Err(Failure::Interrupted);
        }
        if left_out > 10 * args.modules.get() {
            return Err(Failure::BadInput(format!(
                "only {made} modules are taken by every release for every target; name others"
            )));
        }
        let Some(prepared) = prepared(&generator, context.seed, index) else {
            left_out += 1;
            continue;
        };
        let Some(cubins) = assembled(&assemblers, args, &prepared.text)? else {
            left_out += 1;
            continue;
        };
        let name = format!("{made:04}");
        write_whole(&modules.join(format!("{name}.ptx")), prepared.text.as_bytes())?;
        for (release, target, cubin) in cubins {
            write_whole(&folder(&args.out, release, target).join(format!("{name}.cubin")), &cubin)?;
        }
        made += 1;
        variables += prepared.variables;
        launches += prepared.kernels;
    }
    context.console.note(&format!(
        "{made} modules with {variables} variables and {launches} kernels, for the driver's compiler and as cubins of {} \
         releases for {} targets; {left_out} left out",
        args.releases.len(),
        args.targets.len()
    ));
    Ok(Exit::Success)
}

/// Where the cubins of a release for a target are.
fn folder(out: &Path, release: &str, target: &str) -> std::path::PathBuf {
    out.join("cubins").join(format!("ptxas@{release}")).join(target)
}

fn assemblers(context: &Context, args: &Prepare) -> Result<Vec<(&'static str, Ptxas)>, Failure> {
    let toolchains = Toolchains::of_user()?;
    let note = |message: &str| context.console.note(message);
    let open = |release: &&'static ptxsmith_subject::toolchain::Release| {
        let path = toolchains.install(release, &context.cancel, &note)?;
        let id = format!("ptxas@{}", release.name());
        let ptxas = Ptxas::open(id, path, Limits::default(), context.cancel.clone())?;
        for target in &args.targets {
            if !ptxas.description().targets.contains(target) {
                let name = release.name();
                return Err(Failure::BadInput(format!("release {name} makes no code for {target}")));
            }
        }
        Ok((release.name(), ptxas))
    };
    args.releases.iter().map(open).collect()
}

struct Prepared {
    text: String,
    variables: usize,
    kernels: usize,
}

/// One module: declarations with lists and addresses, then expressions, then the kernels. What the specification refuses or
/// leaves open is left out of it. `None` where the parts do not go together.
fn prepared(generator: &Generator, seed: u64, index: u64) -> Option<Prepared> {
    let mut coverage = Coverage::new();
    let header = Header::default();
    let mut module = header.module([]);
    let focus = if index.is_multiple_of(2) { Focus::Addresses } else { Focus::Initializers };
    if let ptxsmith_gen::Body::Items(items) = generator.case(focus, seed, index, &mut coverage).body {
        let alone = Trial::new(index, Body::Items(items)).module(&header);
        if predicted(&alone).is_some() {
            module = alone;
        }
    }
    let mut number = 0;
    // Of the cases of this module; about one in fifty is refused.
    for case in 0..2 * EXPRESSIONS {
        if number == EXPRESSIONS {
            break;
        }
        let case = generator.case(Focus::Expressions, seed, index * 2 * EXPRESSIONS + case, &mut coverage);
        let ptxsmith_gen::Body::Expression { ty, space, expr } = case.body else { continue };
        let mut alone = Trial::new(number, Body::Expression { ty, space, expr }).module(&header);
        if predicted(&alone).is_none() {
            continue;
        }
        if let Some(Item::Variables(mut declaration)) = alone.items.pop() {
            for declarator in &mut declaration.declarators {
                declarator.name = Name::new(format!("expression_{number}"));
            }
            module.items.push(Item::Variables(declaration));
            number += 1;
        }
    }
    let variables = predicted(&module)?;
    let kernels = kernels(&variables);
    let mut text = print(&module);
    for (_, kernel) in &kernels {
        text.push('\n');
        text.push_str(&kernel.text);
    }
    Some(Prepared { text, variables: variables.len(), kernels: kernels.len() })
}

/// What the variables of a module hold, where the specification takes it and says so of all.
fn predicted(module: &Module) -> Option<Vec<Variable>> {
    match expect(module, &Rules::default()) {
        Expectation::Accepted { variables, unmodelled, .. } if unmodelled.is_empty() => Some(variables),
        _ => None,
    }
}

type Cubins<'a> = Vec<(&'static str, &'a str, Vec<u8>)>;

/// The cubins of a module; `None` where some release takes it not, which is another test's matter.
fn assembled<'a>(
    assemblers: &[(&'static str, Ptxas)],
    args: &'a Prepare,
    text: &str,
) -> Result<Option<Cubins<'a>>, Failure> {
    let mut cubins = Vec::new();
    for (release, ptxas) in assemblers {
        for target in &args.targets {
            let (finished, cubin) = ptxas.assemble(&Request::new(text, target))?;
            match (finished.end, cubin) {
                (process::End::Exited(0), Some(cubin)) => cubins.push((*release, target.as_str(), cubin)),
                _ => return Ok(None),
            }
        }
    }
    Ok(Some(cubins))
}

/// The names of the prepared modules, sorted.
pub(super) fn modules(prepared: &Path) -> Result<Vec<String>, Failure> {
    let folder = prepared.join("modules");
    let entries = fs::read_dir(&folder).map_err(|error| {
        Failure::BadInput(format!("{}: {error}; ptxsmith gpu prepare makes it", folder.display()))
    })?;
    let mut names: Vec<String> = entries
        .filter_map(|entry| Some(entry.ok()?.file_name().to_str()?.strip_suffix(".ptx")?.to_owned()))
        .collect();
    names.sort();
    Ok(names)
}
