//! `ptxsmith gen`: writes generated modules for use outside ptxsmith.

use std::io;

use ptxsmith_campaign::cases::{Cases, weights, wide_header};
use ptxsmith_campaign::files::{make_directory, write_whole};
use ptxsmith_campaign::places::cells_of;
use ptxsmith_campaign::statistics::Statistics;
use ptxsmith_gen::{Cell, Coverage, Header, Places, arithmetic, linking};

use super::CommandContext;
use crate::args::{self, ProgramKind};
use crate::exit::{Exit, Failure};

/// The number of modules that are buffered before they are printed.
const AT_ONCE: usize = 256;

/// Writes modules to files, or one after the other to standard output. Each module begins with a comment that
/// identifies it, so that a stream of modules can be split again.
pub fn run(context: &CommandContext, args: &args::GenArgs) -> Result<Exit, Failure> {
    if args.focus == ProgramKind::Places || !args.cells.is_empty() {
        return cells(context, args);
    }
    if args.focus == ProgramKind::Linking {
        return linked_programs(context, args);
    }
    if args.focus == ProgramKind::Arithmetic {
        return arithmetic_kernels(context, args);
    }
    let cases = match args.exhaustive {
        Some(depth) => Cases::listed(depth),
        None => {
            let weights = args.weights.as_deref().map(weights).transpose()?.map(|(weights, _)| weights);
            Cases::drawn(context.seed, args.focus.drawn(), weights)
        }
    };
    if args.grammar {
        context.console.print(&cases.generator(args.wide).grammar())?;
        return Ok(Exit::Success);
    }
    let asked = args.count.map_or(u64::MAX, |count| count.get());
    let count = asked.min(cases.count().unwrap_or(u64::MAX).saturating_sub(args.first));
    if args.stats {
        return statistics(context, &cases, count, args.wide);
    }
    if let Some(directory) = &args.out {
        make_directory(directory)?;
    }
    let header = header_of(args.wide);
    let mut coverage = Coverage::new();
    write_all(context, args, count, |nth| {
        let index = args.first.saturating_add(nth);
        let name = match args.exhaustive {
            Some(depth) => format!("small-{depth}-{index}"),
            None => format!("case-{}-{index}", context.seed),
        };
        let case = cases.case(index, args.wide, &mut coverage);
        let module = case.spacing.print(&case.module(&header));
        (name, module)
    })
}

/// Writes the cells with the names in `--cells`, or all cells of the tables in the order given by the seed.
fn cells(context: &CommandContext, args: &args::GenArgs) -> Result<Exit, Failure> {
    let places = Places::new();
    let named = cells_of(&places, &args.cells)?;
    if args.stats || args.grammar {
        let lines = places.families().map(|(family, count)| format!("{family}: {count} cells\n"));
        context.console.print(&lines.collect::<String>())?;
        return Ok(Exit::Success);
    }
    if let Some(directory) = &args.out {
        make_directory(directory)?;
    }
    let all = if named.is_empty() { places.count() } else { named.len() as u64 };
    let count = args.count.map_or(all, |count| count.get().min(all));
    write_all(context, args, count, |nth| {
        let index = named.get(nth as usize).copied().unwrap_or_else(|| places.nth(context.seed, nth));
        let Cell { name, text } = places.cell(index);
        (if args.out.is_some() { format!("cell-{index}") } else { name }, text)
    })
}

/// Writes programs of several modules. Leading comments of each program's first module name the other
/// modules.
fn linked_programs(context: &CommandContext, args: &args::GenArgs) -> Result<Exit, Failure> {
    let count = args.count.map_or(1, |count| count.get());
    let mut all = Vec::new();
    for number in args.first..args.first.saturating_add(count) {
        let texts = linking::modules(context.seed, number);
        let prefix = format!("link-{}-{number}", context.seed);
        let links: String =
            (1..texts.len()).map(|position| format!("// link: {prefix}-{position}.ptx\n")).collect();
        for (position, text) in texts.into_iter().enumerate() {
            let text = if position == 0 { links.clone() + &text } else { text };
            all.push((format!("{prefix}-{position}"), text));
        }
    }
    if let Some(directory) = &args.out {
        make_directory(directory)?;
    }
    write_all(context, args, all.len() as u64, |nth| std::mem::take(&mut all[nth as usize]))
}

/// Writes arithmetic kernels, one per module. The targets alternate.
fn arithmetic_kernels(context: &CommandContext, args: &args::GenArgs) -> Result<Exit, Failure> {
    let count = args.count.map_or(u64::MAX, |count| count.get());
    if let Some(directory) = &args.out {
        make_directory(directory)?;
    }
    write_all(context, args, count, |nth| {
        let number = args.first.saturating_add(nth);
        let text = arithmetic::module(context.seed, number..number + 1, number as usize);
        (format!("kernel-{}-{number}", context.seed), text)
    })
}

/// Writes `count` programs; `make` returns the name and text of each.
fn write_all(
    context: &CommandContext,
    args: &args::GenArgs,
    count: u64,
    mut make: impl FnMut(u64) -> (String, String),
) -> Result<Exit, Failure> {
    let mut waiting = String::new();
    for index in 0..count {
        if context.cancel.is_cancelled() {
            return Err(Failure::Interrupted);
        }
        let (name, module) = make(index);
        let text = format!("// note: {name}, generated by ptxsmith {}\n{module}", env!("CARGO_PKG_VERSION"));
        match &args.out {
            Some(directory) => write_whole(&directory.join(format!("{name}.ptx")), text.as_bytes())?,
            None => {
                waiting.push_str(&text);
                let last = index + 1 == count;
                if (last || index as usize % AT_ONCE == AT_ONCE - 1) && !is_wanted(context, &mut waiting)? {
                    break;
                }
            }
        }
    }
    Ok(Exit::Success)
}

fn header_of(wide: bool) -> Header {
    if wide { wide_header() } else { Header::default() }
}

fn statistics(context: &CommandContext, cases: &Cases, count: u64, wide: bool) -> Result<Exit, Failure> {
    let header = header_of(wide);
    let mut statistics = Statistics::default();
    for index in 0..count {
        if context.cancel.is_cancelled() {
            return Err(Failure::Interrupted);
        }
        let case = cases.case(index, wide, &mut statistics.coverage);
        statistics.enter(&case, &header);
    }
    context.console.print(&statistics.text(&cases.generator(wide)))?;
    Ok(Exit::Success)
}

/// Prints the buffered modules. Returns false if the output pipe is closed, as with `| head`.
fn is_wanted(context: &CommandContext, waiting: &mut String) -> Result<bool, Failure> {
    let printed = context.console.try_print(waiting);
    waiting.clear();
    match printed {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
        Err(error) => Err(error.into()),
    }
}
