//! The pages of the listed deviations, `docs/deviations/ID.md`, as they were when this program was built.

include!(concat!(env!("OUT_DIR"), "/pages.rs"));

/// The address at which the documents are published.
const PUBLISHED: &str = concat!(env!("CARGO_PKG_REPOSITORY"), "/blob/main/docs");

/// Returns the page of a deviation as Markdown, or `None` if it has no page.
pub fn page(id: &str) -> Option<&'static str> {
    PAGES.iter().find(|(name, _)| *name == id).map(|(_, page)| *page)
}

/// Returns the ids of all listed deviations that have a page.
pub fn ids() -> impl Iterator<Item = &'static str> {
    PAGES.iter().filter(|(id, page)| page.starts_with(&format!("# {id}\n"))).map(|(id, _)| *id)
}

/// Returns the deviations that violate this clause according to their page.
pub fn violating(clause: &str) -> Vec<&'static str> {
    let row = format!("| clause | `{clause}`:");
    ids().filter(|id| page(id).is_some_and(|page| page.contains(&row))).collect()
}

/// Returns the text under a heading of a page, with relative links made absolute.
fn section(id: &str, heading: &str) -> Option<String> {
    let (_, rest) = page(id)?.split_once(&format!("\n## {heading}\n"))?;
    let text = rest.split_once("\n## ").map_or(rest, |(text, _)| text).trim();
    (!text.is_empty()).then(|| text.replace("](../", &format!("]({PUBLISHED}/")))
}

/// Returns, as Markdown, the consequences of a deviation for people who emit PTX.
pub fn meaning(id: &str) -> Option<String> {
    section(id, "What it means for people who emit PTX")
}

/// Returns the work-around for a deviation as Markdown.
pub fn work_around(id: &str) -> Option<String> {
    section(id, "Work-around")
}

/// Returns the address of a deviation's page.
pub fn link(id: &str) -> Option<String> {
    page(id).map(|_| format!("{PUBLISHED}/deviations/{id}.md"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_gives_meaning_and_work_around_and_no_other_page_does() {
        assert!(work_around("incomplete-rows-packed").unwrap().starts_with("Write every row in full"));
        assert!(meaning("incomplete-rows-packed").unwrap().starts_with("A silent wrong value"));
        assert!(meaning("incomplete-rows-packed").unwrap().contains("/docs/reference/emitters.md)"));
        assert!(
            link("incomplete-rows-packed").unwrap().ends_with("/docs/deviations/incomplete-rows-packed.md")
        );
        assert_eq!((meaning("no-such"), work_around("README"), link("no-such")), (None, None, None));
    }
}
