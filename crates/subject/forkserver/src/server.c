/* The preloaded half of the fork server: see crates/subject/forkserver/src/lib.rs for what it is for and for the protocol.
 *
 * Loaded into a program by LD_PRELOAD. The program starts as ever, makes its tables, and opens its input. There it stays: each
 * request on the control socket gets a fork of it, which goes on in that request's directory. The program itself never reads
 * an input. Only the C library's public functions are interposed. */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define INPUT "PTXSMITH_FORK_INPUT"

/* A request. With one to run come three descriptors: directory, standard output and standard error. */
struct request {
  uint64_t kind;              /* 1: run a child; 0: kill the one that runs */
  uint64_t memory, file, cpu; /* limits as of setrlimit; UINT64_MAX for none */
  char temporary[4096];       /* TMPDIR */
};

/* An answer: 1 ready, 2 started (value is the process), 3 ended (value is the status as of waitpid), 4 failed (errno). */
struct answer {
  uint32_t kind;
  int32_t value;
};

static int control = -1;
static char *input;

__attribute__((constructor)) static void start(void) {
  const char *path = getenv(INPUT);
  if (path) {
    /* The socket is the standard input, which is empty for the program. It goes where no program looks for a number. */
    int empty = open("/dev/null", O_RDONLY | O_CLOEXEC);
    input = strdup(path);
    control = fcntl(0, F_DUPFD_CLOEXEC, 200);
    dup2(empty, 0);
    close(empty);
  }
  /* What the program itself starts, and what it asks of its environment, is as without us. */
  unsetenv(INPUT);
  unsetenv("LD_PRELOAD");
}

static void tell(uint32_t kind, int32_t value) {
  struct answer answer = {kind, value};
  ssize_t sent;
  do sent = send(control, &answer, sizeof answer, MSG_NOSIGNAL);
  while (sent < 0 && errno == EINTR);
  if (sent != sizeof answer) _exit(0); /* the client is gone */
}

static int threads(void) {
  DIR *tasks = opendir("/proc/self/task");
  int count = 0;
  if (!tasks) return -1;
  for (struct dirent *entry; (entry = readdir(tasks));) count += entry->d_name[0] != '.';
  closedir(tasks);
  return count;
}

static void limit(int resource, uint64_t value, int raisable) {
  struct rlimit now;
  if (value == UINT64_MAX || getrlimit(resource, &now)) return;
  if (now.rlim_max != RLIM_INFINITY && now.rlim_max < value) value = now.rlim_max;
  struct rlimit new = {value, raisable ? now.rlim_max : value};
  setrlimit(resource, &new);
}

/* Receives a request. Returns 0 when the client is gone. */
static int receive(struct request *request, int fds[3]) {
  union { char buffer[CMSG_SPACE(3 * sizeof(int))]; struct cmsghdr align; } ancillary;
  struct iovec part = {request, sizeof *request};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = ancillary.buffer, .msg_controllen = sizeof ancillary.buffer};
  ssize_t got;
  do got = recvmsg(control, &message, MSG_CMSG_CLOEXEC);
  while (got < 0 && errno == EINTR);
  if (got <= 0) return 0;
  fds[0] = fds[1] = fds[2] = -1;
  struct cmsghdr *header = CMSG_FIRSTHDR(&message);
  if (header && header->cmsg_type == SCM_RIGHTS && header->cmsg_len == CMSG_LEN(3 * sizeof(int)))
    memcpy(fds, CMSG_DATA(header), 3 * sizeof(int));
  return 1;
}

/* In the child: it cannot be what was asked for. That is no answer of the program: the server goes, which the client sees. */
static void fail(pid_t parent) {
  kill(parent, SIGKILL);
  _exit(127);
}

/* In the child: everything of its own that a process that was started would have. */
static void become(const struct request *request, const int fds[3], pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(127);
  setpgid(0, 0);
  if (fchdir(fds[0]) || dup2(fds[1], 1) < 0 || dup2(fds[2], 2) < 0) fail(parent);
  for (int at = 0; at < 3; at++) close(fds[at]);
  close(control);
  setenv("TMPDIR", request->temporary, 1);
  limit(RLIMIT_CORE, 0, 0);
  limit(RLIMIT_AS, request->memory, 0);
  limit(RLIMIT_FSIZE, request->file, 0);
  limit(RLIMIT_CPU, request->cpu, 1);
}

/* Waits for the end of a child, or kills it when the client says so or is gone. Its group dies before it is reaped. */
static void attend(pid_t child, int watch) {
  int gone = 0, status = 0;
  struct pollfd both[2] = {{.fd = watch, .events = POLLIN}, {.fd = control, .events = POLLIN}};
  for (;;) {
    if (poll(both, 2, -1) < 0 && errno == EINTR) continue;
    if (both[0].revents) break;
    if (both[1].revents) {
      struct request order;
      int fds[3];
      gone = !receive(&order, fds);
      break;
    }
  }
  kill(-child, SIGKILL);
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {}
  close(watch);
  if (gone) _exit(0);
  tell(3, status);
}

/* Serves requests. Returns in children only. */
static void serve(void) {
  static struct request request;
  pid_t parent = getpid();
  if (threads() != 1) {
    tell(4, EBUSY);
    _exit(0);
  }
  tell(1, 1);
  for (;;) {
    int fds[3];
    if (!receive(&request, fds)) _exit(0);
    if (request.kind != 1) continue; /* a late order to kill what has ended */
    if (fds[2] < 0) {
      tell(4, EBADF);
      continue;
    }
    pid_t child = fork();
    if (child == 0) {
      become(&request, fds, parent);
      control = -1;
      return;
    }
    int failed = errno;
    for (int at = 0; at < 3; at++) close(fds[at]);
    if (child < 0) {
      tell(4, failed);
      continue;
    }
    setpgid(child, child);
    int watch = (int)syscall(SYS_pidfd_open, child, 0);
    if (watch < 0) {
      /* What cannot be watched would look like one that hangs. */
      failed = errno;
      kill(-child, SIGKILL);
      while (waitpid(child, NULL, 0) < 0 && errno == EINTR) {}
      tell(4, failed);
      continue;
    }
    tell(2, child);
    attend(child, watch);
  }
}

static void opened(const char *path) {
  if (control >= 0 && path && !strcmp(path, input)) serve();
}

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

FILE *fopen(const char *path, const char *mode) {
  opened(path);
  return NEXT(fopen)(path, mode);
}

FILE *fopen64(const char *path, const char *mode) {
  opened(path);
  return NEXT(fopen64)(path, mode);
}

static int mode_of(int flags, va_list more) { return flags & (O_CREAT | O_TMPFILE) ? va_arg(more, int) : 0; }

int open(const char *path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  int mode = mode_of(flags, more);
  va_end(more);
  opened(path);
  return NEXT(open)(path, flags, mode);
}

int open64(const char *path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  int mode = mode_of(flags, more);
  va_end(more);
  opened(path);
  return NEXT(open64)(path, flags, mode);
}
