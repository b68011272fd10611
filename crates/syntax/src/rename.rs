//! Renames declarations, so that several programs can be combined in a module.

use crate::{
    Text,
    names::{Names, declared, numbered},
    tree::Item,
    visit::{Role, VisitMut},
};

/// Replaces each name that these statements declare in any scope by the result of `new`, at declarations and uses. `None`
/// keeps a name.
///
/// For a parameterized name (5.4.6), `new` receives the common prefix; the number after the prefix stays, even if it is
/// out of range. Scopes are not distinguished: equal names become equal names. The meaning of the statements stays the
/// same if `new` returns different names for different names, and no name that is already in use. If `a1` of one scope
/// looks like a name of `a<2>` of another, `new` must also treat `a` and `a1` alike, as a new prefix does.
pub fn rename(items: &mut [Item], new: impl Fn(&str) -> Option<Text>) {
    let declared = declared(items);
    let mut renamer = Renamer { declared, new };
    items.iter_mut().for_each(|item| renamer.item(item));
}

struct Renamer<F> {
    declared: Names<Text>,
    new: F,
}

impl<F: Fn(&str) -> Option<Text>> VisitMut<'_> for Renamer<F> {
    fn name(&mut self, name: &mut Text, role: Role) {
        let written = match role {
            Role::Use => {
                let declared = self.declared.find(name, |_, digits| numbered(digits)).declared();
                let candidates = self.declared.candidates(name).map(|candidate| candidate.declared);
                match declared.into_iter().chain(candidates).next() {
                    Some(written) => written,
                    None => return,
                }
            }
            _ => name.as_str(),
        };
        if let Some(mut renamed) = (self.new)(written) {
            renamed.push_str(&name[written.len()..]);
            *name = renamed;
        }
    }
}

/// Returns the statements with `prefix` added to every name that they declare, at declarations and uses; see [`rename`].
pub fn prefixed(items: &[Item], prefix: &str) -> Vec<Item> {
    let mut items = items.to_vec();
    rename(&mut items, |name| Some(with_prefix(name, prefix)));
    items
}

/// Adds a prefix to a name; `_`, `$` and `%`, which only begin a name, stay in front.
pub fn with_prefix(name: &str, prefix: &str) -> Text {
    let (sigil, rest) = sigil(name);
    format!("{sigil}{prefix}{rest}").into()
}

/// Inverts [`with_prefix`].
pub fn without_prefix(name: &str, prefix: &str) -> Option<Text> {
    let (sigil, rest) = sigil(name);
    rest.strip_prefix(prefix).map(|rest| format!("{sigil}{rest}").into())
}

fn sigil(name: &str) -> (&str, &str) {
    name.split_at(usize::from(name.starts_with(['_', '$', '%'])))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Module, parse, print};

    #[test]
    fn prefixed_names_can_be_renamed_back() {
        for name in ["a", "_a", "$1", "%r", "a$%_"] {
            let with = with_prefix(name, "t3_");
            assert_eq!(without_prefix(&with, "t3_").as_deref(), Some(name));
            assert_eq!(with.starts_with(['_', '$', '%']), name.starts_with(['_', '$', '%']));
        }
        assert_eq!(without_prefix("t31_a", "t3_"), None);
    }

    fn renamed(text: &str) -> String {
        let printed = print(&Module { items: prefixed(&parse(text).unwrap().items, "t_") });
        printed.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_name_is_renamed_wherever_it_is_used() {
        assert_eq!(
            renamed(
                ".global .align v .attribute(.unified(v, 1)) .u64 v, w[v] = {v, 0xFF(generic(v) + w), (x)}; \
                 .func (.param .b32 r) f(.param .align v .b32 p) { .reg .pred q; @q mov.u64 w, {v, f}; l: bra l; \
                 ld.u8 v[q], w.x; call (r), f, (p); .branchtargets l; @q fma.v w, v.x; } .alias f, v;"
            ),
            ".global .align t_v .attribute(.unified(t_v, 1)) .u64 t_v, t_w[t_v] = {t_v, 0xFF(generic(t_v) + t_w), (x)}; \
             .func (.param .b32 t_r) t_f( .param .align t_v .b32 t_p ) { .reg .pred t_q; @t_q mov.u64 t_w, {t_v, t_f}; \
             t_l: bra t_l; ld.u8 t_v[t_q], t_w.x; call (t_r), t_f, (t_p); .branchtargets t_l; @t_q fma.v t_w, t_v.x; } \
             .alias t_f, t_v;"
        );
    }

    #[test]
    fn a_word_that_is_an_opcode_is_no_use_of_a_name() {
        assert_eq!(
            renamed(".func f() { .reg .b32 vote, p; @!p vote.any vote, 1; }"),
            ".func t_f() { .reg .b32 t_vote, t_p; @!t_p vote.any t_vote, 1; }"
        );
    }

    #[test]
    fn numbered_names_follow_their_prefix() {
        let text = ".global .b8 r<3>, r1<3>, a; .global .b64 b[] = {r0, r2, r12, r1, r3, r02, a1, r1x};";
        assert_eq!(
            renamed(text),
            ".global .b8 t_r<3>, t_r1<3>, t_a; .global .b64 t_b[] = {t_r0, t_r2, t_r12, t_r1, t_r3, t_r02, a1, r1x};"
        );
        let mut items = parse(text).unwrap().items;
        rename(&mut items, |name| (name == "r1").then(|| "q".into()));
        let printed = print(&Module { items });
        assert!(
            printed.contains("q<3>") && printed.contains("{r0, r2, q2, r1, r3, r02, a1, r1x}"),
            "{printed}"
        );
    }
}
