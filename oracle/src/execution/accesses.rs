//! What a kernel reaches in memory, where everything that it is given is a number.
//!
//! [`accesses`] runs kernels without branches once, over numbers that are made up for their parameters, for what the special
//! registers hold, for the places of variables and for what lies in memory. Whatever an implementation makes of such a kernel
//! has to reach the same bytes over the same numbers, however it rewrites it. A value that is not known makes what depends on
//! it unknown, and nothing else.

mod instructions;
mod memory;
mod registers;
mod setting;

use std::{collections::BTreeMap, rc::Rc};

use ptxsmith_syntax::{FunctionKind, Module, Opcode, Operand, Role, ScalarType, Span, StateSpace, Text};

use super::form::Form;
use super::names;
use super::names::{Body, Kept, Line, Meaning, Place, Program, Registers, Variable, Which};
use super::operand::Reader;
use crate::expectation;
use crate::rules::Rules;
use crate::step::Trace;

use self::setting::{Frame, Free, parameter_bytes, specials};
pub use self::setting::{Placed, Setting, WINDOWS};

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
    /// What the constants in it rest on, and the names.
    pub values: Trace,
    /// What it reaches; why not, of one with branches, calls or undefined accesses.
    pub reached: Result<Reached, &'static str>,
}

/// What the kernels of a module reach, in the order of their names.
pub fn accesses(module: &Module, variables: &[expectation::Variable], rules: &Rules) -> Vec<Traced> {
    traced(module, variables, rules, false)
}

/// The same, of accesses that the text leaves undefined as well: outside of variables, and not aligned. Code that follows other
/// rules than the text makes them.
pub fn accesses_anywhere(module: &Module, variables: &[expectation::Variable], rules: &Rules) -> Vec<Traced> {
    traced(module, variables, rules, true)
}

fn traced(
    module: &Module,
    variables: &[expectation::Variable],
    rules: &Rules,
    anywhere: bool,
) -> Vec<Traced> {
    let program = names::read(module, rules);
    let reader =
        || Reader { rules, version: module.version().unwrap_or((u32::MAX, 0)), trace: Trace::default() };
    let kernels = program.functions.iter().filter(|(_, body)| body.kind == FunctionKind::Entry);
    kernels
        .map(|(&name, body)| {
            let run = |frame| {
                let run = Run::new(&program, body, reader(), variables, frame)?;
                Run { anywhere, ..run }.finish()
            };
            let mut own = program.variables.iter().chain(&body.variables);
            let both = match own.any(|variable| variable.space == StateSpace::Local) {
                false => run(Frame::Upwards),
                // Nothing says where the implementation lays them out: what is not the same in both frames is not known.
                true => run(Frame::Upwards).and_then(|(reached, traces)| {
                    Ok((in_any_frame(reached, &run(Frame::Downwards)?.0), traces))
                }),
            };
            let ([trace, values], reached) = match both {
                Ok((reached, traces)) => (traces, Ok(reached)),
                Err(reason) => (Default::default(), Err(reason)),
            };
            Traced { name: name.into(), operands: memory_operands(body), trace, values, reached }
        })
        .collect()
}

/// What a kernel reaches wherever its variables in `.local` lie, of which places and values in two frames tell.
fn in_any_frame(mut reached: Reached, other: &Reached) -> Reached {
    let is_local = |place: Result<(StateSpace, u64), _>| matches!(place, Ok((StateSpace::Local, _)));
    for (access, other) in reached.accesses.iter_mut().zip(&other.accesses) {
        access.idle |= other.idle;
        if access.place != other.place && !(is_local(access.place) && is_local(other.place)) {
            access.place = Err("an address that depends on where a variable in .local lies");
        }
    }
    // Of one number either all bytes are known or none.
    for access in reached.accesses.iter().filter(|access| access.way != Way::Read) {
        let Ok((space, at)) = access.place else { continue };
        let places = || (at..at + access.width).map(|at| (space, at));
        if space != StateSpace::Local
            && places().any(|place| reached.written.get(&place) != other.written.get(&place))
        {
            reached.written.extend(places().map(|place| (place, None)));
        }
    }
    reached
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
    /// What constants rest on.
    values: Trace,
    /// Where the variables lie: of the module, and of the function. `None`: nothing has room for it.
    module: Vec<Option<Placed>>,
    function: Vec<Option<Placed>>,
    /// Which of the parameters it is, by its place in the function.
    parameters: BTreeMap<Which, usize>,
    registers: Registers<Value>,
    reached: Reached,
    /// What variables hold at first.
    initial: Vec<(Placed, &'m expectation::Variable)>,
    /// Whether something was written at an unknown place.
    scattered: bool,
    /// Whether what the text leaves undefined is followed too.
    anywhere: bool,
}

impl<'m, 'r> Run<'m, 'r> {
    fn new(
        program: &Program<'m>,
        body: &'m Body<'m>,
        reader: Reader<'r>,
        variables: &'m [expectation::Variable],
        frame: Frame,
    ) -> Result<Run<'m, 'r>, &'static str> {
        let mut setting = Setting { specials: specials(body.directives), ..Setting::default() };
        let mut free = Free::new(frame);
        let module: Vec<Option<Placed>> =
            program.variables.iter().map(|variable| free.place(variable)).collect();
        let function: Vec<Option<Placed>> =
            body.variables.iter().map(|variable| free.place(variable)).collect();
        // Code tells a variable of the function from one of the module, but not two of the function.
        if repeats(&program.variables) || repeats(&body.variables) {
            return Err("variables of one name in different scopes");
        }
        setting.variables = module.iter().chain(&function).flatten().cloned().collect();
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
        let by_name: BTreeMap<&str, &expectation::Variable> =
            variables.iter().map(|variable| (variable.name.as_str(), variable)).collect();
        let own = body.variables.iter().zip(&function);
        let own = own.filter_map(|(variable, place)| Some((place.clone()?, &**variable.initial.as_ref()?)));
        let all = program.variables.iter().zip(&module).filter_map(|(variable, place)| {
            // All of a parameterized name hold the same.
            let first = variable.count.map(|_| format!("{}0", variable.name));
            let name = first.as_deref().unwrap_or(&variable.name);
            Some((place.clone()?, *by_name.get(name)?))
        });
        let initial = all.chain(own).collect();
        let registers = Registers::new(None);
        let reached = Reached { setting, ..Reached::default() };
        let (values, scattered, anywhere) = (Trace::default(), false, false);
        Ok(Run {
            body,
            reader,
            values,
            module,
            function,
            parameters,
            registers,
            reached,
            initial,
            scattered,
            anywhere,
        })
    }

    /// What it reaches, and what its operands and its constants rest on.
    fn finish(mut self) -> Result<(Reached, [Trace; 2]), &'static str> {
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
        Ok((self.reached, [self.reader.trace, self.values]))
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
}

/// Whether two of these variables outside of `.local` have one name.
fn repeats(variables: &[Rc<Variable>]) -> bool {
    let mut names = ptxsmith_syntax::Names::default();
    let placed = |space| !matches!(space, StateSpace::Local | StateSpace::Param);
    variables.iter().filter(|variable| placed(variable.space)).any(|variable| {
        let role = variable.count.map_or(Role::Variable, Role::Prefix);
        let repeated = names.declares(&variable.name, role);
        names.declare_by_role(&variable.name, role, ());
        repeated
    })
}

fn place_of(texts: &[&str], wanted: &str) -> Option<usize> {
    texts.iter().position(|text| *text == wanted)
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
        let place = |name: &str| setting.variables.iter().find(|one| one.name == name).unwrap().start;
        let (g, s) = (place("g"), place("s"));
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
    fn where_a_local_variable_lies_is_not_known() {
        let kernel = traced(
            ".local .align 4 .b8 a[8], b[8];\ncvta.local.u64 %rd4, a+4;\nmov.u64 %rd5, b;\nsub.u64 %rd6, %rd5, %rd4;\n\
             st.global.u64 [%rd1], %rd4;\nst.global.u64 [%rd1+8], %rd6;\nand.b64 %rd7, %rd4, 3;\n\
             st.global.u64 [%rd1+16], %rd7;\nst.u32 [%rd4], %r1;\nld.local.u32 %r2, [a+4];\n\
             st.global.u32 [%rd1+24], %r2;\nadd.u64 %rd4, %rd4, %rd1;\nst.global.u8 [%rd4], 1;",
        );
        let Reached { setting, accesses, written } = kernel.reached.unwrap();
        let base = u64::from_le_bytes(setting.parameters[0].1.clone().try_into().unwrap());
        let stored = |at: u64| written[&(StateSpace::Global, base + at)];
        assert_eq!((stored(0), stored(8)), (None, None), "an address, and how far two lie apart");
        assert_eq!(stored(16), Some(0), "what the alignment says");
        assert_eq!(stored(24), Some(setting.parameters[1].1[0]), "what is found there again");
        assert!(accesses.last().unwrap().place.is_err());
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
