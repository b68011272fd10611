//! A kernel as a whole.

use super::put::pointer;
use crate::{draft::Draft, nonterminal::Nonterminal, written::items};

/// The most probes of a kernel.
const MOST_PROBES: usize = 5;

/// A kernel of a few probes.
pub(crate) fn kernel(d: &mut Draft<'_, '_>, _: u32) {
    let sigil = d.pick(&["", "%"]);
    d.sketch.kernel.sigil = sigil;
    for _ in 0..1 + d.below(MOST_PROBES) {
        d.make(Nonterminal::Probe, 1);
    }
    let made = std::mem::take(&mut **d.sketch.kernel);
    let register = |(prefix, (ty, count))| format!(".reg {ty} {sigil}{prefix}<{count}>;");
    let registers: String = made.registers.into_iter().map(register).collect();
    let text = format!(
        "{} .visible .entry k0(.param .u64 out) {{ .reg .u64 {out}; {registers} {} {} ld.param.u64 {out}, [out]; {} ret; }}",
        made.items,
        made.vectors.concat(),
        made.locals,
        made.body,
        out = pointer(sigil),
    );
    d.sketch.items.extend(items(&text));
}
