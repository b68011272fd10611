//! The pages of the listed deviations, `docs/deviations/ID.md`, as they were when this program was built.

include!(concat!(env!("OUT_DIR"), "/pages.rs"));

/// The address at which the documents are published.
const PUBLISHED: &str = concat!(env!("CARGO_PKG_REPOSITORY"), "/blob/main/docs");

/// Returns the page of a deviation as Markdown, or `None` if it has no page.
pub fn page(id: &str) -> Option<&'static str> {
    PAGES.iter().find(|(name, _)| *name == id).map(|(_, page)| *page)
}

/// The pages with a section for each deviation, of what is not ptxas.
const COLLECTIONS: [&str; 2] = ["linkers", "compilers"];

/// Returns the section on a deviation of a linker or of a compiler that prints PTX, as a page.
pub fn collected(id: &str) -> Option<String> {
    sections().find(|(name, _)| *name == id).map(|(name, text)| format!("# {name}\n{text}"))
}

/// Returns the ids of the deviations that [`collected`] finds.
pub fn collected_ids() -> impl Iterator<Item = &'static str> {
    sections().map(|(id, _)| id)
}

fn sections() -> impl Iterator<Item = (&'static str, &'static str)> {
    let pages = COLLECTIONS.iter().filter_map(|name| page(name));
    pages.flat_map(|page| page.split("\n## ").skip(1)).filter_map(|section| section.split_once('\n'))
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

/// A piece of a text; text between backticks is code.
pub struct MarkdownPiece<'a> {
    /// The text without marks.
    pub text: &'a str,
    /// Whether it is code.
    pub is_code: bool,
}

/// Splits Markdown, as the pages of deviations use it, into code and other text. Of a link only the text
/// remains.
pub fn pieces(markdown: &str) -> Vec<MarkdownPiece<'_>> {
    let mut pieces = Vec::new();
    for (index, text) in markdown.split('`').enumerate() {
        if index % 2 == 1 {
            pieces.push(MarkdownPiece { text, is_code: true });
        } else {
            pieces.extend(without_links(text).into_iter().map(|text| MarkdownPiece { text, is_code: false }));
        }
    }
    pieces
}

/// Returns the pieces of a text around the brackets and targets of its links, `[text](target)`.
fn without_links(text: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once('[')
        && let Some((name, target)) = behind.split_once("](")
        && let Some((_, after)) = target.split_once(')')
    {
        pieces.extend([before, name]);
        rest = after;
    }
    pieces.push(rest);
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markdown_is_code_and_text_without_the_targets_of_links() {
        let texts: Vec<(&str, bool)> =
            pieces("a [b](c.md), `x[1]` [2]").into_iter().map(|piece| (piece.text, piece.is_code)).collect();
        let expected = [("a ", false), ("b", false), (", ", false), ("x[1]", true), (" [2]", false)];
        assert_eq!(texts, expected);
    }

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
