"""Takes away one guard of docs/fuzzing.md at a time and runs the test that is there for it: it must fail.

Works on a copy of the sources, so that nothing of the checkout is touched. Status 1 if a test passes without its guard, or a
guard is not where this says it is.
"""

import argparse
import dataclasses
import functools
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
# A test that hangs without its guard notices its absence too. Those here end in less.
SECONDS = 180


@dataclasses.dataclass
class Guard:
    what: str
    file: str
    guard: str
    without: str
    package: str
    test: str
    where: str = "--lib"


PROCESS, CHILD = "subject/src/process/mod.rs", "subject/src/process/child.rs"
SERVER = "subject/forkserver/src/server.c"
SERVE, STORE = "subject/src/serve.rs", "campaign/src/store.rs"
CLI, CAMPAIGN = "ptxsmith", "ptxsmith-campaign"
ROBUST = "--test=robust"
GUARDS = [
    Guard("memory of an implementation", CHILD, "(Resource::As, limits.memory), ", "",
          "ptxsmith-subject", "memory_beyond_the_limit_is_not_given"),
    Guard("size of its files", CHILD, ", (Resource::Fsize, limits.file)]", "]",
          "ptxsmith-subject", "a_file_beyond_the_limit_is_not_written"),
    Guard("its time", PROCESS, "        if left.is_zero() {\n            break true;",
          "        if false {\n            break true;",
          "ptxsmith-subject", "a_child_that_ignores_signals_is_stopped_at_the_limit"),
    Guard("its output", CHILD, "        self.bytes.truncate(limit);\n", "", "ptxsmith-subject",
          "output_beyond_the_cap_is_read_and_counted"),
    Guard("its children", CHILD,
          "// An error means that no process is left.\n                let _ = kill_process_group(pid, Signal::KILL);",
          "let _ = (pid, child.kill());",
          "ptxsmith-subject", "a_grandchild_that_holds_the_pipe_does_not_delay_the_answer_and_dies"),
    Guard("memory of a fork", SERVER, "  limit(RLIMIT_AS, request->memory, 0);\n", "",
          "ptxsmith-subject", "memory_beyond_the_limit_is_not_given"),
    Guard("size of the files of a fork", SERVER, "  limit(RLIMIT_FSIZE, request->file, 0);\n", "",
          "ptxsmith-subject", "a_file_beyond_the_limit_is_not_written"),
    Guard("the children of a fork", SERVER, "  kill(-child, SIGKILL);\n  while (waitpid(child, &", "  kill(child, SIGKILL);\n  while (waitpid(child, &",
          "ptxsmith-subject", "a_grandchild_that_holds_the_pipe_does_not_delay_the_answer_and_dies"),
    Guard("a fork that answers otherwise", "subject/src/ptxas/mod.rs", "if settled(&forked) != settled(&started) &&",
          "if false && settled(&forked) != settled(&started) &&",
          CLI, "a_subject_that_answers_otherwise_when_it_is_forked_has_a_finding_with_both_answers", "--test=starts"),
    Guard("Ctrl-C while it runs", PROCESS, "        child.check(cancel)?;\n", "",
          "ptxsmith-subject", "the_cancel_flag_stops_a_child_at_once"),
    Guard("an answer without an end", "subject/src/process/session.rs", "if searched > self.limits.output {", "if false {",
          "ptxsmith-subject", "two_gigabytes_are_a_crash_and_are_not_kept"),
    Guard("a worker that died between two modules", SERVE, "if worker.session.is_waiting() {", "if true {",
          "ptxsmith-subject", "a_death_between_two_modules_belongs_to_neither"),
    Guard("a worker of ours that its past killed", SERVE,
          "Some(observation) if fresh || self.own.is_none() || !died(&observation) => Ok(observation),",
          "Some(observation) if fresh || !died(&observation) || true => Ok(observation),",
          "ptxsmith-subject", "a_worker_of_ours_is_asked_again_where_its_past_may_be_to_blame"),
    Guard("answers of 100,000 variables", "subject/src/exec.rs", "limits.output.max(MAX_ANSWER)", "limits.output",
          CLI, "a_module_of_a_hundred_thousand_variables_is_judged", ROBUST),
    Guard("a full disk", "campaign/src/files.rs",
          "        let file = tempfile::Builder::new().prefix(UNFINISHED).tempfile_in(directory)?;",
          "        if true {\n            return contents(&mut std::fs::File::create(path)?);\n        }\n"
          "        let file = tempfile::Builder::new().prefix(UNFINISHED).tempfile_in(directory)?;", CLI,
          "a_full_disk_is_a_failure_of_the_machine_and_leaves_no_half_of_a_file", ROBUST),
    Guard("half-written and unsaved lines", STORE, "if is_done(&line) {", "if is_done(&line) || true {",
          CAMPAIGN, "a_half_written_line_of_verdicts_is_dropped_and_so_is_what_was_not_saved"),
    Guard("a campaign killed at any moment", "campaign/src/run.rs", "let to_do = campaign.is_to_do(task);", "let to_do = true;",
          CLI, "a_campaign_killed_at_any_moment_goes_on_to_the_undisturbed_result", "--test=shards"),
    Guard("tasks that end out of order", STORE, "task < self.before || self.also.contains(&task)", "task < self.before",
          CAMPAIGN, "done_tasks_are_remembered_in_any_order_and_little_space"),
    Guard("two campaigns in one folder", STORE, "match file.try_lock() {", "match Ok::<(), TryLockError>(()) {",
          CAMPAIGN, "a_directory_has_one_campaign_at_a_time"),
    Guard("a cache that cannot be used", "subject/src/ptxas/named.rs",
          "options.cancel.clone())?;\n        let dis", "options.cancel.clone()).unwrap();\n        let dis",
          CLI, "a_cache_that_cannot_be_used_is_told_and_stops_nothing_that_does_not_need_it", ROBUST),
    Guard("a clock that jumps", PROCESS, "        let left = limits.time.saturating_sub(started.elapsed());",
          "        let wall = std::time::SystemTime::now();\n"
          "        let left = limits.time.saturating_sub(started.elapsed() + wall.elapsed().unwrap_or_default());",
          CLI, "nothing_is_decided_by_the_clock_on_the_wall", ROBUST),
    Guard("paths that are no text", "campaign/src/input.rs", "fs::metadata(path)", "fs::metadata(&*path.to_string_lossy())",
          CLI, "paths_that_are_no_text_are_paths", ROBUST),
    Guard("names of a million letters", "report/src/harmless.rs", "match text.char_indices().nth(most) {",
          "match text.char_indices().nth(usize::MAX) {", CLI, "a_name_of_a_million_letters_is_a_name", ROBUST),
    Guard("a variable of a kernel that takes all memory", "oracle/src/execution/machine/mod.rs",
          "bytes: Bytes::new(size as usize, Before::Unknown),",
          "bytes: {\n                let mut bytes = Bytes::new(size as usize, Before::Unknown);\n"
          "                bytes.write(0, vec![Byte::Unknown; size as usize]);\n                bytes\n            },",
          CLI, "a_few_letters_do_not_take_all_memory", ROBUST),
    Guard("arrays that take all memory", "oracle/src/layout.rs", "        self.left.bytes = left;\n", "",
          "ptxsmith-oracle", "the_arrays_of_a_module_are_worked_out_up_to_a_limit_for_all_of_them", "--test=limits"),
    Guard("names that take all memory", "oracle/src/layout/declarator.rs", "        self.left.names = left;\n", "",
          "ptxsmith-oracle", "so_are_parameterized_names_but_for_those_that_hold_nothing_at_module_scope", "--test=limits"),
    Guard("files above 64 MB", "campaign/src/input.rs", "MAX_BYTES: u64 = 64 << 20", "MAX_BYTES: u64 = 640 << 20",
          CLI, "a_module_of_64_megabytes_is_read_and_one_byte_more_is_not", ROBUST),
    Guard("text that nests", "syntax/src/parser/mod.rs", "if self.depth > MAX_NESTING {", "if false {",
          "ptxsmith-syntax", "what_nests_a_million_deep_is_not_understood", "--test=robustness"),
    Guard("what a terminal acts upon", "report/src/harmless.rs", "if !text.contains(acts) {", "if true || !text.contains(acts) {",
          CLI, "what_an_implementation_says_is_neither_a_path_nor_markup_nor_a_terminal_s_business", ROBUST),
    Guard("markup", "report/src/formats/html/view.rs", '#[template(path = "finding.html")]',
          '#[template(path = "finding.html", escape = "none")]',
          CLI, "what_an_implementation_says_is_neither_a_path_nor_markup_nor_a_terminal_s_business", ROBUST),
    Guard("findings named like paths", "campaign/src/ledger/state.rs", "|(id, found)| !is_plain(id) || **id != found.finding.id",
          "|(id, _)| false && !is_plain(id)",
          CLI, "a_shard_cannot_choose_where_its_findings_are_written", ROBUST),
    Guard("numbers of a shard", STORE, "if !(1..=of).contains(&number) {", "if false {",
          CLI, "what_a_shard_says_of_itself_is_checked_before_it_is_used", "--test=shards"),
    Guard("another campaign in the folder", STORE, "Earlier::Refuse if holds =>", "Earlier::Refuse if false && holds =>",
          CLI, "a_deviation_is_found_saved_and_repeated", "--test=run"),
    Guard("a signal while a pipe is read", "cli/src/interrupt.rs", "            say();\n            exit(status().into());\n", "            say();\n",
          CLI, "one_signal_ends_what_waits_for_input", "--test=run"),
    Guard("an installed program that was changed", "subject/src/toolchain/record.rs", "if !by_hash && same_stamp {", "if true || same_stamp {",
          "ptxsmith-subject", "a_file_that_was_changed_is_not_used_and_one_that_was_only_touched_is"),
    Guard("files of flags in a CUDA project", "cuda/src/check/flags.rs", "    no_response_file(&kept)?;\n", "",
          "ptxsmith-cuda", "a_file_of_flags_is_an_error_wherever_it_is_named"),
    Guard("values that name files of flags", "cuda/src/check/flags.rs", 'any(|value| value.starts_with(b"@"))', "any(|_| false)",
          CLI, "no_file_of_flags_reaches_clang_from_a_compilation_database_or_a_name", "--test=cuda"),
    Guard("files that are named like files of flags", "cuda/src/check/mod.rs", 'name.as_encoded_bytes().starts_with(b"@")', "name.is_empty()",
          CLI, "no_file_of_flags_reaches_clang_from_a_compilation_database_or_a_name", "--test=cuda"),
    Guard("syntax trees that nest", "cuda/src/check/dump.rs", "if column / 4 > DEEPEST {", "if false {",
          "ptxsmith-cuda", "what_is_nested_too_deep_is_left_out_with_its_place_and_the_rest_is_read"),
    Guard("programs that a shard names", "campaign/src/merge.rs", "(!spec.is_of_users_choosing() || allowed.contains(&spec))",
          "(true || allowed.contains(&spec))", CLI, "a_program_that_only_a_shard_names_is_not_run", ROBUST),
    Guard("cubins whose storage is a number", "subject/src/cubin/mod.rs",
          "match (addresses, data, left.checked_sub(size)) {", "match (addresses, data, Some(*left)) {",
          "ptxsmith-subject", "storage_without_bytes_is_limited"),
    Guard("cubins whose sizes wrap around", "subject/src/cubin/mod.rs", "(Some(offset), Some(end)) if end <= home.size => {",
          "(Some(offset), Some(_)) => {", "ptxsmith-subject", "what_cannot_be_is_malformed"),
]


# Kept, so that the packages of others are compiled once.
TARGET = ROOT / "target/guards"


def run(command: list[str], folder: pathlib.Path, seconds: int) -> tuple[int | None, str]:
    """Status and output; `None` for what did not end. Whatever it started ends with it."""
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                               start_new_session=True, env={**os.environ, "CARGO_TARGET_DIR": str(TARGET), "CARGO_INCREMENTAL": "0"})
    try:
        output, _ = process.communicate(timeout=seconds)
        return process.returncode, output
    except subprocess.TimeoutExpired:
        # Of its session, since a test starts groups of its own.
        subprocess.run(["pkill", "-KILL", "-s", str(process.pid)])
        process.communicate()
        return None, ""


@functools.cache
def functions() -> frozenset[str]:
    """The names of all functions of all sources."""
    tracked = subprocess.run(["git", "ls-files", "*.rs"], cwd=ROOT, capture_output=True, text=True, check=True)
    texts = ((ROOT / file).read_text() for file in tracked.stdout.splitlines())
    return frozenset(name for text in texts for name in re.findall(r"\bfn (\w+)", text))


def in_place(guard: Guard, folder: pathlib.Path) -> str:
    """The source of the guard; raises `ValueError` where it is not there once, or where there is no such test."""
    source = (folder / guard.file).read_text()
    if source.count(guard.guard) != 1:
        raise ValueError(f"{guard.file} has its guard {source.count(guard.guard)} times")
    if not any(name.startswith(guard.test.rpartition("::")[2]) for name in functions()):
        raise ValueError(f"there is no test {guard.test}")
    return source


def noticed(guard: Guard, folder: pathlib.Path) -> str:
    """How the test notices that the guard is gone; raises `ValueError` with what is wrong."""
    path = folder / guard.file
    source = in_place(guard, folder)
    test = ["cargo", "test", "--quiet", "--locked", "-p", guard.package, guard.where]
    path.write_text(source.replace(guard.guard, guard.without))
    try:
        status, output = run([*test, "--no-run"], folder, 1800)
        if status != 0:
            raise ValueError(f"without it, nothing builds:\n{output}")
        status, output = run([*test, guard.test], folder, SECONDS)
    finally:
        path.write_text(source)
    if status is None:
        return "does not end"
    # A process that died has printed no result.
    if status != 0 and (f"{guard.test} --- FAILED" in output or f"{guard.test}\n" in output or "signal:" in output):
        return "fails"
    raise ValueError(f"{guard.test} passes without it" if status == 0 else f"something else failed:\n{output}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("only", nargs="*", help="guards whose name has one of these words")
    parser.add_argument("--in-place", action="store_true", help="only report which guards or tests are not there, at once")
    arguments = parser.parse_args()
    chosen = [guard for guard in GUARDS if not arguments.only or any(word in guard.what for word in arguments.only)]
    failures = 0
    if arguments.in_place:
        for guard in chosen:
            try:
                in_place(guard, ROOT)
            except ValueError as error:
                print(f"{guard.what}: FAILURE: {error}")
                failures += 1
        print(f"{len(chosen) - failures} of {len(chosen)} guards and their tests are in place")
        return 1 if failures else 0
    with tempfile.TemporaryDirectory(prefix="ptxsmith-guards-") as temporary:
        folder = pathlib.Path(temporary) / "ptxsmith"
        shutil.copytree(ROOT, folder, symlinks=True,
                        ignore=shutil.ignore_patterns("target", ".git", "ptxsmith-out", "artifacts", "__pycache__"))
        for guard in chosen:
            started = time.monotonic()
            try:
                result = f"{guard.test} {noticed(guard, folder)}"
            except ValueError as error:
                result = f"FAILURE: {error}"
                failures += 1
            print(f"{guard.what}: {result} ({time.monotonic() - started:.0f} s)", flush=True)
    print(f"{len(chosen) - failures} of {len(chosen)} guards are missed when they are gone")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
