// The smaller and the greater number in the functions of PTXSMITH_SPACE.
#define PTXSMITH_MIN_MAX(result, one, other) \
  static inline PTXSMITH_SPACE result min(one a, other b) { return a < b ? a : b; } \
  static inline PTXSMITH_SPACE result max(one a, other b) { return a < b ? b : a; }
PTXSMITH_MIN_MAX(int, int, int) PTXSMITH_MIN_MAX(unsigned, unsigned, unsigned) PTXSMITH_MIN_MAX(unsigned, int, unsigned)
PTXSMITH_MIN_MAX(unsigned, unsigned, int) PTXSMITH_MIN_MAX(long, long, long)
PTXSMITH_MIN_MAX(unsigned long, unsigned long, unsigned long) PTXSMITH_MIN_MAX(unsigned long, long, unsigned long)
PTXSMITH_MIN_MAX(unsigned long, unsigned long, long) PTXSMITH_MIN_MAX(long long, long long, long long)
PTXSMITH_MIN_MAX(unsigned long long, unsigned long long, unsigned long long)
PTXSMITH_MIN_MAX(unsigned long long, long long, unsigned long long)
PTXSMITH_MIN_MAX(unsigned long long, unsigned long long, long long) PTXSMITH_MIN_MAX(float, float, float)
PTXSMITH_MIN_MAX(double, double, double) PTXSMITH_MIN_MAX(double, float, double) PTXSMITH_MIN_MAX(double, double, float)
