//! Removes lines, tokens and characters from any text.

use std::ops::Range;

use super::Edit;
use crate::cuts::all_and_cuts;
use crate::program::Program;
use crate::tokens::pieces;

/// Removes runs of lines.
pub(super) fn lines(program: &Program) -> Vec<Edit> {
    let lines = places(program.text().split_inclusive('\n').map(str::len));
    runs_of(&lines).map(without).collect()
}

/// Removes runs of tokens, each with the gap before it.
pub(super) fn tokens(program: &Program) -> Vec<Edit> {
    let tokens = places(pieces(program.text()).iter().map(|piece| piece.gap.len() + piece.text.len()));
    runs_of(&tokens).map(without).collect()
}

/// Replaces white space and comments by nothing, one space, or one line break: all gaps at once, then each
/// alone.
pub(super) fn spaces(program: &Program) -> Vec<Edit> {
    let mut at = 0;
    let mut gaps = Vec::new();
    for piece in pieces(program.text()) {
        if !piece.gap.is_empty() {
            gaps.push(at..at + piece.gap.len());
        }
        at += piece.gap.len() + piece.text.len();
    }
    let all = [" ", "\n"].into_iter().map(|with| {
        Box::new(move |program: &Program| {
            let texts = pieces(program.text());
            let joined: Vec<&str> = texts.iter().map(|piece| piece.text).collect();
            Some(Program::from_text(joined.join(with)))
        }) as Edit
    });
    all.chain(
        gaps.into_iter().flat_map(|gap| ["", " ", "\n"].map(|with| replacing(gap.clone(), with.into()))),
    )
    .collect()
}

/// Removes runs of the characters of each token, then of the whole text if it is short.
pub(super) fn characters(program: &Program) -> Vec<Edit> {
    const SHORT: usize = 2000;
    let mut edits = Vec::new();
    let mut at = 0;
    for piece in pieces(program.text()) {
        let start = at + piece.gap.len();
        at = start + piece.text.len();
        let characters: Vec<Range<usize>> = places(piece.text.chars().map(char::len_utf8))
            .into_iter()
            .map(|place| start + place.start..start + place.end)
            .collect();
        if characters.len() > 1 {
            edits.extend(runs_of(&characters).map(without));
        }
    }
    if program.text().len() <= SHORT {
        let characters = places(program.text().chars().map(char::len_utf8));
        edits.extend(runs_of(&characters).map(without));
    }
    edits
}

/// Replaces single characters by smaller ones, and tokens by `0` and `a`.
pub(super) fn replacements(program: &Program) -> Vec<Edit> {
    let mut edits = Vec::new();
    let mut at = 0;
    for piece in pieces(program.text()) {
        let start = at + piece.gap.len();
        at = start + piece.text.len();
        for with in ["0", "a"] {
            edits.push(replacing(start..at, with.to_owned()));
        }
        for (offset, c) in piece.text.char_indices() {
            let place = start + offset..start + offset + c.len_utf8();
            for with in ['0', '1', 'a'] {
                if with != c && (c.is_alphanumeric() || !c.is_ascii()) {
                    edits.push(replacing(place.clone(), with.to_string()));
                }
            }
            if c.is_ascii_uppercase() {
                edits.push(replacing(place, c.to_ascii_lowercase().to_string()));
            }
        }
    }
    edits
}

/// Converts a sequence of lengths to ranges in the text.
fn places(lengths: impl Iterator<Item = usize>) -> Vec<Range<usize>> {
    let mut end = 0;
    lengths
        .map(|length| {
            let start = end;
            end += length;
            start..end
        })
        .collect()
}

/// Returns runs of adjacent ranges, largest first, each as one range.
fn runs_of(places: &[Range<usize>]) -> impl Iterator<Item = Range<usize>> {
    all_and_cuts(places.len()).into_iter().map(|run| places[run.start].start..places[run.end - 1].end)
}

fn without(place: Range<usize>) -> Edit {
    replacing(place, String::new())
}

fn replacing(place: Range<usize>, with: String) -> Edit {
    Box::new(move |program| {
        let text = program.text();
        let text = [text.get(..place.start)?, &with, text.get(place.end..)?].concat();
        (text != program.text()).then(|| Program::from_text(text))
    })
}
