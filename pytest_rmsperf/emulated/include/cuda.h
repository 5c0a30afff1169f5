// What this header declares for kernels is always there; what it declares for hosts never is.
#pragma once

#include "rmsperf/prelude.h"
