/* A program that says that it is ptxas, and opens its input, so that it can be forked there. HOSTILE says how it misbehaves. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
int main(int count, char **args) {
  for (int i = 1; i < count; i++)
    if (!strcmp(args[i], "--version") || !strcmp(args[i], "-V")) {
      puts("ptxas: NVIDIA (R) Ptx optimizing assembler\nCuda compilation tools, release 13.5, V13.5.37");
      return 0;
    } else if (!strcmp(args[i], "--help")) {
      puts("--gpu-name <name>\n  Allowed values:  'sm_75', 'sm_80', 'sm_90'.");
      return 0;
    }
  char text[4096] = "";
  const char *out = 0;
  for (int i = 1; i < count; i++) {
    if (!strcmp(args[i], "-o") && i + 1 < count) { out = args[++i]; continue; }
    FILE *in = args[i][0] == '-' ? 0 : fopen(args[i], "r");
    if (in) { fread(text, 1, sizeof text - 1, in); fclose(in); }
  }
  const char *which = getenv("HOSTILE");
  FILE *made = out ? fopen(out, "w") : 0;
  switch (which ? atoi(which) : 0) {
  case 0: raise(SIGSEGV); break;
  case 1: for (;;) pause();
  case 2: for (;;) { char *p = malloc(1 << 20); if (!p) abort(); memset(p, 1, 1 << 20); }
  case 3: if (made) fputs("no cubin", made); break;
  case 4: if (made) for (long i = 0; i < 1L << 22; i++) fputs("\177ELF0123456789abcdef", made); break;
  case 5: for (;;) puts("error : \033[2J \342\200\256");
  case 6: if (!fork()) for (;;) pause(); break;
  case 7: kill(0, SIGKILL); break;
  case 8: fprintf(stderr, "ptxas fatal : %s\n", text); return 255;
  case 9: for (;;) ;
  case 10: if (out) unlink(out), mkfifo(out, 0600); break;
  case 11: if (out) unlink(out), symlink("/dev/zero", out); break;
  case 12: if (out) unlink(out), mkdir(out, 0700); break;
  }
  return 0;
}
