// Every kernel text begins here, as NVRTC's own declarations come before a text's first line.
//
// The order matters: the standard headers come first, for some words below (`__noinline__`, `asm`,
// `memcpy`) would change what they say.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <initializer_list>
#include <limits>
#include <new>
#include <type_traits>
#include <utility>

// The wrappers of C++ around C's headers, for what CUDA overloads in the global namespace.
#include <math.h>
#include <stdlib.h>

// These say `asm` too, and stand behind many headers of C++.
#include <pthread.h>
#include <wchar.h>

#include "runtime.h"
#include "words.h"
// Everything that the words change stands above this line.
#include "atomics.h"
#include "barriers.h"
#include "bits.h"
#include "conversions.h"
#include "ending.h"
#include "fast_math.h"
#include "index.h"
#include "loads.h"
#include "math.h"
#include "memory.h"
#include "rounded_math.h"
#include "shuffles.h"
#include "vectors.h"
#include "votes.h"
// What only kernels may not say.
#include "refused.h"
