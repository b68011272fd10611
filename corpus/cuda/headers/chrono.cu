#include <cuda/std/chrono>
using namespace cuda::std::chrono;
const int kDays = 40; constexpr months kMonths{2};
__global__ void kernel(int *out, int n) {
  year_month_day date{sys_days(days(n + kDays))}; date += years(1);
  date += kMonths; // violation: address_of_host_var_in_device_code
  year_month_day_last end(year(n), month_day_last(month(2)));
  year_month_weekday weekly{sys_days(days(n))}; year_month_weekday_last closing(year(n), month(3), weekday_last(weekday(2)));
  out[0] = date.ok() + end.ok() + weekly.ok() + closing.ok() + (unsigned)end.day() + (date == year_month_day(end)) + (date < year_month_day(end));
  out[1] = (year(n) / month(2) / last).ok();
  out[2] = January.ok();
  out[3] = (sys_days(date) - sys_days(end)).count() + month_day(month(2), day(29)).ok() + (sys_days(weekly) < sys_days(closing));
  hh_mm_ss<milliseconds> time{milliseconds(n * kDays)};
  out[4] = time.hours().count() + is_am(hours(2)) + round<seconds>(milliseconds(kDays)).count() + (seconds(n) % 7).count(); // violation: address_of_host_var_in_device_code
}
