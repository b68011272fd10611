/* The part of the C++ library that cuda_runtime.h includes, and functions of it that constexpr functions call and
   that nvcc lets device code name, with a warning. */
#if __has_include(<utility>)
#include <new>
#include <utility>
namespace std {
__attribute__((device, noreturn)) void __throw_logic_error(const char *);
__attribute__((device, noreturn)) void __throw_length_error(const char *);
__attribute__((device, noreturn)) void __throw_out_of_range(const char *);
template <class... T> __attribute__((device, noreturn)) void __throw_out_of_range_fmt(const char *, T...);
__attribute__((device, noreturn)) void __throw_bad_optional_access();
__attribute__((device, noreturn)) void __throw_bad_variant_access(bool);
__attribute__((device, noreturn)) void __throw_bad_variant_access(const char *);
}
#endif
