//! Tells which folders, of those that a command trusts, other users may write to.

use std::ffi::OsStr;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use clap::ArgMatches;
use ptxsmith_report::harmless::line;
use ptxsmith_subject::toolchain::Toolchains;

/// Returns a note about the cache, the directory of the campaign and the one of the `--config` file, if others
/// may write to them: they could change what is run or reported.
pub fn note(matches: &ArgMatches) -> Option<String> {
    let mut innermost = matches;
    while let Some((_, inner)) = innermost.subcommand() {
        innermost = inner;
    }
    let raw = |id: &str| innermost.try_get_raw(id).ok().flatten().and_then(|mut values| values.next());
    let cache = Toolchains::for_user().ok().map(|toolchains| toolchains.root().to_owned());
    let out = raw("out").map(PathBuf::from);
    let config = raw("config").map(OsStr::to_owned).map(PathBuf::from);
    let parent = config.as_deref().and_then(Path::parent).map(|folder| match folder.as_os_str().is_empty() {
        true => PathBuf::from("."),
        false => folder.to_owned(),
    });
    let trusted = [cache, out, config, parent].into_iter().flatten();
    let shared: Vec<String> = trusted
        .filter(|path| path.metadata().is_ok_and(|metadata| is_shared(&metadata)))
        .map(|path| line(&path.to_string_lossy()).into_owned())
        .collect();
    let named = shared.join(", ");
    (!shared.is_empty())
        .then(|| format!("other users may write to {named}, and so change what is run or said"))
}

/// Returns true if users other than the owner may write. The group that has the number of the owner is
/// taken for the private one that many systems give to each user.
fn is_shared(metadata: &Metadata) -> bool {
    let by_others = metadata.mode() & 0o002 != 0;
    by_others || metadata.mode() & 0o020 != 0 && metadata.gid() != metadata.uid()
}
