// cuda::std holds the names of std. Some exist here that the device's library has not.
#pragma once

#include <rmsperf/prelude.h>

namespace cuda {
namespace std {
using namespace ::std;
}  // namespace std
}  // namespace cuda
