//! Prints cases as C++. Each case is one line, so that the line number of a compiler's message identifies the
//! case.

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
        let is_member = matches!(self.case.place, UsePlace::OwnMember | UsePlace::OwnMemberBefore);
        let function = self.function();
        let template_first = self.case.place == UsePlace::DependentBefore;
        if is_member || template_first {
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
        if !is_member && !template_first {
            parts.push(self.fill(self.case.form.before));
        }
        if !template_first {
            parts.push(function);
        }
        if self.declaration.order == InitializerPosition::BeforeInstantiation {
            parts.push(later.clone());
        }
        parts.push(self.caller());
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

    /// Returns the first declaration of the variable and a later definition. The second is empty if there is
    /// none.
    fn variable(&self) -> (String, String) {
        let d = self.declaration;
        let name = self.name();
        if d.site == DeclarationSite::Local {
            return (String::new(), String::new());
        }
        let initializer = self.initializer();
        let (annotation, storage) = (annotation(d.annotation), storage(d.spelling));
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
                let first = in_namespace(d.site, format!("extern {declared};"));
                let whole = in_namespace(d.site, whole);
                match d.order {
                    InitializerPosition::AtDeclaration => (whole, String::new()),
                    InitializerPosition::Elsewhere => (first, String::new()),
                    _ => (first, whole),
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
            DeclarationSite::OutOfClass => self.out_of_class("", "S"),
            DeclarationSite::TemplateOutOfClass => self.out_of_class("template <class X> ", "S<X>"),
        };
        (format!("{alias}{first}"), later)
    }

    /// Returns the class that declares the variable, and the definition of the variable outside of that
    /// class. `template` is the beginning of both, and `class` the name of the class in the definition.
    fn out_of_class(&self, template: &str, class: &str) -> (String, String) {
        let name = self.name();
        let member = format!("static {};", self.declared(&name));
        let first = self.class(&format!("{template}struct S"), &member);
        let defined = self.declared(&format!("{class}::{name}"));
        let later = format!("{template}{defined}{};", self.initializer());
        match self.declaration.order {
            InitializerPosition::Elsewhere => (first, String::new()),
            InitializerPosition::AtDeclaration => (format!("{first} {later}"), String::new()),
            _ => (first, later),
        }
    }

    /// Returns the class that declares the variable, including the function that uses it if that is a member.
    fn class(&self, head: &str, variable: &str) -> String {
        match self.case.place {
            UsePlace::OwnMember => format!("{head} {{ {variable} {} }};", self.member_function()),
            UsePlace::OwnMemberBefore => format!("{head} {{ {} {variable} }};", self.member_function()),
            _ => format!("{head} {{ {variable} }};"),
        }
    }

    /// Returns the function that uses the variable, as a member of the class that declares the variable.
    fn member_function(&self) -> String {
        let form = self.case.form;
        let (result, setup) = (self.fill(form.result), self.fill(form.setup));
        format!("static __device__ {result} m() {{ {setup} return {}; }}", self.fill(form.expression))
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
        let is_in_class = matches!(self.case.place, UsePlace::OwnMember | UsePlace::OwnMemberBefore);
        let plain = match self.declaration.site {
            _ if self.is_dependent() => format!("X::{name}"),
            DeclarationSite::Nested if self.declaration.access == Naming::Using => name.clone(),
            DeclarationSite::Nested => format!("n::{name}"),
            _ if is_in_class => name.clone(),
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

    /// The beginning of a function that the case defines for the device.
    fn device_head(&self) -> String {
        format!("extern \"C\" __device__ {} c{}()", self.fill(self.case.form.result), self.case.id)
    }

    /// The beginning of a function that the case defines for the host.
    fn host_head(&self) -> String {
        format!("extern \"C\" {} c{}()", self.fill(self.case.form.result), self.case.id)
    }

    /// The statements before the use, with a local variable that the use names.
    fn setup(&self) -> String {
        let local = if self.declaration.site == DeclarationSite::Local {
            format!("{}{}; ", self.declared(&self.name()), self.initializer())
        } else {
            String::new()
        };
        format!("{local}{}", self.fill(self.case.form.setup))
    }

    /// Returns the code that uses the variable. Empty if the class that declares the variable contains it.
    fn function(&self) -> String {
        let id = self.case.id;
        let (named, host) = (self.device_head(), self.host_head());
        let result = self.fill(self.case.form.result);
        let expression = self.fill(self.case.form.expression);
        let setup = self.setup();
        let body = format!("{{ {setup} return {expression}; }}");
        let statement = format!("{{ {setup} {result} z = {expression}; (void)z; }}");
        match self.case.place {
            UsePlace::Device => format!("{named} {body}"),
            UsePlace::HostDevice => format!("extern \"C\" __host__ __device__ {result} c{id}() {body}"),
            UsePlace::Global => {
                format!(
                    "extern \"C\" __global__ void c{id}({result} *out) {{ {setup} *out = {expression}; }}"
                )
            }
            UsePlace::Lambda => format!("{named} {{ return []() -> {result} {body}(); }}"),
            UsePlace::Member => format!("struct M {{ __device__ {result} m() const {body} }};"),
            UsePlace::StaticMember => format!("struct M {{ static __device__ {result} m() {body} }};"),
            UsePlace::OwnMember | UsePlace::OwnMemberBefore => String::new(),
            UsePlace::Template
            | UsePlace::Dependent
            | UsePlace::DependentBefore
            | UsePlace::Uninstantiated => {
                format!("template <class X> __device__ {result} t() {body}")
            }
            UsePlace::Uncalled => format!("static __device__ {result} c{id}() {body}"),
            UsePlace::DefaultArgument => {
                format!("__device__ inline {result} d({result} p = {expression}) {{ return p; }}")
            }
            UsePlace::MemberInitializer => format!("struct M {{ {result} a = {expression}; }};"),
            UsePlace::VariableInitializer => format!("__device__ {result} d{id} = {expression};"),
            UsePlace::Discarded => {
                format!("extern \"C\" __device__ void c{id}() {{ if constexpr (false) {statement} }}")
            }
            UsePlace::DiscardedInTemplate => {
                format!("template <bool Z> __device__ void t() {{ if constexpr (Z) {statement} }}")
            }
            UsePlace::DeadBranch => {
                format!("extern \"C\" __device__ void c{id}() {{ if (0) {statement} }}")
            }
            UsePlace::Host => format!("{host} {body}"),
            UsePlace::HostLambda => format!("{host} {{ return []() -> {result} {body}(); }}"),
            UsePlace::HostTemplate => format!("template <class X> {result} t() {body}"),
            UsePlace::HostMember => format!("struct M {{ {result} m() const {body} }};"),
        }
    }

    /// Returns a function that calls the code with the use. Empty if none is needed or wanted.
    fn caller(&self) -> String {
        let owner = self.owner();
        let (head, body) = match self.case.place {
            UsePlace::Member => (self.device_head(), "return M().m();".to_owned()),
            UsePlace::StaticMember => (self.device_head(), "return M::m();".to_owned()),
            UsePlace::OwnMember | UsePlace::OwnMemberBefore => {
                (self.device_head(), format!("return {owner}::m();"))
            }
            UsePlace::Template => (self.device_head(), "return t<int>();".to_owned()),
            UsePlace::Dependent | UsePlace::DependentBefore => {
                (self.device_head(), format!("return t<{owner}>();"))
            }
            UsePlace::DefaultArgument => (self.device_head(), "return d();".to_owned()),
            UsePlace::MemberInitializer => (self.device_head(), "M m; return m.a;".to_owned()),
            UsePlace::DiscardedInTemplate => {
                (format!("extern \"C\" __device__ void c{}()", self.case.id), "t<false>();".to_owned())
            }
            UsePlace::HostTemplate => (self.host_head(), "return t<int>();".to_owned()),
            UsePlace::HostMember => (self.host_head(), "return M().m();".to_owned()),
            UsePlace::Device
            | UsePlace::Global
            | UsePlace::HostDevice
            | UsePlace::Lambda
            | UsePlace::Uninstantiated
            | UsePlace::Uncalled
            | UsePlace::VariableInitializer
            | UsePlace::Discarded
            | UsePlace::DeadBranch
            | UsePlace::Host
            | UsePlace::HostLambda => return String::new(),
        };
        format!("{head} {{ {body} }}")
    }
}

/// Returns a declaration in the namespace or linkage specification of a site.
fn in_namespace(site: DeclarationSite, text: String) -> String {
    match site {
        DeclarationSite::Nested => format!("namespace n {{ {text} }}"),
        DeclarationSite::Anonymous => format!("namespace {{ {text} }}"),
        DeclarationSite::Inline => format!("inline namespace i {{ {text} }}"),
        DeclarationSite::Linkage => format!("extern \"C++\" {{ {text} }}"),
        _ => text,
    }
}

/// The annotation as written in a declaration, with a trailing space.
fn annotation(annotation: Annotation) -> &'static str {
    match annotation {
        Annotation::None => "",
        Annotation::Device => "__device__ ",
        Annotation::Constant => "__constant__ ",
    }
}

/// The specifier that a spelling adds to a declaration, with a trailing space.
fn storage(spelling: Spelling) -> &'static str {
    match spelling {
        Spelling::Static => "static ",
        Spelling::InlineVariable => "inline ",
        Spelling::Constinit => "constinit ",
        _ => "",
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

/// Prints expressions separated by commas.
fn expressions(parts: &[Expression]) -> String {
    parts.iter().map(expression).collect::<Vec<_>>().join(", ")
}

fn expression(tree: &Expression) -> String {
    match tree {
        Expression::Integer(value, suffix) => format!("{value}{suffix}"),
        Expression::Floating(value, suffix) => format!("{value:?}{suffix}"),
        Expression::Boolean(value) => value.to_string(),
        Expression::Name(name) => (*name).to_owned(),
        Expression::Call(name, arguments) => format!("{name}({})", expressions(arguments)),
        Expression::Negated(inner) => format!("-{}", expression(inner)),
        Expression::Binary(operator, left, right) => {
            format!("({} {} {})", expression(left), operator.sign(), expression(right))
        }
        Expression::Conditional(condition, then, otherwise) => {
            format!("({} ? {} : {})", expression(condition), expression(then), expression(otherwise))
        }
        Expression::SizeOf(ty) => format!("sizeof({})", ty.spelled()),
        Expression::Cast(ty, inner) => format!("({})({})", ty.spelled(), expression(inner)),
        Expression::Braces(parts) => format!("{{{}}}", expressions(parts)),
        Expression::Null => "nullptr".to_owned(),
        Expression::AddressOf(name) => format!("&{name}"),
        Expression::Text(text) => format!("{text:?}"),
    }
}
