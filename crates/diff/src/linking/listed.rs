//! The known deviations of linkers: files of `corpus/deviations/linking`, each named by the id of its
//! findings.

use std::sync::LazyLock;

use ptxsmith_subject::Description;
use ptxsmith_syntax::{Module, parse};

use crate::implementation::{Implementation, Releases};
use crate::known::{Comments, FILES, read_releases};
use crate::verdict::Class;

/// A known deviation of linkers.
pub struct LinkerDeviation {
    /// Stable id: the name of the file. Its findings have the same id.
    pub id: &'static str,
    /// The class of the deviation.
    pub class: Class,
    /// The deviation in one line.
    pub title: &'static str,
    /// The linkers that show it, each with its releases.
    pub releases: Vec<&'static str>,
    /// The date on which it was first seen.
    pub first_seen: &'static str,
    /// The work-around.
    pub work_around: &'static str,
    lineage: &'static str,
    /// Its earlier ids, and the ids of findings that belong to it.
    pub(crate) also: Vec<&'static str>,
    linkers: Vec<Linker>,
    /// The modules of its reproducer, in the order that shows it.
    pub modules: Vec<(&'static str, Module)>,
}

/// A linker that shows a deviation, with its releases.
struct Linker {
    name: &'static str,
    releases: Releases,
    /// Whether every run shows it.
    always: bool,
}

/// All known deviations of linkers.
pub static LINKER_DEVIATIONS: LazyLock<Vec<LinkerDeviation>> = LazyLock::new(in_folder);

/// Parses the files of the folder.
fn in_folder() -> Vec<LinkerDeviation> {
    let files = FILES.get_dir("linking").into_iter().flat_map(|folder| folder.files());
    let first_modules = files.filter_map(|file| {
        let id = file.path().file_name()?.to_str()?.strip_suffix(".ptx")?;
        // `ID.2.ptx` is the second module of ID.
        (!id.contains('.')).then(|| (id, file.contents_utf8().unwrap_or_default()))
    });
    first_modules
        .map(|(id, text)| read(id, text).unwrap_or_else(|error| panic!("linking/{id}.ptx: {error}")))
        .collect()
}

fn read(id: &'static str, text: &'static str) -> Result<LinkerDeviation, String> {
    let (comments, _) = Comments::split(text)?;
    let class = comments.required("deviation")?;
    let mut modules = vec![module(text)?];
    for name in comments.values("link") {
        let file = FILES.get_file(format!("linking/{name}")).ok_or_else(|| format!("there is no {name}"))?;
        modules.push(module(file.contents_utf8().unwrap_or_default())?);
    }
    Ok(LinkerDeviation {
        id,
        class: Class::of_verdict(class).ok_or_else(|| format!("there is no class `{class}`"))?,
        title: comments.required("title")?,
        releases: comments.values("releases").collect(),
        first_seen: comments.required("first-seen")?,
        work_around: comments.required("work-around")?,
        lineage: comments.required("lineage")?,
        also: comments.values("also").collect(),
        linkers: comments.values("releases").map(linker).collect::<Result<_, _>>()?,
        modules,
    })
}

/// Parses `nvlink 13.0 and later`, or `nvlink 13.0 and later, not in every run`.
fn linker(text: &'static str) -> Result<Linker, String> {
    let (name, releases) =
        text.split_once(' ').ok_or_else(|| format!("`{text}` is not `LINKER RELEASES`"))?;
    let sporadic = releases.strip_suffix(", not in every run");
    Ok(Linker { name, releases: read_releases(sporadic.unwrap_or(releases))?, always: sporadic.is_none() })
}

fn module(text: &'static str) -> Result<(&'static str, Module), String> {
    Ok((text, parse(text).map_err(|error| error.render("", text))?))
}

impl LinkerDeviation {
    /// Returns true if this is its id, one of its earlier ids, or the id of a finding that belongs to it.
    pub fn is_called(&self, id: &str) -> bool {
        self.id == id || self.also.contains(&id)
    }

    /// Returns true if it is listed for this linker.
    pub fn is_listed_for(&self, description: &Description) -> bool {
        self.linker(description).is_some()
    }

    /// Returns true if it is listed for this linker as a deviation that every run shows.
    pub fn is_always_listed_for(&self, description: &Description) -> bool {
        self.linker(description).is_some_and(|linker| linker.always)
    }

    fn linker(&self, description: &Description) -> Option<&Linker> {
        let Implementation { lineage, version } = Implementation::from_description(description);
        let is_it =
            |linker: &&Linker| description.id.starts_with(linker.name) && linker.releases.contains(version);
        self.linkers.iter().find(is_it).filter(|_| lineage == Some(self.lineage))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_listed_deviation_has_a_reproducer_of_several_modules() {
        assert!(!LINKER_DEVIATIONS.is_empty());
        for listed in LINKER_DEVIATIONS.iter() {
            assert!(listed.modules.len() >= 2, "{}", listed.id);
            assert!(!listed.title.is_empty(), "{}", listed.id);
        }
    }
}
