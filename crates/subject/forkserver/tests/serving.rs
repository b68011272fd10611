//! Programs of every system, served.

use std::fs::{self, File};
use std::os::fd::AsFd;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use ptxsmith_forkserver::{ForkLimits, NoServer, Server};

const FREE: ForkLimits = ForkLimits { memory: u64::MAX, file: u64::MAX, cpu: u64::MAX };

fn fork(server: &mut Server, directory: &Path, limits: &ForkLimits) -> i32 {
    let [stdout, stderr] = ["out", "err"].map(|name| File::create(directory.join(name)).unwrap());
    let at = File::open(directory).unwrap();
    let pid = server.fork(at.as_fd(), [stdout.as_fd(), stderr.as_fd()], directory, limits).unwrap();
    pid.as_raw_nonzero().get()
}

fn run(server: &mut Server, directory: &Path, limits: &ForkLimits) -> ExitStatus {
    fork(server, directory, limits);
    wait(server);
    server.end().unwrap()
}

/// Waits as a caller does: until the descriptor of the end is readable.
fn wait(server: &Server) {
    let since = Instant::now();
    let end = server.ended();
    let mut fds = [rustix::event::PollFd::new(&end, rustix::event::PollFlags::IN)];
    let timeout = rustix::event::Timespec { tv_sec: 20, tv_nsec: 0 };
    assert_eq!(rustix::event::poll(&mut fds, Some(&timeout)), Ok(1), "no end after {:?}", since.elapsed());
}

/// A shell that runs a script: it opens `in` as its program text. What it knew before is the server's: its
/// number `$$`, and its variables.
fn shell(place: &Path) -> Command {
    let mut command = Command::new("/bin/sh");
    command.arg("in").current_dir(place);
    fs::write(place.join("in"), "").unwrap();
    command
}

fn with(script: &str) -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("in"), script).unwrap();
    directory
}

fn text(directory: &tempfile::TempDir, name: &str) -> String {
    fs::read_to_string(directory.path().join(name)).unwrap()
}

#[test]
fn each_fork_reads_the_input_of_its_own_directory() {
    let home = tempfile::tempdir().unwrap();
    let mut server = Server::start(&mut shell(home.path()), "in").unwrap();
    for number in 0..20 {
        let directory = with(&format!("echo {number}; echo error >&2; exit {number}\n"));
        assert_eq!(run(&mut server, directory.path(), &FREE).code(), Some(number));
        assert_eq!(text(&directory, "out"), format!("{number}\n"));
        assert_eq!(text(&directory, "err"), "error\n");
    }
}

/// What a fork prints of a script, and what a shell prints that was started for it in the same place.
fn both(server: &mut Server, script: &str) -> (String, String) {
    let directory = with(script);
    let place = directory.path().canonicalize().unwrap();
    let started =
        Command::new("/bin/sh").arg("in").current_dir(&place).stdin(Stdio::null()).output().unwrap();
    assert_eq!(run(server, &place, &FREE).code(), started.status.code());
    (text(&directory, "out"), String::from_utf8(started.stdout).unwrap())
}

#[test]
fn a_fork_is_as_if_it_had_been_started() {
    let home = tempfile::tempdir().unwrap();
    let mut server = Server::start(&mut shell(home.path()), "in").unwrap();
    let script = "/bin/pwd; printenv LD_PRELOAD PTXSMITH_FORK_INPUT; ls /proc/self/fd; ulimit -a; read line || echo empty\n";
    let (forked, started) = both(&mut server, script);
    assert!(forked.ends_with("empty\n"), "{forked}");
    let same = |text: &str| {
        text.lines().filter(|line| !line.starts_with("coredump")).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(same(&forked), same(&started));
}

#[test]
fn a_program_into_which_the_user_preloads_a_library_is_not_served() {
    let home = tempfile::tempdir().unwrap();
    let mut command = shell(home.path());
    command.env("LD_PRELOAD", "/usr/lib/mine.so");
    let reason = Server::start(&mut command, "in").unwrap_err().to_string();
    assert!(reason.contains("LD_PRELOAD"), "{reason}");
}

#[test]
fn one_fork_leaves_nothing_to_the_next() {
    let home = tempfile::tempdir().unwrap();
    let mut server = Server::start(&mut shell(home.path()), "in").unwrap();
    let first =
        with("left=behind; export left; cd /; umask 0; ulimit -n 7; trap '' TERM; exec 5< /dev/null\n");
    assert_eq!(run(&mut server, first.path(), &FREE).code(), Some(0));
    let (forked, started) = both(&mut server, "echo \"$left.\"; umask; ulimit -n; trap; ls /proc/self/fd\n");
    assert!(forked.starts_with(".\n"), "{forked}");
    assert_eq!(forked, started);
}

#[test]
fn the_signal_that_kills_a_fork_is_its_end_and_not_the_servers() {
    let home = tempfile::tempdir().unwrap();
    let mut server = Server::start(&mut shell(home.path()), "in").unwrap();
    for signal in [6, 8, 9, 11] {
        let directory = with(&format!("sh -c 'kill -{signal} $PPID'\n"));
        assert_eq!(run(&mut server, directory.path(), &FREE).signal(), Some(signal));
    }
    assert_eq!(run(&mut server, with("exit 3\n").path(), &FREE).code(), Some(3));
}

#[test]
fn a_fork_that_hangs_is_killed_with_its_group() {
    let home = tempfile::tempdir().unwrap();
    let mut server = Server::start(&mut shell(home.path()), "in").unwrap();
    let directory = with("sleep 1000 & echo $!; sleep 1000\n");
    fork(&mut server, directory.path(), &FREE);
    let since = Instant::now();
    while text(&directory, "out").is_empty() {
        assert!(since.elapsed() < Duration::from_secs(20), "it does not run");
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(server.end().unwrap().signal(), Some(9));
    assert_is_gone(text(&directory, "out").trim());
    assert_eq!(run(&mut server, with("exit 5\n").path(), &FREE).code(), Some(5));
}

#[test]
fn what_a_fork_leaves_running_is_killed() {
    let home = tempfile::tempdir().unwrap();
    let mut server = Server::start(&mut shell(home.path()), "in").unwrap();
    let directory = with("sleep 1000 & echo $!\n");
    assert_eq!(run(&mut server, directory.path(), &FREE).code(), Some(0));
    assert_is_gone(text(&directory, "out").trim());
}

#[test]
fn a_fork_that_cannot_enter_its_directory_is_no_answer_of_the_program() {
    let home = tempfile::tempdir().unwrap();
    let mut server = Server::start(&mut shell(home.path()), "in").unwrap();
    let file = File::open(home.path().join("in")).unwrap();
    // Where the fork fails at once, that it was made may not have been told.
    let forked = server.fork(file.as_fd(), [file.as_fd(), file.as_fd()], home.path(), &FREE);
    // It ends by itself: one that is ended before it comes to that is killed.
    let ended = forked.and_then(|_| {
        wait(&server);
        server.end()
    });
    assert!(ended.is_err(), "{ended:?}");
}

#[test]
fn a_fork_dies_with_its_server() {
    let home = tempfile::tempdir().unwrap();
    let mut server = Server::start(&mut shell(home.path()), "in").unwrap();
    let directory = with("sleep 1000\n");
    let pid = fork(&mut server, directory.path(), &FREE);
    drop(server);
    assert_is_gone(&pid.to_string());
}

/// Waits until a process is gone, or is a zombie that its new parent has not reaped yet.
fn assert_is_gone(pid: &str) {
    assert!(pid.parse::<u32>().is_ok(), "{pid:?} is no process");
    let since = Instant::now();
    loop {
        let Ok(stat) = fs::read_to_string(format!("/proc/{pid}/stat")) else { return };
        if stat.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with(['Z', 'X'])) {
            return;
        }
        assert!(since.elapsed() < Duration::from_secs(20), "{pid} lives: {stat}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn the_limits_are_those_of_the_fork() {
    let home = tempfile::tempdir().unwrap();
    let mut server = Server::start(&mut shell(home.path()), "in").unwrap();
    let limits = ForkLimits { memory: 1 << 30, file: 1 << 20, cpu: 77 };
    let directory = with("ulimit -v; ulimit -f; ulimit -t; ulimit -c\n");
    assert_eq!(run(&mut server, directory.path(), &limits).code(), Some(0));
    // In units of 1,024 bytes, 512 bytes and a second.
    assert_eq!(text(&directory, "out"), "1048576\n2048\n77\n0\n");
    let directory = with("ulimit -v; ulimit -t\n");
    assert_eq!(run(&mut server, directory.path(), &FREE).code(), Some(0));
    assert_eq!(text(&directory, "out"), "unlimited\nunlimited\n");
}

#[test]
fn a_program_that_opens_no_input_is_no_server() {
    let home = tempfile::tempdir().unwrap();
    let started = Server::start(Command::new("/bin/true").current_dir(home.path()), "in");
    assert!(matches!(started, Err(NoServer::Unfit("ended, or cannot be preloaded"))), "{started:?}");
}

#[test]
fn a_program_that_is_not_there_is_told() {
    let started = Server::start(&mut Command::new("/nonexistent/program"), "in");
    assert!(matches!(started, Err(NoServer::Machine("start it", _))), "{started:?}");
}
