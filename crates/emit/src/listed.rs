//! The known deviations of compilers that print PTX, from files in `corpus/deviations/emitted`. Each file is
//! named after the id of its findings.
//!
//! A file is a `.cu` or `.ll` source after lines `// KEY: VALUE` (`; ` in IR): `deviation` (classes),
//! `title`, `releases` (`nvcc 13.0 and later`), and `symptom` (a part of it), `shape` (a regular expression for
//! the whole shape), or both; lines of one key are alternatives. It matches a reduced global only if all keys fit.
//! `apart` is a regular expression for globals that may show a crash: it only decides what is compiled together.

use std::sync::LazyLock;

use include_dir::{Dir, include_dir};
use ptxsmith_cuda::subjects::CompilerDescription;
use ptxsmith_model::Class;
use ptxsmith_subject::version::Releases;
use regex_lite::Regex;

use crate::judge::DifferenceSymptom;

static FILES: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/deviations");

/// The keys of the leading comments, in order.
const KEYS: [&str; 11] = [
    "deviation",
    "title",
    "releases",
    "symptom",
    "shape",
    "apart",
    "first-seen",
    "link",
    "work-around",
    "found",
    "note",
];

/// A known deviation.
pub struct CompilerDeviation {
    /// The id, which is also the id of its findings.
    pub id: &'static str,
    /// The effect, in one line.
    pub title: &'static str,
    /// The address of the bug report.
    pub link: Option<&'static str>,
    /// The source that shows it.
    pub source: &'static str,
    /// The classes of its findings.
    pub classes: Vec<Class>,
    /// The compilers that show it, each with its releases, as text.
    pub releases: Vec<&'static str>,
    /// The date of the first finding.
    pub first_seen: &'static str,
    /// What to write instead.
    pub work_around: &'static str,
    /// What else is known.
    pub notes: Vec<&'static str>,
    /// Parts of the symptoms that show it, in the words of the verdict; none for any symptom.
    symptoms: Vec<&'static str>,
    /// Patterns for the shapes of reduced globals that show it.
    shapes: Vec<Regex>,
    /// Patterns for the shapes of globals that may show it, where `shapes` says nothing.
    apart: Vec<Regex>,
    /// The compilers that show it, each with its releases.
    compilers: Vec<(&'static str, Releases)>,
}

/// All known deviations.
pub static LISTED: LazyLock<Vec<CompilerDeviation>> = LazyLock::new(|| {
    let sources = FILES.files().filter_map(|file| {
        let path = file.path().to_str()?;
        let id = path.strip_suffix(".cu").or_else(|| path.strip_suffix(".ll"))?;
        Some((id, file.contents_utf8().unwrap_or_default()))
    });
    sources.map(|(id, text)| read(id, text).unwrap_or_else(|error| panic!("emitted/{id}: {error}"))).collect()
});

fn read(id: &'static str, text: &'static str) -> Result<CompilerDeviation, String> {
    let mut keys = DeviationKeys(Vec::new());
    let mut source = text;
    while let Some(line) = source.strip_prefix("// ").or_else(|| source.strip_prefix("; ")) {
        let (line, rest) = line.split_once('\n').unwrap_or((line, ""));
        let (key, value) = line.split_once(": ").ok_or_else(|| format!("`{line}` is not `KEY: VALUE`"))?;
        if key == "reads" || key == "RUN" {
            break;
        }
        if !KEYS.contains(&key) {
            return Err(format!("`{key}` is no key; the keys are {}", KEYS.join(", ")));
        }
        keys.0.push((key, value));
        source = rest;
    }
    Ok(CompilerDeviation {
        id,
        title: keys.required("title")?,
        link: keys.values("link").next(),
        source,
        releases: keys.values("releases").collect(),
        first_seen: keys.required("first-seen")?,
        work_around: keys.required("work-around")?,
        notes: keys.values("note").collect(),
        classes: keys
            .required("deviation")?
            .split(' ')
            .map(|name| Class::of_verdict(name).ok_or_else(|| format!("there is no class `{name}`")))
            .collect::<Result<_, _>>()?,
        symptoms: keys.values("symptom").collect(),
        shapes: keys.patterns("shape")?,
        apart: keys.patterns("apart")?,
        compilers: keys.values("releases").map(compiler).collect::<Result<_, _>>()?,
    })
}

/// The keys and values of the leading comments of a file.
struct DeviationKeys(Vec<(&'static str, &'static str)>);

impl DeviationKeys {
    fn values(&self, name: &'static str) -> impl Iterator<Item = &'static str> {
        self.0.iter().filter(move |(key, _)| *key == name).map(|(_, value)| *value)
    }

    /// Returns the patterns for whole shapes under a key.
    fn patterns(&self, name: &'static str) -> Result<Vec<Regex>, String> {
        let whole = |text| Regex::new(&format!("^(?:{text})$")).map_err(|error| error.to_string());
        self.values(name).map(whole).collect()
    }

    fn required(&self, name: &'static str) -> Result<&'static str, String> {
        self.values(name).next().ok_or_else(|| format!("there is no `// {name}: ...`"))
    }
}

/// Parses `nvcc 13.0 and later`.
fn compiler(text: &'static str) -> Result<(&'static str, Releases), String> {
    let (name, releases) =
        text.split_once(' ').ok_or_else(|| format!("`{text}` is not `COMPILER RELEASES`"))?;
    let read = Releases::parse(releases).ok_or_else(|| format!("`{releases}` names no releases"))?;
    Ok((name, read))
}

impl CompilerDeviation {
    /// Returns true if it is listed for this compiler.
    pub fn applies_to(&self, description: &CompilerDescription) -> bool {
        let version = Some(description.version.as_str());
        self.compilers.iter().any(|(name, releases)| *name == description.name && releases.contains(version))
    }

    /// Returns true if reduced globals with this shape and symptom show it.
    pub fn matches(&self, symptom: &DifferenceSymptom, shape: &str) -> bool {
        self.classes.contains(&symptom.class)
            && (self.symptoms.is_empty() || self.symptoms.iter().any(|part| symptom.what.contains(part)))
            && (self.shapes.is_empty() || self.shapes.iter().any(|pattern| pattern.is_match(shape)))
    }
}

/// Returns the known deviation of a compiler that globals with this shape and symptom show.
pub fn find(
    symptom: &DifferenceSymptom,
    shape: &str,
    description: &CompilerDescription,
) -> Option<&'static CompilerDeviation> {
    LISTED.iter().find(|listed| listed.applies_to(description) && listed.matches(symptom, shape))
}

/// Returns true if a global with this shape may show a listed crash of this compiler.
pub fn may_crash(shape: &str, description: &CompilerDescription) -> bool {
    LISTED.iter().any(|listed| {
        listed.classes.contains(&Class::Crash)
            && listed.applies_to(description)
            && listed.shapes.iter().chain(&listed.apart).any(|pattern| pattern.is_match(shape))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_listed_fault_says_what_it_is_about() {
        assert!(!LISTED.is_empty());
        for CompilerDeviation { id, source, symptoms, shapes, compilers, .. } in LISTED.iter() {
            assert!(!symptoms.is_empty() || !shapes.is_empty(), "{id}");
            assert!(
                !compilers.is_empty() && (source.contains("__device__") || source.contains("@g0 =")),
                "{id}"
            );
        }
    }
}
