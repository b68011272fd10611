// Strings, arrays of pointers to them, and printf.
#include "prelude.h"
__constant__ char greeting[] = "hello, \"world\"\n\t\\ \x01\xff";
__constant__ char padded[16] = "short";
__device__ const char *const names[] = {"zero", "one", "two", "", "one"};
__device__ const char *chosen = "chosen";
__device__ char16_t sixteen[] = u"wide \u00e9";
__device__ char32_t thirty_two[] = U"wider \u20ac";
struct Named { const char *name; int value; char inlined[5]; };
__device__ Named table[] = {{"alpha", 1, "abcd"}, {"beta", -2, "x"}, {nullptr, 0, ""}};
extern "C" __global__ void choose(const char **out, int i) {
  out[0] = names[i]; out[1] = chosen; out[2] = table[i].name; out[3] = "literal"; out[4] = &padded[i];
  out[6] = (const char *)&sixteen[i]; out[7] = (const char *)&thirty_two[2];
}
extern "C" __global__ void say(int i, double x) {
  printf("plain\n");
  printf("%d %s %f %lld\n", i, names[i], x, (i64)i);
  if (i > 3) printf("more than %d: %s\n", 3, greeting);
}
__device__ int length(const char *text) { int n = 0; while (text[n]) n++; return n; }
extern "C" __global__ void lengths(int *out) { out[LANE] = length(names[LANE & 3]) + length(greeting); }
