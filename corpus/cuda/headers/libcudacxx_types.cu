#include <cuda/std/chrono>
#include <cuda/std/optional>
#include <cuda/std/variant>
#include <cuda/std/expected>
#include <cuda/std/mdspan>
#include <cuda/std/bit>
#include <cuda/std/cmath>
#include <cuda/std/utility>
#include <cuda/std/type_traits>
namespace cs = cuda::std;
const int kRows = 4; constexpr int kColumns = 8; constexpr unsigned kMask = 0xf0u;
constexpr cs::chrono::seconds kTimeout{3};
struct Visitor { __device__ int operator()(int i) const { return i + kRows; } __device__ int operator()(float f) const { return (int)f; } };
__global__ void kernel(float *out, int n) {
  cs::mdspan<float, cs::extents<int, kRows, kColumns>> tile(out);
  cs::mdspan<float, cs::dextents<int, 2>> dynamic(out, n, kColumns + 0);
  cs::optional<int> maybe = n > kRows ? cs::optional<int>(+kRows) : cs::nullopt;
  cs::variant<int, float> either = 2.f;
  cs::expected<int, float> result = cs::unexpected<float>(1.f);
  auto deadline = cs::chrono::milliseconds(n) + kTimeout; // violation: address_of_host_var_in_device_code
  auto day = cs::chrono::year_month_day(cs::chrono::sys_days(cs::chrono::days(n)));
  tile(0, 1) = dynamic(1, 0) + maybe.value_or(0) + cs::visit(Visitor{}, either) + result.value_or(3);
  out[1] = cs::popcount(kMask) + cs::bit_width(kMask + 0u) + (float)deadline.count() + (int)day.year();
}
