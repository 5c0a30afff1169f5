// See there.
#include "rmsperf/assertion.h"
