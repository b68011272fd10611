#include <cuda/std/variant>
#include <cuda/std/optional>
namespace cs = cuda::std;
const int kFirst = 4; constexpr float kSecond = 2.f;
struct Number {
  int i;
  __device__ Number(int i) : i(i) {}
  __device__ Number(const Number &o) : i(o.i) {}
  __device__ Number(Number &&o) noexcept : i(o.i) {}
  __device__ Number &operator=(const Number &o) { i = o.i; return *this; }
  __device__ Number &operator=(Number &&o) noexcept { i = o.i; return *this; }
  __device__ ~Number() {}
  __device__ bool operator==(const Number &o) const { return i == o.i; }
};
struct One { template <class T> __device__ int operator()(T) const { return kFirst; } };
struct Two { template <class T, class U> __device__ int operator()(T, U) const { return kFirst; } };
__global__ void kernel(int *out, int n) {
  cs::variant<int, float, Number> a(n), b(2.f), c{cs::in_place_type_t<Number>(), 3};
  a = kFirst; // violation: address_of_host_var_in_device_code
  b = a; a = cs::move(c); swap(a, b);
  a.emplace<1>(kSecond); // violation: address_of_host_var_in_device_code
  out[0] = cs::visit(One{}, a) + cs::visit(Two{}, a, b) + (a == b) + cs::holds_alternative<int>(a) + cs::get<0>(b) + a.index();
  cs::optional<Number> some(kFirst), none; // violation: address_of_host_var_in_device_code
  none = some; none.reset(); none.emplace(3); none.swap(some);
  none = cs::nullopt;
  out[1] = (none == some) + some->i + some.value_or(Number(n)).i;
}
