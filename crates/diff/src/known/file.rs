//! Parses the file of a known deviation: leading comments in the form of the corpus, followed by the
//! reproducer. `docs/guide/known-deviations.md` describes the format.

use ptxsmith_oracle::Clause;
use ptxsmith_syntax::parse;

use super::entry::{Effect, KnownDeviation, RuleChange, Termination};
use crate::implementation::Releases;
use crate::pattern::Pattern;
use crate::verdict::Class;

/// The keys, in the order in which a file has them.
const KEYS: [&str; 16] = [
    "deviation",
    "also",
    "title",
    "clause",
    "lineage",
    "releases",
    "first-seen",
    "pattern",
    "wider",
    "instead",
    "note",
    "means",
    "work-around",
    "found",
    "link",
    "expect",
];

/// The leading comments of a file, as pairs of key and value.
pub(crate) struct Comments<'t>(Vec<(&'t str, &'t str)>);

impl<'t> Comments<'t> {
    /// Splits a text into its leading comments and the rest.
    pub(crate) fn split(text: &'t str) -> Result<(Comments<'t>, &'t str), String> {
        let mut comments = Vec::new();
        let mut rest = text;
        while let Some(line) = rest.strip_prefix("//") {
            let (line, behind) = line.split_once('\n').unwrap_or((line, ""));
            let (key, value) =
                line.split_once(':').ok_or_else(|| format!("`//{line}` is not `// KEY: VALUE`"))?;
            if !KEYS.contains(&key.trim()) {
                return Err(format!("`{}` is no key; the keys are {}", key.trim(), KEYS.join(", ")));
            }
            comments.push((key.trim(), value.trim()));
            rest = behind;
        }
        Ok((Comments(comments), rest))
    }

    /// Returns the values of a key, in their order.
    pub(crate) fn values(&self, key: &str) -> impl Iterator<Item = &'t str> {
        self.0.iter().filter(move |(known, _)| *known == key).map(|(_, value)| *value)
    }

    /// Returns the value of a key that may occur once.
    pub(crate) fn single(&self, key: &str) -> Result<Option<&'t str>, String> {
        let mut values = self.values(key);
        let first = values.next();
        if values.next().is_some() { Err(format!("`{key}` stands twice")) } else { Ok(first) }
    }

    /// Returns the value of a key that must occur once.
    pub(crate) fn required(&self, key: &str) -> Result<&'t str, String> {
        self.single(key)?.ok_or_else(|| format!("there is no `// {key}: ...`"))
    }

    /// Joins the values of a key, one a line. The result is leaked.
    fn lines(&self, key: &str) -> &'static str {
        self.values(key).collect::<Vec<_>>().join("\n").leak()
    }
}

/// Parses an entry, which lives as long as the process. `change` is the rule that the subject follows, if the
/// entry has one.
pub(super) fn read(
    id: &'static str,
    text: &'static str,
    change: Option<RuleChange>,
) -> Result<KnownDeviation, String> {
    let (comments, example) = Comments::split(text)?;
    let lineage = comments.required("lineage")?;
    let title = comments.required("title")?;
    let releases = read_releases(comments.required("releases")?)?;
    let clauses: Result<Vec<Clause>, String> = comments
        .values("clause")
        .map(|id| Clause::from_id(id).ok_or_else(|| format!("there is no clause `{id}`")))
        .collect();
    let module = parse(example).map_err(|error| format!("the reproducer: {}", error.render("", example)))?;
    // An entry with neither a pattern nor a rule matches its reproducer only.
    let pattern = match comments.lines("pattern") {
        "" if change.is_some() => None,
        "" => Some(Pattern::program(&module)),
        text => Some(Pattern::parse(text)?),
    };
    let pattern = pattern.map(|pattern| &*Box::leak(Box::new(pattern)));
    let wider = match comments.lines("wider") {
        "" => None,
        text => Some(&*Box::leak(Box::new(Pattern::parse(text)?))),
    };
    let known = KnownDeviation {
        id,
        also: comments.values("also").collect::<Vec<_>>().leak(),
        title,
        clauses: clauses?.leak(),
        lineage,
        releases,
        effect: effect(comments.required("deviation")?, change)?,
        pattern,
        wider,
        instead: comments.single("instead")?,
        example,
        first_seen: comments.single("first-seen")?.unwrap_or_default(),
        means: comments.lines("means"),
        work_around: comments.lines("work-around"),
        found: comments.lines("found"),
    };
    let patterns = [known.pattern, known.wider];
    if !patterns.into_iter().flatten().all(|pattern| pattern.is_in(&module)) {
        return Err("a pattern does not match the reproducer".into());
    }
    Ok(known)
}

/// Parses `A and later`, `A to B`, or `A`.
pub(crate) fn read_releases(text: &str) -> Result<Releases, String> {
    Releases::parse(text).ok_or_else(|| format!("`{text}` is none of `A and later`, `A to B`, `A`"))
}

/// Parses the class of the deviation and, for a crash, how the subject terminates: `crash SIGSEGV`.
fn effect(text: &str, change: Option<RuleChange>) -> Result<Effect, String> {
    let (class, end) = text.split_once(' ').unwrap_or((text, ""));
    let class = Class::of_verdict(class).ok_or_else(|| format!("there is no class `{class}`"))?;
    let end = match (class, end) {
        (Class::Crash, "") => return Err("a crash says how it ends: `crash SIGSEGV`".into()),
        (Class::Crash, end) => {
            Some(Termination::from_name(end).ok_or_else(|| format!("no subject ends with `{end}`"))?)
        }
        (Class::Hang, "") => Some(Termination::Hang),
        (_, "") => None,
        (_, more) => return Err(format!("`{more}` says nothing behind a class that is no crash")),
    };
    Ok(match (class, end, change) {
        (_, Some(Termination::Signal(signal)), Some(RuleChange::Crash(when))) => {
            Effect::CrashRule { signal, when }
        }
        (_, Some(end), None) => Effect::CrashPattern { end },
        (Class::RefusesValid, None, Some(RuleChange::Rule(change))) => Effect::RefusalRule(change),
        (_, None, Some(RuleChange::Rule(change))) => Effect::Rule(change),
        (Class::RefusesValid, None, None) => Effect::RefusesValid,
        (Class::AcceptsInvalid, None, None) => Effect::AcceptsInvalid,
        (Class::WrongValue | Class::WrongAddress | Class::WrongLayout, None, None) => Effect::WrongValue,
        _ => return Err(format!("`{text}` is no effect of a known deviation")),
    })
}
