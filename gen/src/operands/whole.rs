//! Assembles probes into a kernel.

use ptxsmith_syntax::Item;

use super::{KernelText, put::pointer};
use crate::{draft::Draft, written::items};

/// The maximum number of probes in a kernel.
const MOST_PROBES: usize = 5;

/// Generates a kernel of 1 to `MOST_PROBES` probes, with the module-scope declarations that it needs.
pub(crate) fn kernel(d: &mut Draft<'_, '_>) -> Vec<Item> {
    let sigil = d.pick(&["", "%"]);
    let mut kernel = KernelText { sigil, ..KernelText::default() };
    for _ in 0..1 + d.below(MOST_PROBES) {
        d.probe(&mut kernel);
    }
    let mut registers = String::new();
    for (prefix, (ty, count)) in kernel.registers {
        registers += &format!(".reg {ty} {sigil}{prefix}<{count}>;");
    }
    items(&format!(
        "{} .visible .entry k0(.param .u64 out) {{ .reg .u64 {out}; {registers} {} {} ld.param.u64 {out}, [out]; {} ret; }}",
        kernel.items,
        kernel.vectors.concat(),
        kernel.locals,
        kernel.body,
        out = pointer(sigil),
    ))
}
