//! What a kernel reaches in memory, where everything that it is given is a number.
//!
//! [`accesses`] runs kernels without branches once, over numbers that are made up for their parameters, for what the special
//! registers hold, for the places of variables and for what lies in memory. Whatever an implementation makes of such a kernel
//! has to reach the same bytes over the same numbers, however it rewrites it. A value that is not known makes what depends on
//! it unknown, and nothing else.

use std::collections::BTreeMap;

use ptxsmith_syntax::{
    FunctionKind, Module, Name, NodeKind, Opcode, Operand, ScalarType, Span, StateSpace, Text, TypeKind,
};

use super::{
    form::Form,
    names::{self, Body, Kept, Line, Meaning, Names, Place, Program, Variable},
    operand::{Base, Reader},
};
use crate::{
    evaluate::Evaluator,
    expectation,
    refusal::Stop,
    rules::Rules,
    step::{Stored, Trace},
    value::{extended, low_bits, sign_extended},
};

/// The numbers that a kernel is run over.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Setting {
    /// Its parameters, in order: the alignment of each, and its bytes.
    pub parameters: Vec<(u64, Vec<u8>)>,
    /// Where the variables lie that it may name: in their state space, by name.
    pub places: BTreeMap<Text, u64>,
    /// The state spaces of the same variables, and from where to where they lie.
    pub regions: Vec<(StateSpace, u64, u64)>,
    /// What special registers hold, by name: `tid.x`.
    pub specials: BTreeMap<&'static str, u32>,
    /// The bytes that it read from memory, by state space and place.
    pub memory: BTreeMap<(StateSpace, u64), u8>,
}

/// What an instruction does with memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// It reads.
    Read,
    /// It writes.
    Write,
    /// It does both at once.
    Both,
}

/// One memory operand of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Access {
    /// Where its instruction stands.
    pub span: Span,
    /// What it does there.
    pub way: Way,
    /// How many bytes it reaches.
    pub width: u64,
    /// The state space and the place in it, or why that is not known.
    pub place: Result<(StateSpace, u64), &'static str>,
    /// Whether it may leave memory as it was: what it writes is there already.
    pub idle: bool,
}

/// What a kernel reaches, and what it leaves there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reached {
    /// What it was run over.
    pub setting: Setting,
    /// Its memory operands outside of `.param`, in the order executed.
    pub accesses: Vec<Access>,
    /// What was written, `None` for bytes of which only that is known.
    pub written: BTreeMap<(StateSpace, u64), Option<u8>>,
}

/// The window of the generic address space that a state space has, by where it begins.
pub const WINDOWS: [(StateSpace, u64); 3] = [
    (StateSpace::Shared, 0x7a00_0000_0000),
    (StateSpace::Local, 0x7b00_0000_0000),
    (StateSpace::Const, 0x7c00_0000_0000),
];
const WINDOW_SIZE: u64 = 1 << 32;
/// Where variables in `.global` lie, and pointers that parameters hold point to.
const GLOBALS: u64 = 0x7f00_0000_0000;
const POINTERS: u64 = 0x7d00_0000_0000;
/// How far apart variables lie, so that none is near another.
const APART: u64 = 1 << 20;

/// How far apart parameters lie here; where they lie elsewhere is nobody's matter.
const PARAMETER: u64 = 1 << 16;

const FORM: &str = "an instruction in a form that is not modelled";
const VALUE: &str = "an address that depends on a value that is not known";

/// A kernel, for what it reaches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Traced {
    /// Its name.
    pub name: Text,
    /// How many memory operands its text has.
    pub operands: usize,
    /// What the forms of its operands rest on.
    pub trace: Trace,
    /// What it reaches; why not, of one with branches, calls or undefined accesses.
    pub reached: Result<Reached, &'static str>,
}

/// What the kernels of a module reach, in the order of their names.
pub fn accesses(module: &Module, variables: &[expectation::Variable], rules: &Rules) -> Vec<Traced> {
    let program = names::read(module, rules);
    let reader =
        || Reader { rules, version: module.version().unwrap_or((u32::MAX, 0)), trace: Trace::default() };
    let kernels = program.functions.iter().filter(|(_, body)| body.kind == FunctionKind::Entry);
    kernels
        .map(|(&name, body)| {
            let run = Run::new(&program, body, reader(), variables).and_then(Run::finish);
            let (trace, reached) = match run {
                Ok((reached, trace)) => (trace, Ok(reached)),
                Err(reason) => (Trace::default(), Err(reason)),
            };
            Traced { name: name.into(), operands: memory_operands(body), trace, reached }
        })
        .collect()
}

/// How many memory operands outside of `.param` a kernel has.
fn memory_operands(body: &Body<'_>) -> usize {
    let is_one = |line: &&Line<'_>| {
        let form = Form::of(line.instruction);
        matches!(form.opcode, Opcode::Ld | Opcode::St) && form.space != Some(StateSpace::Param)
    };
    let others =
        body.kept.values().flatten().filter(|kept| kept.tokens.iter().any(|token| token.text == "["));
    body.lines.iter().filter(is_one).count() + others.count()
}

/// What a register holds, where that is known.
type Value = Option<u64>;

struct Run<'m, 'r> {
    body: &'m Body<'m>,
    reader: Reader<'r>,
    /// The places of variables: of the module, and of the function.
    module: Vec<Option<u64>>,
    function: Vec<Option<u64>>,
    /// Which of the parameters it is, by its place in the function.
    parameters: BTreeMap<usize, usize>,
    registers: Vec<Vec<Value>>,
    reached: Reached,
    /// What variables hold at first, by their place in the module.
    initial: Vec<(StateSpace, u64, &'m expectation::Variable)>,
    /// Whether something was written of which nobody knows where.
    scattered: bool,
}

impl<'m, 'r> Run<'m, 'r> {
    fn new(
        program: &Program<'m>,
        body: &'m Body<'m>,
        reader: Reader<'r>,
        variables: &'m [expectation::Variable],
    ) -> Result<Run<'m, 'r>, &'static str> {
        let mut setting = Setting { specials: specials(body.directives), ..Setting::default() };
        let mut free = Free::default();
        let mut place = |variable: &Variable| {
            let place = free.place(variable)?;
            setting.places.insert(variable.name.clone(), place);
            let end = place + variable.size.unwrap_or(APART);
            setting.regions.push((variable.space, place, end));
            Some(place)
        };
        let module: Vec<Option<u64>> = program.variables.iter().map(|variable| place(variable)).collect();
        let function = body.variables.iter().map(|variable| match variable.space {
            StateSpace::Param => None,
            _ => place(variable),
        });
        let function = function.collect();
        let mut parameters = BTreeMap::new();
        for parameter in &body.parameters {
            let Meaning::Variable(variable) = parameter else { return Err("a parameter in a register") };
            let (Place::Function(at), Some(size)) = (variable.place, variable.size) else { return Err(FORM) };
            if size > 1 << 15 {
                return Err("more parameters than a kernel takes");
            }
            let nth = parameters.len();
            parameters.insert(at, nth);
            setting.parameters.push((variable.align, parameter_bytes(nth as u64, size)));
        }
        let by_name: BTreeMap<&Text, &expectation::Variable> =
            variables.iter().map(|v| (&v.name, v)).collect();
        let initial =
            program.variables.iter().zip(&module).filter_map(|(variable, place)| {
                Some((variable.space, (*place)?, *by_name.get(&variable.name)?))
            });
        let initial = initial.collect();
        let registers =
            body.registers.iter().map(|register| vec![None; usize::from(register.lanes)]).collect();
        let reached = Reached { setting, ..Reached::default() };
        Ok(Run { body, reader, module, function, parameters, registers, reached, initial, scattered: false })
    }

    fn finish(mut self) -> Result<(Reached, Trace), &'static str> {
        if self.body.unread {
            return Err("a kernel with a statement that is not understood");
        }
        for at in 0..=self.body.lines.len() {
            for kept in self.body.kept.get(&at).into_iter().flatten() {
                self.kept(kept)?;
            }
            let Some(line) = self.body.lines.get(at) else { break };
            if line.instruction.guard.is_some() {
                return Err("a kernel with predicates");
            }
            match line.instruction.opcode {
                Opcode::Ret | Opcode::Exit => break,
                Opcode::Bra | Opcode::Brx | Opcode::Call => return Err("a kernel with branches or calls"),
                _ => {}
            }
            if self.step(line)?.is_none() {
                self.forget(line.instruction.operands.first(), &line.names);
            }
        }
        Ok((self.reached, self.reader.trace))
    }

    /// An instruction of a form that is kept as its tokens.
    fn kept(&mut self, kept: &Kept<'m>) -> Result<(), &'static str> {
        let texts: Vec<&str> = kept.tokens.iter().map(|token| token.text.as_str()).collect();
        let Some(&first) = texts.first() else { return Ok(()) };
        if first.starts_with('.') || first == ";" {
            return Ok(());
        }
        let opcode = first.split('.').next().unwrap_or(first);
        match opcode {
            "@" => return Err("a kernel with predicates"),
            "call" | "bra" | "brx" => return Err("a kernel with branches or calls"),
            _ => {}
        }
        let mut depth = 0;
        // What stands before the first comma outside of brackets is set; of `p|q` and `{a, b}` all.
        for text in &texts[1..] {
            match *text {
                "[" | "{" | "(" => depth += 1,
                "]" | "}" | ")" => depth -= 1,
                "," if depth == 0 => break,
                name => self.forget_name(name, &kept.names),
            }
        }
        if let (Some(open), Some(close)) = (place_of(&texts, "["), place_of(&texts, "]")) {
            let way = match opcode {
                "ld" | "ldu" | "ldmatrix" | "tex" | "tld4" | "suld" | "prefetch" | "prefetchu" => Way::Read,
                "st" | "sust" => Way::Write,
                _ => Way::Both,
            };
            let modifiers: Vec<&str> =
                texts[1..open].iter().copied().take_while(|text| text.starts_with('.')).collect();
            let size =
                modifiers.last().and_then(|last| ScalarType::from_keyword(last)).and_then(|ty| ty.size());
            let width = size.filter(|_| matches!(opcode, "atom" | "red")).unwrap_or(0);
            let spaces: Vec<StateSpace> =
                modifiers.iter().filter_map(|word| StateSpace::from_keyword(word)).collect();
            let plain = spaces.len() <= 1
                && !modifiers.iter().any(|word| word.contains("::") || word.starts_with(".v"));
            let inner = texts[open + 1..close.max(open + 1)].join(" ");
            let place = match ptxsmith_syntax::parse_expr(&inner) {
                Ok(expr) if width > 0 && plain => {
                    self.place(spaces.first().copied(), &Operand::Address(expr), &kept.names)
                }
                _ => Err(FORM),
            };
            if let Ok((space, at)) = place {
                self.reached.written.extend((0..width).map(|nth| ((space, at + nth), None)));
            }
            self.reach(Access { span: kept.tokens[0].span, way, width, place, idle: false });
        }
        Ok(())
    }

    fn reach(&mut self, access: Access) {
        if access.place.is_err() && access.way != Way::Read {
            self.scattered = true;
        }
        self.reached.accesses.push(access);
    }

    fn forget_name(&mut self, name: &str, names: &Names) {
        if let Some(Meaning::Register(register)) = names.find(name, self.reader.rules) {
            self.registers[register.id].fill(None);
        }
    }

    /// What an instruction that is not modelled sets is not known.
    fn forget(&mut self, operand: Option<&Operand>, names: &Names) {
        match operand {
            Some(Operand::Value(expr)) => {
                for node in expr.nodes() {
                    if let NodeKind::Name(name) = &node.kind {
                        self.forget_name(name, names);
                    }
                }
            }
            Some(Operand::Component(name, _)) => self.forget_name(&name.text, names),
            Some(Operand::Vector(parts) | Operand::List(parts)) => {
                parts.iter().for_each(|part| self.forget(Some(part), names));
            }
            Some(Operand::Address(_) | Operand::Element(..)) | None => {}
        }
    }

    /// Executes an instruction; `None` where what it sets is not known.
    fn step(&mut self, line: &Line<'m>) -> Result<Option<()>, &'static str> {
        let form = Form::of(line.instruction);
        let names = &line.names;
        match form.opcode {
            Opcode::Ld | Opcode::St => return self.memory(line, &form).map(Some),
            _ => {}
        }
        Ok(match form.opcode {
            Opcode::Mov => self.mov(&form, names),
            Opcode::Cvta => self.cvta(&form, names),
            Opcode::Cvt => self.cvt(&form, names),
            Opcode::Setp => self.setp(&form, names),
            Opcode::Selp => self.selp(&form, names),
            _ => self.arithmetic(&form, names),
        })
    }

    fn mov(&mut self, form: &Form<'m>, names: &Names) -> Option<()> {
        let ([to, from], Some(ty), None) = (form.operands, form.ty, form.lanes) else { return None };
        let bits = 8 * ty.size().filter(|&size| size <= 8)? as u32;
        let part_of = |count: usize| {
            let bits = bits / count as u32;
            let mask = u64::MAX >> (64 - bits);
            (bits, mask)
        };
        match (to, from) {
            (Operand::Vector(parts), from) => {
                let value = self.value(from, ty, names);
                let (width, mask) = part_of(parts.len());
                for (nth, part) in parts.iter().enumerate() {
                    self.set_bits(part, value.map(|value| value >> (width * nth as u32) & mask), names)?;
                }
                Some(())
            }
            (to, Operand::Vector(parts)) => {
                let (width, mask) = part_of(parts.len());
                let mut value = Some(0);
                for (nth, part) in parts.iter().enumerate() {
                    let part = self.bits_of(part, names).map(|part| (part & mask) << (width * nth as u32));
                    value = value.zip(part).map(|(a, b)| a | b);
                }
                self.set(to, ty, value, names)
            }
            (to, from) => {
                let value = self.value(from, ty, names);
                self.set(to, ty, value, names)
            }
        }
    }

    fn cvta(&mut self, form: &Form<'m>, names: &Names) -> Option<()> {
        let ([to, from], Some(ty), Some(space)) = (form.operands, form.ty, form.space) else { return None };
        let value = self.value(from, ty, names);
        let window = WINDOWS.iter().find(|(own, _)| *own == space).map(|&(_, start)| start);
        let value = match (window, form.others.contains(&".to")) {
            (None, _) if space == StateSpace::Global => value,
            (None, _) => None,
            (Some(start), false) => value.map(|value| value.wrapping_add(start)),
            (Some(start), true) => value.map(|value| value.wrapping_sub(start)),
        };
        self.set(to, ty, value, names)
    }

    fn cvt(&mut self, form: &Form<'m>, names: &Names) -> Option<()> {
        let [to, from] = form.operands else { return None };
        let ([into], of) = (form.others.as_slice(), form.ty?) else { return None };
        let into = ScalarType::from_keyword(into)?;
        if !is_number(into) || !is_number(of) || form.space.is_some() {
            return None;
        }
        let value = self.value(from, of, names).map(|value| low_bits(into, extended(of, value)));
        self.set(to, into, value, names)
    }

    fn setp(&mut self, form: &Form<'m>, names: &Names) -> Option<()> {
        let ([compare], [to, a, b], ty) = (form.others.as_slice(), form.operands, form.ty?) else {
            return None;
        };
        if !is_integer(ty) {
            return None;
        }
        let (a, b) = (extended(ty, self.value(a, ty, names)?), extended(ty, self.value(b, ty, names)?));
        let order = if ty.kind() == TypeKind::Signed { (a as i64).cmp(&(b as i64)) } else { a.cmp(&b) };
        let result = match *compare {
            ".eq" => order.is_eq(),
            ".ne" => order.is_ne(),
            ".lt" | ".lo" => order.is_lt(),
            ".le" | ".ls" => order.is_le(),
            ".gt" | ".hi" => order.is_gt(),
            ".ge" | ".hs" => order.is_ge(),
            _ => return None,
        };
        self.set_bits(to, Some(u64::from(result)), names)
    }

    fn selp(&mut self, form: &Form<'m>, names: &Names) -> Option<()> {
        let (ty, [to, a, b, condition]) = (form.ty?, form.operands) else { return None };
        let chosen = if self.bits_of(condition, names)? != 0 { a } else { b };
        let value = self.value(chosen, ty, names);
        self.set(to, ty, value, names)
    }

    fn arithmetic(&mut self, form: &Form<'m>, names: &Names) -> Option<()> {
        let ty = form.ty.filter(|&ty| is_integer(ty))?;
        let (to, sources) = form.operands.split_first()?;
        let counts = matches!(form.opcode, Opcode::Shl | Opcode::Shr);
        let values: Vec<u64> = sources
            .iter()
            .enumerate()
            .map(|(nth, source)| {
                let wide_addend = nth == 2 && form.others == [".wide"];
                let ty = match (counts && nth == 1, wide_addend) {
                    (true, _) => ScalarType::U32,
                    (_, true) => widened(ty)?,
                    _ => ty,
                };
                self.value(source, ty, names).map(|value| extended(ty, value))
            })
            .collect::<Option<_>>()?;
        let bits = 8 * ty.size()?;
        let signed = ty.kind() == TypeKind::Signed;
        let result = match (form.opcode, form.others.as_slice(), values.as_slice()) {
            (Opcode::Add, [], [a, b]) => a.wrapping_add(*b),
            (Opcode::Sub, [], [a, b]) => a.wrapping_sub(*b),
            (Opcode::Mul, [".lo"], [a, b]) => a.wrapping_mul(*b),
            (Opcode::Mad, [".lo"], [a, b, c]) => a.wrapping_mul(*b).wrapping_add(*c),
            (Opcode::Mul, [".wide"], [a, b]) if bits < 64 => {
                return self.set(to, widened(ty)?, Some(a.wrapping_mul(*b)), names);
            }
            (Opcode::Mad, [".wide"], [a, b, c]) if bits < 64 => {
                return self.set(to, widened(ty)?, Some(a.wrapping_mul(*b).wrapping_add(*c)), names);
            }
            (Opcode::And, [], [a, b]) => a & b,
            (Opcode::Or, [], [a, b]) => a | b,
            (Opcode::Xor, [], [a, b]) => a ^ b,
            (Opcode::Not, [], [a]) => !a,
            (Opcode::Neg, [], [a]) => a.wrapping_neg(),
            (Opcode::Min, [], [a, b]) if signed => (*a as i64).min(*b as i64) as u64,
            (Opcode::Max, [], [a, b]) if signed => (*a as i64).max(*b as i64) as u64,
            (Opcode::Min, [], [a, b]) => *a.min(b),
            (Opcode::Max, [], [a, b]) => *a.max(b),
            (Opcode::Shl, [], [_, b]) if *b >= bits => 0,
            (Opcode::Shl, [], [a, b]) => a << b,
            (Opcode::Shr, [], [a, b]) if signed => (sign_extended(ty, *a) >> (*b).min(63)) as u64,
            (Opcode::Shr, [], [_, b]) if *b >= bits => 0,
            (Opcode::Shr, [], [a, b]) => low_bits(ty, *a) >> b,
            _ => return None,
        };
        self.set(to, ty, Some(low_bits(ty, result)), names)
    }

    /// `ld` and `st`.
    fn memory(&mut self, line: &Line<'m>, form: &Form<'m>) -> Result<(), &'static str> {
        let names = &line.names;
        let (way, at) = if form.opcode == Opcode::Ld { (Way::Read, 1) } else { (Way::Write, 0) };
        let lanes = form.lanes.unwrap_or(1);
        let size = form.ty.and_then(|ty| ty.size()).unwrap_or(0);
        let width = size * lanes as u64;
        let place = match form.operands.get(at) {
            Some(operand) if width > 0 => self.place(form.space, operand, names),
            _ => Err(FORM),
        };
        if let Ok((_, at)) = place
            && !at.is_multiple_of(width)
        {
            return Err("an access that is not aligned with the numbers that were tried");
        }
        let cells = match (way, place) {
            (Way::Read, Ok((space, at))) => (0..width).map(|nth| self.byte(space, at + nth)).collect(),
            _ => vec![None; width as usize],
        };
        let mut idle = false;
        if way == Way::Write {
            let bytes = self.stored(form, size, lanes, names);
            if let Ok((space, at)) = place {
                idle = (0..width)
                    .zip(&bytes)
                    .all(|(nth, byte)| byte.is_some() && self.byte(space, at + nth) == *byte);
                let bytes = bytes.into_iter().enumerate();
                self.reached.written.extend(bytes.map(|(nth, byte)| ((space, at + nth as u64), byte)));
            }
        }
        if form.space != Some(StateSpace::Param) {
            self.reach(Access { span: line.instruction.span, way, width, place, idle });
        }
        if way == Way::Read {
            let (to, ty) = (form.operands.first().ok_or(FORM)?, form.ty.ok_or(FORM)?);
            let values = cells.chunks(size.max(1) as usize).map(number);
            let parts = match to {
                Operand::Vector(parts) => parts.as_slice(),
                _ => std::slice::from_ref(to),
            };
            for (part, value) in parts.iter().zip(values.chain(std::iter::repeat(None))) {
                if self.set(part, ty, value, names).is_none() {
                    self.forget(Some(part), names);
                }
            }
        }
        Ok(())
    }

    /// The bytes that a store writes.
    fn stored(&mut self, form: &Form<'m>, size: u64, lanes: usize, names: &Names) -> Vec<Option<u8>> {
        let unknown = vec![None; size as usize * lanes];
        let (Some(from), Some(ty)) = (form.operands.get(1), form.ty) else { return unknown };
        let parts = match from {
            Operand::Vector(parts) => parts.as_slice(),
            _ => std::slice::from_ref(from),
        };
        if parts.len() != lanes || size > 8 {
            return unknown;
        }
        let mut bytes = Vec::new();
        for part in parts {
            let value = self.value(part, ty, names);
            bytes.extend((0..size).map(|nth| value.map(|value| (value >> (8 * nth)) as u8)));
        }
        bytes
    }

    /// The state space and the place that an address operand stands for.
    fn place(
        &mut self,
        space: Option<StateSpace>,
        operand: &Operand,
        names: &Names,
    ) -> Result<(StateSpace, u64), &'static str> {
        let address = match operand {
            Operand::Address(expr) => self.reader.address(expr, names),
            Operand::Element(name, index) => self.reader.element(name, index, names),
            _ => return Err(FORM),
        };
        let address = address.map_err(|stop| match stop {
            Stop::Unmodelled(reason) => reason,
            Stop::Refused(_) => "an address that is refused",
        })?;
        let index = match address.index {
            None => 0,
            Some((register, unit)) => {
                let index = self.registers[register.id][0].ok_or(VALUE)?;
                (extended(register.ty, index) as i64).wrapping_mul(unit)
            }
        };
        let (base, own) = match &address.base {
            Base::Variable(variable) => (self.place_of(variable).ok_or(VALUE)?, Some(variable.space)),
            Base::Register(register) => {
                let value = self.registers[register.id][0].ok_or(VALUE)?;
                (low_bits(register.ty, value), None)
            }
            Base::Absolute => (0, None),
        };
        let at = base.wrapping_add(address.offset.wrapping_add(index) as u64);
        let (space, at) = self.in_space(space, own, at)?;
        // What lies there, and what of the number counts, is not specified.
        let small = !matches!(space, StateSpace::Global | StateSpace::Param);
        if small
            && !self
                .reached
                .setting
                .regions
                .iter()
                .any(|&(own, start, end)| own == space && (start..end).contains(&at))
        {
            return Err("an address outside of the variables of its state space");
        }
        Ok((space, at))
    }

    /// The state space that an address means, and the place in it.
    fn in_space(
        &self,
        space: Option<StateSpace>,
        own: Option<StateSpace>,
        at: u64,
    ) -> Result<(StateSpace, u64), &'static str> {
        match (space, own) {
            (Some(space), Some(own)) if space != own => Err("an address of another state space"),
            (Some(space), _) => Ok((space, at)),
            // A variable without a state space in front of it: its generic address, and that is the same only in `.global`.
            (None, Some(own)) if own != StateSpace::Global => {
                Err("an offset in a state space taken for a generic address")
            }
            (None, _) => {
                let inside = |&&(_, start): &&(StateSpace, u64)| (start..start + WINDOW_SIZE).contains(&at);
                let window = WINDOWS.iter().find(inside);
                Ok(window.map_or((StateSpace::Global, at), |&(space, start)| (space, at - start)))
            }
        }
    }

    fn place_of(&self, variable: &Variable) -> Option<u64> {
        match variable.place {
            Place::Module(at) => *self.module.get(at)?,
            Place::Function(at) if variable.space == StateSpace::Param => {
                self.parameters.get(&at).map(|&nth| nth as u64 * PARAMETER)
            }
            Place::Function(at) => *self.function.get(at)?,
        }
    }

    /// A byte of memory: what was written, what a variable holds at first, or a number that is made up for its place.
    fn byte(&mut self, space: StateSpace, at: u64) -> Option<u8> {
        if space == StateSpace::Param {
            let (_, bytes) = self.reached.setting.parameters.get((at / PARAMETER) as usize)?;
            return bytes.get((at % PARAMETER) as usize).copied();
        }
        if let Some(&byte) = self.reached.written.get(&(space, at)) {
            return if self.scattered { None } else { byte };
        }
        if self.scattered {
            return None;
        }
        let held = self.initial.iter().find_map(|(own, start, variable)| {
            let offset = at.checked_sub(*start).filter(|&offset| *own == space && offset < variable.size)?;
            let is_address = variable
                .addresses
                .iter()
                .any(|address| (address.offset..address.offset + u64::from(address.width)).contains(&offset));
            Some((!is_address).then(|| variable.bytes.get(offset as usize).copied()).flatten())
        });
        let byte = match (held, space) {
            (Some(held), _) => held?,
            (None, StateSpace::Global | StateSpace::Shared) => (word(at / 4) >> (8 * (at % 4))) as u8,
            _ => return None,
        };
        self.reached.setting.memory.insert((space, at), byte);
        Some(byte)
    }

    /// The bits of a register, or of an element of one.
    fn bits_of(&self, operand: &Operand, names: &Names) -> Value {
        let (name, suffix) = match operand {
            Operand::Value(expr) => (expr.as_name()?, None),
            Operand::Component(name, suffix) => (name.clone(), Some(suffix)),
            _ => return None,
        };
        match names.find(&name.text, self.reader.rules) {
            Some(Meaning::Register(register)) => {
                let lane = match suffix {
                    None if register.lanes == 1 => 0,
                    None => return None,
                    Some(suffix) => lane(suffix)?,
                };
                *self.registers[register.id].get(lane)?
            }
            Some(_) => None,
            None => {
                let name =
                    format!("{}{}", name.text.strip_prefix('%')?, suffix.map_or("", |suffix| &suffix.text));
                self.reached.setting.specials.get(name.as_str()).copied().map(u64::from)
            }
        }
    }

    /// The value of a source operand: a register, a special register, a constant, the address of a variable.
    fn value(&mut self, operand: &Operand, ty: ScalarType, names: &Names) -> Value {
        let Operand::Value(expr) = operand else {
            return self.bits_of(operand, names).map(|bits| low_bits(ty, bits));
        };
        if let NodeKind::Name(first) = expr.kind(expr.first(expr.root())) {
            return match names.find(first, self.reader.rules) {
                Some(Meaning::Variable(variable)) if variable.space != StateSpace::Param => {
                    let address = self.reader.address(expr, names).ok()?;
                    self.place_of(&variable).map(|place| place.wrapping_add(address.offset as u64))
                }
                _ => self.bits_of(operand, names).map(|bits| low_bits(ty, bits)),
            };
        }
        let mut evaluator = Evaluator::new(self.reader.rules, self.reader.version);
        match evaluator.store(expr, ty, &mut Trace::default()) {
            Ok(Stored::Bits(bits)) => Some(low_bits(ty, bits)),
            _ => None,
        }
    }

    /// Sets a register to a value of a type, extended to what it holds.
    fn set(&mut self, to: &Operand, ty: ScalarType, value: Value, names: &Names) -> Option<()> {
        self.set_bits(to, value.map(|value| extended(ty, value)), names)
    }

    fn set_bits(&mut self, to: &Operand, value: Value, names: &Names) -> Option<()> {
        let (name, suffix) = match to {
            Operand::Value(expr) => (expr.as_name()?, None),
            Operand::Component(name, suffix) => (name.clone(), Some(suffix)),
            _ => return None,
        };
        if name.text == "_" {
            return Some(());
        }
        let Some(Meaning::Register(register)) = names.find(&name.text, self.reader.rules) else {
            return None;
        };
        let lane = suffix.map_or(Some(0), lane)?;
        let value = value.map(|value| match register.ty {
            ScalarType::Pred => value & 1,
            ty => low_bits(ty, value),
        });
        *self.registers[register.id].get_mut(lane)? = value;
        Some(())
    }
}

fn place_of(texts: &[&str], wanted: &str) -> Option<usize> {
    texts.iter().position(|text| *text == wanted)
}

/// Which element a suffix names.
fn lane(suffix: &Name) -> Option<usize> {
    ["x", "y", "z", "w"].iter().position(|lane| suffix.text.trim_start_matches('.') == *lane)
}

fn number(bytes: &[Option<u8>]) -> Value {
    if bytes.len() > 8 {
        return None;
    }
    bytes.iter().rev().try_fold(0, |number, byte| Some(number << 8 | u64::from((*byte)?)))
}

fn is_number(ty: ScalarType) -> bool {
    matches!(ty.kind(), TypeKind::Signed | TypeKind::Unsigned) && ty.size().is_some_and(|size| size <= 8)
}

fn is_integer(ty: ScalarType) -> bool {
    is_number(ty) || ty.kind() == TypeKind::Bits && ty.size().is_some_and(|size| size <= 8)
}

/// The type of twice the size.
fn widened(ty: ScalarType) -> Option<ScalarType> {
    Some(match ty {
        ScalarType::S16 => ScalarType::S32,
        ScalarType::U16 => ScalarType::U32,
        ScalarType::S32 => ScalarType::S64,
        ScalarType::U32 => ScalarType::U64,
        _ => return None,
    })
}

/// What lies in memory at the place of a word: two together are an address, and each alone a small number, so that what is
/// computed of them overflows nowhere.
fn word(at: u64) -> u32 {
    let mut mixed = at.wrapping_add(0x9e37_79b9_7f4a_7c15).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ mixed >> 29).wrapping_mul(0x94d0_49bb_1331_11eb);
    let mixed = (mixed >> 40) as u32;
    if at.is_multiple_of(2) { mixed & 0xf_ff00 } else { mixed & 0x3fff }
}

/// The bytes of a parameter: of eight an address, of fewer a small number.
fn parameter_bytes(nth: u64, size: u64) -> Vec<u8> {
    match size {
        8 => (POINTERS + nth * (1 << 32) + (u64::from(word(2 * nth)) << 4)).to_le_bytes().to_vec(),
        1 | 2 | 4 => (24 + 8 * nth).to_le_bytes()[..size as usize].to_vec(),
        _ => (0..size).map(|at| (word(nth * PARAMETER + at / 4) >> (8 * (at % 4))) as u8).collect(),
    }
}

/// What special registers hold, with as many threads as a kernel's directives ask for.
fn specials(directives: &[ptxsmith_syntax::Token]) -> BTreeMap<&'static str, u32> {
    let asked = |word: &str| {
        let at = directives.iter().position(|token| token.text == word)?;
        let numbers = directives[at + 1..].iter().map(|token| token.text.as_str());
        let numbers = numbers.filter(|&text| text != ",").map_while(|text| text.parse::<u32>().ok());
        Some(numbers.chain([1, 1, 1]).take(3).collect::<Vec<_>>())
    };
    let threads = match (asked(".reqntid"), asked(".maxntid")) {
        (Some(threads), _) => threads,
        (None, Some(most)) => vec![most[0].min(64), 1, 1],
        (None, None) => vec![64, 2, 2],
    };
    let thread = |nth: usize, wanted: u32| wanted.min(threads[nth].saturating_sub(1));
    BTreeMap::from([
        ("ntid.x", threads[0]),
        ("ntid.y", threads[1]),
        ("ntid.z", threads[2]),
        ("tid.x", thread(0, 37)),
        ("tid.y", thread(1, 1)),
        ("tid.z", thread(2, 1)),
        ("nctaid.x", 19),
        ("nctaid.y", 7),
        ("nctaid.z", 3),
        ("ctaid.x", 11),
        ("ctaid.y", 5),
        ("ctaid.z", 2),
    ])
}

/// Where there is room for variables.
#[derive(Default)]
struct Free {
    used: BTreeMap<StateSpace, u64>,
}

impl Free {
    fn place(&mut self, variable: &Variable) -> Option<u64> {
        let (start, most) = match variable.space {
            StateSpace::Global => (GLOBALS, u64::MAX),
            // Where 32 bits end.
            StateSpace::Const | StateSpace::Shared | StateSpace::Local => (APART, WINDOW_SIZE),
            _ => return None,
        };
        let used = self.used.entry(variable.space).or_insert(start);
        let place = used.next_multiple_of(variable.align.max(256));
        let end = place.checked_add(variable.size.unwrap_or(APART))?.next_multiple_of(APART) + APART;
        *used = end;
        (end < most).then_some(place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn traced(body: &str) -> Traced {
        let text = format!(
            ".version 7.8\n.target sm_80\n.address_size 64\n.global .u32 g[4] = {{7, 8, 9, 10}};\n.shared .u32 s[8];\n\
             .visible .entry k(.param .u64 p, .param .u32 n)\n{{\n.reg .pred %q;\n.reg .u32 %r<9>;\n.reg .f32 %f<9>;\n\
             .reg .u64 %rd<9>;\nld.param.u64 %rd1, [p];\nld.param.u32 %r1, [n];\nmul.wide.s32 %rd2, %r1, 4;\n\
             add.s64 %rd3, %rd1, %rd2;\n{body}\nret;\n}}\n"
        );
        let module = ptxsmith_syntax::parse(&text).unwrap();
        let crate::Expectation::Accepted { variables, .. } = crate::expect(&module, &Rules::default()) else {
            panic!("{text}")
        };
        accesses(&module, &variables, &Rules::default()).remove(0)
    }

    #[test]
    fn bases_offsets_and_indices_are_numbers() {
        let kernel = traced(
            "ld.global.u32 %r2, [g+8];\nst.global.v2.u32 [%rd3+16], {%r2, %r1};\nmov.u32 %r3, s;\n\
             mov.u32 %r4, %tid.x;\nand.b32 %r4, %r4, 1;\nshl.b32 %r4, %r4, 2;\nadd.u32 %r3, %r3, %r4;\n\
             st.shared.u32 [%r3], 5;\natom.global.add.u32 %r5, [%rd3+4], 1;\nmul.wide.u32 %rd4, %r5, 4;\n\
             add.s64 %rd4, %rd1, %rd4;\nld.global.f32 %f1, [%rd4];",
        );
        assert_eq!(kernel.operands, 5);
        let Reached { setting, accesses, written } = kernel.reached.unwrap();
        let word = |nth: usize| u64::from_le_bytes(setting.parameters[nth].1.clone().try_into().unwrap());
        let n = u64::from(u32::from_le_bytes(setting.parameters[1].1.clone().try_into().unwrap()));
        let row = word(0) + 4 * n;
        let (g, s) = (setting.places["g"], setting.places["s"]);
        let told: Vec<_> = accesses.iter().map(|access| (access.way, access.width, access.place)).collect();
        assert_eq!(
            told,
            [
                (Way::Read, 4, Ok((StateSpace::Global, g + 8))),
                (Way::Write, 8, Ok((StateSpace::Global, row + 16))),
                (Way::Write, 4, Ok((StateSpace::Shared, s + 4))),
                (Way::Both, 4, Ok((StateSpace::Global, row + 4))),
                // What an atomic operation found is not known.
                (Way::Read, 4, Err(VALUE)),
            ]
        );
        assert_eq!(written[&(StateSpace::Global, row + 16)], Some(9));
        assert_eq!(written[&(StateSpace::Global, row + 20)], Some(n as u8));
        assert_eq!(written[&(StateSpace::Global, row + 4)], None);
    }

    #[test]
    fn what_is_not_straight_or_not_defined_is_left_alone() {
        let why = |body: &str| traced(body).reached.unwrap_err();
        assert_eq!(why("@%q ld.global.u32 %r2, [%rd3];"), "a kernel with predicates");
        assert_eq!(why("bra END;\nEND:"), "a kernel with branches or calls");
        assert_eq!(
            why("ld.global.u64 %rd4, [g+4];"),
            "an access that is not aligned with the numbers that were tried"
        );
        let outside = traced("ld.shared.u32 %r2, [%rd1];").reached.unwrap();
        assert_eq!(outside.accesses[0].place, Err("an address outside of the variables of its state space"));
    }
}
