//! Target `roundtrip`: generates a program from bytes, prints it, and checks that it parses back to the same program.

use std::cell::RefCell;
use std::sync::LazyLock;

use arbitrary::{Arbitrary, Unstructured};
use ptxsmith_gen::{Config, Coverage, Generator, Header};
use ptxsmith_syntax::{Declaration, Item, Module, ScalarType, Spacing, StateSpace, parse, print};

use crate::target::{Selection, Target, TargetFailure};

/// The target.
pub static ROUNDTRIP: Target = Target { name: "roundtrip", run, program: |data| Some(print(&module(data))) };

/// Various generators: the default, one that generates kernels, and some with features disabled.
static GENERATORS: LazyLock<Vec<Generator>> = LazyLock::new(|| {
    let mut configs =
        vec![Config::default(), Config { operands: true, unified: true, b128: true, ..Config::default() }];
    for seed in 0..14 {
        let mut bytes = [0; 4096];
        ptxsmith_gen::stream::case_bytes(seed, 0, &mut bytes);
        configs.push(Config::arbitrary(&mut Unstructured::new(&bytes)).unwrap_or_default());
    }
    configs.into_iter().map(Generator::new).collect()
});

thread_local! {
    /// Coverage, unused here but required by the generator. Reused because it is larger than most programs.
    static COVERAGE: RefCell<Coverage> = RefCell::new(Coverage::new());
}

/// The maximum number of parts in a program. Short executions matter, because libFuzzer instruments every branch.
const MOST_PARTS: usize = 2;

const TYPES: [ScalarType; 6] =
    [ScalarType::S64, ScalarType::U32, ScalarType::B64, ScalarType::S8, ScalarType::F64, ScalarType::F32];

/// Decodes bytes into a program. The first byte selects a generator. Each part begins with a byte that selects its kind; up to
/// two parts are generated while bytes remain.
pub fn module(data: &[u8]) -> Module {
    COVERAGE.with_borrow_mut(|coverage| made_of(data, coverage))
}

fn made_of(data: &[u8], coverage: &mut Coverage) -> Module {
    let mut u = Unstructured::new(data);
    let generator = &GENERATORS[usize::from(u.arbitrary::<u8>().unwrap_or(0)) % GENERATORS.len()];
    let mut items = Vec::new();
    for _ in 0..MOST_PARTS {
        let what: u8 = u.arbitrary().unwrap_or(0);
        let ty = TYPES[usize::from(what) / 16 % TYPES.len()];
        // Kinds with long source texts are rarer, because libFuzzer prefers them anyway.
        let made = match what % 16 {
            0..=7 => {
                let expr = generator.expression(ty, &mut u, coverage);
                let name = format!("x{}", items.len());
                vec![Item::Variables(Declaration::scalar(StateSpace::Global, ty, name, expr))]
            }
            8..=10 => vec![Item::Variables(generator.declaration(&mut u, coverage))],
            11 | 12 => generator.addresses(&mut u, coverage),
            13 => generator.contexts(&mut u, coverage),
            14 if generator.config().operands => generator.kernel(&mut u, coverage),
            _ => {
                let seed = u.arbitrary().unwrap_or(0);
                generator.negative(seed, u.arbitrary::<u16>().unwrap_or(0).into(), coverage).broken
            }
        };
        items.extend(made);
        if u.is_empty() {
            break;
        }
    }
    Header::default().module(items)
}

fn run(data: &[u8]) -> Result<(), TargetFailure> {
    let module = module(data);
    let selection = Selection::new(data, 2);
    if selection.includes(0) {
        canonical(&module)?
    };
    if selection.includes(1) {
        oddly_spaced(&module, data)?
    };
    Ok(())
}

fn canonical(module: &Module) -> Result<(), TargetFailure> {
    let text = print(module);
    let again = parse(&text)
        .map_err(|error| TargetFailure(format!("the text does not parse: {}", error.render("", &text))))?;
    TargetFailure::unless(again == *module, || "the text is parsed as another program".to_owned())?;
    TargetFailure::unless(print(&again) == text, || "the same program is printed in two ways".to_owned())?;
    Ok(())
}

fn oddly_spaced(module: &Module, data: &[u8]) -> Result<(), TargetFailure> {
    let Some(odd) = odd_text(module, data) else { return canonical(module) };
    let read =
        parse(&odd).map_err(|error| TargetFailure(format!("oddly spaced: {}", error.render("", &odd))))?;
    TargetFailure::unless(read == *module, || format!("oddly spaced, it is another program:\n{odd}"))
}

/// Prints the program with white space and comments derived from these bytes. Returns `None` if the program may contain kept
/// tokens, because these retain their original gaps.
pub fn odd_text(module: &Module, data: &[u8]) -> Option<String> {
    if !module.items.iter().all(|item| item.is_header() || matches!(item, Item::Variables(_))) {
        return None;
    }
    let seed =
        data.iter().fold(data.len() as u64, |sum, &byte| sum.wrapping_mul(257).wrapping_add(byte.into()));
    Some(Spacing::Odd(seed).print(module))
}
