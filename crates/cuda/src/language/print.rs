//! Prints cases as C++. Each case is one line, so that the line number of a compiler's message identifies the case.

use super::{
    Annotation, Auxiliary, CudaCase, DeclarationSite, Expression, InitializerPosition, Naming, Qualifier,
    Spelling, UsePlace, VariableDeclaration,
};

/// The text of a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrintedCase {
    /// The line of C++, without a line break.
    pub line: String,
    /// The column where the use names the variable: the start of that expression, in bytes from 1.
    pub column: usize,
}

/// Marks the expression that names the variable while the text is assembled. [`print`] removes it.
const MARK: char = '\u{1}';

/// Prints a case as a namespace of its own.
pub fn print(case: &CudaCase) -> PrintedCase {
    let marked = CasePrinter { case, declaration: &case.declaration }.text();
    let column = marked.find(MARK).map_or(1, |place| place + 1);
    PrintedCase { line: marked.replace(MARK, ""), column }
}

struct CasePrinter<'a> {
    case: &'a CudaCase,
    declaration: &'a VariableDeclaration,
}

impl CasePrinter<'_> {
    fn text(&self) -> String {
        let id = self.case.id;
        let mut parts = vec![self.declaration.ty.declared().to_owned()];
        parts.extend(self.declaration.auxiliaries.iter().map(auxiliary));
        let (first, later) = self.variable();
        let own = matches!(self.case.place, UsePlace::OwnMember | UsePlace::OwnMemberBefore);
        let (function, caller) = self.function();
        let template_first = self.case.place == UsePlace::DependentBefore;
        if own || template_first {
            parts.push(self.fill(self.case.form.before));
        }
        if template_first {
            parts.push(function.clone());
        }
        parts.push(first);
        parts.push(self.access_helpers());
        if self.declaration.order == InitializerPosition::DefinedBefore {
            parts.push(later.clone());
        }
        if !own && !template_first {
            parts.push(self.fill(self.case.form.before));
        }
        if !template_first {
            parts.push(function);
        }
        if self.declaration.order == InitializerPosition::BeforeInstantiation {
            parts.push(later.clone());
        }
        parts.push(caller);
        if matches!(
            self.declaration.order,
            InitializerPosition::DefinedAfter | InitializerPosition::AtDeclaration
        ) {
            parts.push(later);
        }
        parts.retain(|part| !part.is_empty());
        format!("namespace u{id} {{ {} }}", parts.join(" "))
    }

    fn name(&self) -> String {
        format!("v{}_", self.case.id)
    }

    /// Returns the first declaration of the variable and a later definition. The second is empty if there is none.
    fn variable(&self) -> (String, String) {
        let d = self.declaration;
        let name = self.name();
        if d.site == DeclarationSite::Local {
            return (String::new(), String::new());
        }
        let initializer = self.initializer();
        let annotation = match d.annotation {
            Annotation::None => "",
            Annotation::Device => "__device__ ",
            Annotation::Constant => "__constant__ ",
        };
        let storage = match d.spelling {
            Spelling::Static => "static ",
            Spelling::InlineVariable => "inline ",
            Spelling::Constinit => "constinit ",
            _ => "",
        };
        let alias = if d.spelling == Spelling::Alias {
            format!("using Q = {}{}; ", qualifier(d.qualifier), d.ty.spelled())
        } else {
            String::new()
        };
        let declared = self.declared(&name);
        let whole = format!("{annotation}{storage}{declared}{initializer};");
        let member = format!("static {declared}{initializer};");
        let (first, later) = match d.site {
            DeclarationSite::Local => unreachable!("it has returned"),
            DeclarationSite::Namespace
            | DeclarationSite::Nested
            | DeclarationSite::Anonymous
            | DeclarationSite::Inline
            | DeclarationSite::Linkage => {
                let wrap = |text: String| match d.site {
                    DeclarationSite::Nested => format!("namespace n {{ {text} }}"),
                    DeclarationSite::Anonymous => format!("namespace {{ {text} }}"),
                    DeclarationSite::Inline => format!("inline namespace i {{ {text} }}"),
                    DeclarationSite::Linkage => format!("extern \"C++\" {{ {text} }}"),
                    _ => text,
                };
                let first = || wrap(format!("extern {declared};"));
                match d.order {
                    InitializerPosition::AtDeclaration => (wrap(whole), String::new()),
                    InitializerPosition::Elsewhere => (first(), String::new()),
                    _ => (first(), wrap(whole)),
                }
            }
            DeclarationSite::VariableTemplate => (format!("template <class X> {whole}"), String::new()),
            DeclarationSite::Member => (self.class("struct S", &member), String::new()),
            DeclarationSite::InlineMember => {
                (self.class("struct S", &format!("inline {member}")), String::new())
            }
            DeclarationSite::NestedMember => {
                (format!("struct O {{ struct S {{ {member} }}; }};"), String::new())
            }
            DeclarationSite::TemplateMember => {
                (self.class("template <class X> struct S", &member), String::new())
            }
            DeclarationSite::InClassAndDefined => {
                (self.class("struct S", &member), format!("{};", self.declared(&format!("S::{name}"))))
            }
            DeclarationSite::OutOfClass | DeclarationSite::TemplateOutOfClass => {
                let template = if d.site == DeclarationSite::OutOfClass { "" } else { "template <class X> " };
                let class = self.class(&format!("{template}struct S"), &format!("static {declared};"));
                let owner = if d.site == DeclarationSite::OutOfClass { "S" } else { "S<X>" };
                let later = format!("{template}{}{initializer};", self.declared(&format!("{owner}::{name}")));
                match d.order {
                    InitializerPosition::Elsewhere => (class, String::new()),
                    InitializerPosition::AtDeclaration => (format!("{class} {later}"), String::new()),
                    _ => (class, later),
                }
            }
        };
        (format!("{alias}{first}"), later)
    }

    /// Returns the class that declares the variable, including the function that uses it if that is a member.
    fn class(&self, head: &str, variable: &str) -> String {
        let form = self.case.form;
        let function = || {
            format!(
                "static __device__ {} m() {{ {} return {}; }}",
                self.fill(form.result),
                self.fill(form.setup),
                self.fill(form.expression)
            )
        };
        match self.case.place {
            UsePlace::OwnMember => format!("{head} {{ {variable} {} }};", function()),
            UsePlace::OwnMemberBefore => format!("{head} {{ {} {variable} }};", function()),
            _ => format!("{head} {{ {variable} }};"),
        }
    }

    /// Returns the declaration of `name` without an initializer: the qualified type and the name.
    fn declared(&self, name: &str) -> String {
        let d = self.declaration;
        let ty = d.ty.spelled();
        match d.spelling {
            Spelling::Alias => format!("Q {name}"),
            Spelling::Auto => format!("{}auto {name}", qualifier(d.qualifier)),
            Spelling::QualifierLast => format!("{ty} {}{name}", qualifier(d.qualifier)),
            _ => format!("{}{ty} {name}", qualifier(d.qualifier)),
        }
    }

    fn initializer(&self) -> String {
        let d = self.declaration;
        let text = expression(&d.initializer);
        match d.spelling {
            Spelling::Parentheses => format!("({text})"),
            Spelling::Braces => format!("{{{text}}}"),
            Spelling::Auto => format!(" = ({})({text})", d.ty.spelled()),
            _ => format!(" = {text}"),
        }
    }

    fn access_helpers(&self) -> String {
        match (self.declaration.access, self.declaration.site) {
            (
                Naming::ThroughDerived,
                DeclarationSite::TemplateMember | DeclarationSite::TemplateOutOfClass,
            ) => "struct D : S<int> {};".to_owned(),
            (Naming::ThroughDerived, _) => "struct D : S {};".to_owned(),
            (Naming::Using, _) => format!("using n::{};", self.name()),
            _ => String::new(),
        }
    }

    /// Returns the expression that names the variable, preceded by [`MARK`].
    fn accessed(&self) -> String {
        let name = self.name();
        let own = matches!(self.case.place, UsePlace::OwnMember | UsePlace::OwnMemberBefore);
        let plain = match self.declaration.site {
            _ if self.is_dependent() => format!("X::{name}"),
            DeclarationSite::Nested if self.declaration.access == Naming::Using => name.clone(),
            DeclarationSite::Nested => format!("n::{name}"),
            _ if own => name.clone(),
            DeclarationSite::Member
            | DeclarationSite::InlineMember
            | DeclarationSite::OutOfClass
            | DeclarationSite::InClassAndDefined => {
                format!("S::{name}")
            }
            DeclarationSite::NestedMember => format!("O::S::{name}"),
            DeclarationSite::TemplateMember | DeclarationSite::TemplateOutOfClass => {
                format!("S<int>::{name}")
            }
            DeclarationSite::VariableTemplate => format!("{name}<int>"),
            _ => name.clone(),
        };
        let accessed = match self.declaration.access {
            Naming::Plain | Naming::Using => plain,
            Naming::Qualified => format!("::u{}::{plain}", self.case.id),
            Naming::ThroughObject => plain.replace("::v", "().v"),
            Naming::ThroughDerived => format!("D::{name}"),
        };
        format!("{MARK}{accessed}")
    }

    /// Whether the use names the variable through a parameter of the template around it.
    fn is_dependent(&self) -> bool {
        matches!(self.case.place, UsePlace::Dependent | UsePlace::DependentBefore)
    }

    /// The name of the class that declares the variable.
    fn owner(&self) -> &'static str {
        match self.declaration.site {
            DeclarationSite::TemplateMember | DeclarationSite::TemplateOutOfClass => "S<int>",
            DeclarationSite::NestedMember => "O::S",
            _ => "S",
        }
    }

    fn fill(&self, template: &str) -> String {
        let d = self.declaration;
        let annotation = match self.case.place {
            UsePlace::Host | UsePlace::HostLambda | UsePlace::HostTemplate | UsePlace::HostMember => "",
            UsePlace::HostDevice => "__host__ __device__",
            _ => "__device__",
        };
        let text = template
            .replace("$V", &self.accessed())
            .replace("$C", &format!("{}{}", cv(d.qualifier), d.ty.spelled()))
            .replace("$T", d.ty.spelled())
            .replace("$H", "__host__ __device__")
            .replace("$A", annotation);
        text.trim().to_owned()
    }

    /// Returns the code that uses the variable, and a caller for it. The caller is empty if none is needed or wanted.
    fn function(&self) -> (String, String) {
        let (form, id) = (self.case.form, self.case.id);
        let result = self.fill(form.result);
        let expression = self.fill(form.expression);
        let local = if self.declaration.site == DeclarationSite::Local {
            format!("{}{}; ", self.declared(&self.name()), self.initializer())
        } else {
            String::new()
        };
        let setup = format!("{local}{}", self.fill(form.setup));
        let body = format!("{{ {setup} return {expression}; }}");
        let statement = format!("{{ {setup} {result} z = {expression}; (void)z; }}");
        let named = format!("extern \"C\" __device__ {result} c{id}()");
        let host = format!("extern \"C\" {result} c{id}()");
        let calls = |call: &str| format!("{named} {{ return {call}; }}");
        let host_calls = |call: &str| format!("{host} {{ return {call}; }}");
        match self.case.place {
            UsePlace::Device => (format!("{named} {body}"), String::new()),
            UsePlace::HostDevice => {
                (format!("extern \"C\" __host__ __device__ {result} c{id}() {body}"), String::new())
            }
            UsePlace::Global => (
                format!(
                    "extern \"C\" __global__ void c{id}({result} *out) {{ {setup} *out = {expression}; }}"
                ),
                String::new(),
            ),
            UsePlace::Lambda => (format!("{named} {{ return []() -> {result} {body}(); }}"), String::new()),
            UsePlace::Member => {
                (format!("struct M {{ __device__ {result} m() const {body} }};"), calls("M().m()"))
            }
            UsePlace::StaticMember => {
                (format!("struct M {{ static __device__ {result} m() {body} }};"), calls("M::m()"))
            }
            UsePlace::OwnMember | UsePlace::OwnMemberBefore => {
                (String::new(), calls(&format!("{}::m()", self.owner())))
            }
            UsePlace::Template => {
                (format!("template <class X> __device__ {result} t() {body}"), calls("t<int>()"))
            }
            UsePlace::Dependent | UsePlace::DependentBefore => (
                format!("template <class X> __device__ {result} t() {body}"),
                calls(&format!("t<{}>()", self.owner())),
            ),
            UsePlace::Uninstantiated => {
                (format!("template <class X> __device__ {result} t() {body}"), String::new())
            }
            UsePlace::Uncalled => (format!("static __device__ {result} c{id}() {body}"), String::new()),
            UsePlace::DefaultArgument => (
                format!("__device__ inline {result} d({result} p = {expression}) {{ return p; }}"),
                calls("d()"),
            ),
            UsePlace::MemberInitializer => (
                format!("struct M {{ {result} a = {expression}; }};"),
                format!("{named} {{ M m; return m.a; }}"),
            ),
            UsePlace::VariableInitializer => {
                (format!("__device__ {result} d{id} = {expression};"), String::new())
            }
            UsePlace::Discarded => (
                format!("extern \"C\" __device__ void c{id}() {{ if constexpr (false) {statement} }}"),
                String::new(),
            ),
            UsePlace::DiscardedInTemplate => (
                format!("template <bool Z> __device__ void t() {{ if constexpr (Z) {statement} }}"),
                format!("extern \"C\" __device__ void c{id}() {{ t<false>(); }}"),
            ),
            UsePlace::DeadBranch => {
                (format!("extern \"C\" __device__ void c{id}() {{ if (0) {statement} }}"), String::new())
            }
            UsePlace::Host => (format!("{host} {body}"), String::new()),
            UsePlace::HostLambda => {
                (format!("{host} {{ return []() -> {result} {body}(); }}"), String::new())
            }
            UsePlace::HostTemplate => {
                (format!("template <class X> {result} t() {body}"), host_calls("t<int>()"))
            }
            UsePlace::HostMember => {
                (format!("struct M {{ {result} m() const {body} }};"), host_calls("M().m()"))
            }
        }
    }
}

/// The qualifiers as written in a declaration, with a trailing space.
fn qualifier(qualifier: Qualifier) -> &'static str {
    match qualifier {
        Qualifier::Const => "const ",
        Qualifier::ConstVolatile => "const volatile ",
        Qualifier::Constexpr => "constexpr ",
        Qualifier::None => "",
    }
}

/// The cv-qualifiers of the type, with a trailing space. `constexpr` implies `const`.
fn cv(qualifier: Qualifier) -> &'static str {
    match qualifier {
        Qualifier::Const | Qualifier::Constexpr => "const ",
        Qualifier::ConstVolatile => "const volatile ",
        Qualifier::None => "",
    }
}

fn auxiliary(auxiliary: &Auxiliary) -> String {
    match auxiliary {
        Auxiliary::Variable { name, ty, qualifier: q, initializer: Some(initializer) } => {
            format!("{}{} {name} = {};", qualifier(*q), ty.spelled(), expression(initializer))
        }
        Auxiliary::Variable { name, ty, qualifier: q, initializer: None } => {
            format!("extern {}{} {name};", qualifier(*q), ty.spelled())
        }
        Auxiliary::Function { name, result, constexpr, body } => {
            let specifier = if *constexpr { "constexpr " } else { "" };
            match body {
                Some(body) => {
                    format!(
                        "{specifier}inline {} {name}(int a) {{ return {}; }}",
                        result.spelled(),
                        expression(body)
                    )
                }
                None => format!("{} {name}(int a);", result.spelled()),
            }
        }
        Auxiliary::Enumerator(name, value) => format!("enum {{ {name} = {value} }};"),
    }
}

fn expression(tree: &Expression) -> String {
    let list = |parts: &[Expression]| parts.iter().map(expression).collect::<Vec<_>>().join(", ");
    match tree {
        Expression::Integer(value, suffix) => format!("{value}{suffix}"),
        Expression::Floating(value, suffix) => format!("{value:?}{suffix}"),
        Expression::Boolean(value) => value.to_string(),
        Expression::Name(name) => (*name).to_owned(),
        Expression::Call(name, arguments) => format!("{name}({})", list(arguments)),
        Expression::Negated(inner) => format!("-{}", expression(inner)),
        Expression::Binary(operator, left, right) => {
            format!("({} {} {})", expression(left), operator.sign(), expression(right))
        }
        Expression::Conditional(condition, then, otherwise) => {
            format!("({} ? {} : {})", expression(condition), expression(then), expression(otherwise))
        }
        Expression::SizeOf(ty) => format!("sizeof({})", ty.spelled()),
        Expression::Cast(ty, inner) => format!("({})({})", ty.spelled(), expression(inner)),
        Expression::Braces(parts) => format!("{{{}}}", list(parts)),
        Expression::Null => "nullptr".to_owned(),
        Expression::AddressOf(name) => format!("&{name}"),
        Expression::Text(text) => format!("{text:?}"),
    }
}
