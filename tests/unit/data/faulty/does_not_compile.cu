// Names a variable that nobody declared.
extern "C" __global__ void twice(const float* x, float* y) { y[0] = no_such_name; }
