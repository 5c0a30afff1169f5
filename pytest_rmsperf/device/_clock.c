/* The host clock: submits prepared launches or an instantiated graph and returns completion times.
 *
 * Native, because an interpreter between the submission calls would be what gets measured. The
 * driver is opened at run time, so this builds and imports on a machine without CUDA. Only the
 * limited C API of Python 3.10 is used: one binary serves every later version.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <dlfcn.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

/* The driver's types, as in cuda.h: handles are pointers, results are ints. */
typedef int Result;
typedef void* Function;
typedef void* Stream;
typedef void* GraphExec;

typedef struct {
    enum { COOPERATIVE = 2, CLUSTER_DIMENSION = 4 } id; /* CUlaunchAttributeID */
    char padding[4];
    union {
        char bytes[64];
        unsigned cluster_blocks[3];
        int cooperative;
    } value;
} Attribute;

typedef struct {
    unsigned blocks[3], threads[3], dynamic_smem_bytes;
    Stream stream;
    Attribute* attributes;
    unsigned attribute_count;
} Config;

static struct {
    Result (*launch)(Function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                     Stream, void**, void**);
    Result (*launch_cooperative)(Function, unsigned, unsigned, unsigned, unsigned, unsigned,
                                 unsigned, unsigned, Stream, void**);
    Result (*launch_config)(const Config*, Function, void**, void**);
    Result (*launch_graph)(GraphExec, Stream);
    Result (*synchronize)(Stream);
    Result (*error_name)(Result, const char**);
} driver;

typedef struct {
    Function function;
    unsigned blocks, threads_per_block, dynamic_smem_bytes, blocks_per_cluster;
    int cooperative;
    void** parameters; /* one pointer per argument, into the bytes behind them */
} Launch;

typedef struct {
    Py_ssize_t count;
    Launch launches[];
} Sequence;

static const char* const SEQUENCE = "pytest_rmsperf.device._clock.sequence";

static PyObject* driver_failed(const char* call, Result result) {
    const char* name = NULL;
    if (!driver.error_name || driver.error_name(result, &name) || !name) name = "unknown error";
    return PyErr_Format(PyExc_RuntimeError, "%s: %s (%d)", call, name, result);
}

static int driver_is_open(void) {
    if (driver.synchronize) return 1;
    PyErr_SetString(PyExc_RuntimeError, "the CUDA driver is not open: call open_driver() first");
    return 0;
}

static int64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static PyObject* open_driver(PyObject* self, PyObject* unused) {
    (void)self, (void)unused;
    void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
    if (!library) return PyErr_Format(PyExc_OSError, "%s", dlerror());
    const struct {
        const char* name;
        void** target;
    } symbols[] = {
        {"cuLaunchKernel", (void**)&driver.launch},
        {"cuLaunchCooperativeKernel", (void**)&driver.launch_cooperative},
        {"cuLaunchKernelEx", (void**)&driver.launch_config},
        {"cuGraphLaunch", (void**)&driver.launch_graph},
        {"cuGetErrorName", (void**)&driver.error_name},
        {"cuStreamSynchronize", (void**)&driver.synchronize},
    };
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; ++i) {
        *symbols[i].target = dlsym(library, symbols[i].name);
        if (!*symbols[i].target) {
            driver.synchronize = NULL;
            return PyErr_Format(PyExc_OSError, "libcuda.so.1 has no %s", symbols[i].name);
        }
    }
    Py_RETURN_NONE;
}

/* ---- prepared launches ---------------------------------------------------------------------- */

static void free_sequence(PyObject* capsule) {
    Sequence* sequence = PyCapsule_GetPointer(capsule, SEQUENCE);
    if (!sequence) return;
    for (Py_ssize_t i = 0; i < sequence->count; ++i) PyMem_Free(sequence->launches[i].parameters);
    PyMem_Free(sequence);
}

/* Copies the arguments, so that the launch does not depend on Python objects staying alive. Each
 * argument starts on 16 bytes, which is aligned enough for every parameter type. */
static int pack_parameters(PyObject* arguments, Launch* launch) {
    const Py_ssize_t count = PyTuple_Size(arguments);
    if (count < 0) return -1;
    size_t bytes = (size_t)(count + 2) * sizeof(void*);
    for (Py_ssize_t i = 0; i < count; ++i) {
        const Py_ssize_t size = PyBytes_Size(PyTuple_GetItem(arguments, i));
        if (size < 0) return -1;
        bytes += ((size_t)size + 15) / 16 * 16;
    }
    launch->parameters = PyMem_Calloc(1, bytes);
    if (!launch->parameters) return PyErr_NoMemory(), -1;
    /* PyMem gives 16-byte alignment; an even number of pointers keeps it. */
    char* place = (char*)(launch->parameters + (count + 1) / 2 * 2);
    for (Py_ssize_t i = 0; i < count; ++i) {
        char* data;
        Py_ssize_t size;
        if (PyBytes_AsStringAndSize(PyTuple_GetItem(arguments, i), &data, &size)) return -1;
        launch->parameters[i] = memcpy(place, data, (size_t)size);
        place += ((size_t)size + 15) / 16 * 16;
    }
    return 0;
}

static PyObject* prepare(PyObject* self, PyObject* launches) {
    (void)self;
    const Py_ssize_t count = PyTuple_Size(launches);
    if (count < 0) return NULL;
    Sequence* sequence = PyMem_Calloc(1, sizeof *sequence + (size_t)count * sizeof(Launch));
    if (!sequence) return PyErr_NoMemory();
    PyObject* capsule = PyCapsule_New(sequence, SEQUENCE, free_sequence);
    if (!capsule) return PyMem_Free(sequence), NULL;
    for (sequence->count = 0; sequence->count < count; ++sequence->count) {
        Launch* launch = &sequence->launches[sequence->count];
        unsigned long long function;
        PyObject* arguments;
        if (!PyArg_ParseTuple(PyTuple_GetItem(launches, sequence->count), "KIIIIpO!", &function,
                              &launch->blocks, &launch->threads_per_block,
                              &launch->dynamic_smem_bytes, &launch->blocks_per_cluster,
                              &launch->cooperative, &PyTuple_Type, &arguments) ||
            pack_parameters(arguments, launch)) {
            PyMem_Free(launch->parameters); /* not yet counted, so not freed with the rest */
            return Py_DecRef(capsule), NULL;
        }
        launch->function = (Function)(uintptr_t)function;
    }
    return capsule;
}

static Result launch_clusters(const Launch* one, Stream stream) {
    Attribute attributes[] = {
        {.id = CLUSTER_DIMENSION, .value.cluster_blocks = {one->blocks_per_cluster, 1, 1}},
        {.id = COOPERATIVE, .value.cooperative = one->cooperative},
    };
    const Config config = {{one->blocks, 1, 1},
                           {one->threads_per_block, 1, 1},
                           one->dynamic_smem_bytes,
                           stream,
                           attributes,
                           2};
    return driver.launch_config(&config, one->function, one->parameters, NULL);
}

static Result launch_one(const Launch* one, Stream stream) {
    if (one->blocks_per_cluster > 1) return launch_clusters(one, stream);
    if (one->cooperative) {
        return driver.launch_cooperative(one->function, one->blocks, 1, 1, one->threads_per_block,
                                         1, 1, one->dynamic_smem_bytes, stream, one->parameters);
    }
    return driver.launch(one->function, one->blocks, 1, 1, one->threads_per_block, 1, 1,
                         one->dynamic_smem_bytes, stream, one->parameters, NULL);
}

static Result launch_all(const Sequence* sequence, Stream stream) {
    for (Py_ssize_t i = 0; i < sequence->count; ++i) {
        const Result result = launch_one(&sequence->launches[i], stream);
        if (result) return result;
    }
    return 0;
}

static PyObject* submit(PyObject* self, PyObject* args) {
    (void)self;
    PyObject* capsule;
    unsigned long long stream;
    if (!PyArg_ParseTuple(args, "OK", &capsule, &stream) || !driver_is_open()) return NULL;
    const Sequence* sequence = PyCapsule_GetPointer(capsule, SEQUENCE);
    if (!sequence) return NULL;
    const Result result = launch_all(sequence, (Stream)(uintptr_t)stream);
    if (result) return driver_failed("launch", result);
    Py_RETURN_NONE;
}

static PyObject* synchronize(PyObject* self, PyObject* args) {
    (void)self;
    unsigned long long stream;
    if (!PyArg_ParseTuple(args, "K", &stream) || !driver_is_open()) return NULL;
    Result result;
    Py_BEGIN_ALLOW_THREADS;
    result = driver.synchronize((Stream)(uintptr_t)stream);
    Py_END_ALLOW_THREADS;
    if (result) return driver_failed("synchronize", result);
    Py_RETURN_NONE;
}

/* ---- timing --------------------------------------------------------------------------------- */

static PyObject* as_list(const int64_t* values, Py_ssize_t count) {
    PyObject* list = PyList_New(count);
    for (Py_ssize_t i = 0; list && i < count; ++i) {
        PyObject* value = PyLong_FromLongLong(values[i]);
        if (!value || PyList_SetItem(list, i, value)) return Py_DecRef(list), NULL;
    }
    return list;
}

/* Times `count` invocations: exactly one of `sequence` and `graph` is given. The clock is read
 * just before the first submission call and just after the stream synchronization returned. */
static PyObject* time_invocations(const Sequence* sequence, GraphExec graph, Stream stream,
                                  Py_ssize_t count) {
    if (count < 1) {
        return PyErr_Format(PyExc_ValueError, "count must be at least 1, got %zd", count);
    }
    if (!driver_is_open()) return NULL;
    int64_t* completion_ns = PyMem_Malloc((size_t)count * sizeof *completion_ns);
    if (!completion_ns) return PyErr_NoMemory();
    Result result = 0;
    Py_BEGIN_ALLOW_THREADS;
    for (Py_ssize_t i = 0; i < count && !result; ++i) {
        const int64_t before = now_ns();
        result = sequence ? launch_all(sequence, stream) : driver.launch_graph(graph, stream);
        if (!result) result = driver.synchronize(stream);
        completion_ns[i] = now_ns() - before;
    }
    Py_END_ALLOW_THREADS;
    PyObject* list = result ? driver_failed("timed launch", result) : as_list(completion_ns, count);
    PyMem_Free(completion_ns);
    return list;
}

static PyObject* time_launches(PyObject* self, PyObject* args) {
    (void)self;
    PyObject* capsule;
    unsigned long long stream;
    Py_ssize_t count;
    if (!PyArg_ParseTuple(args, "OKn", &capsule, &stream, &count)) return NULL;
    const Sequence* sequence = PyCapsule_GetPointer(capsule, SEQUENCE);
    if (!sequence) return NULL;
    return time_invocations(sequence, NULL, (Stream)(uintptr_t)stream, count);
}

static PyObject* time_graph(PyObject* self, PyObject* args) {
    (void)self;
    unsigned long long graph, stream;
    Py_ssize_t count;
    if (!PyArg_ParseTuple(args, "KKn", &graph, &stream, &count)) return NULL;
    return time_invocations(NULL, (GraphExec)(uintptr_t)graph, (Stream)(uintptr_t)stream, count);
}

static PyMethodDef methods[] = {
    {"open_driver", open_driver, METH_NOARGS,
     "open_driver()\n\nOpen libcuda; OSError when it is missing or too old."},
    {"prepare", prepare, METH_O,
     "prepare(launches)\n\nCopy a tuple of (function, blocks, threads_per_block,\n"
     "dynamic_smem_bytes, cooperative, arguments as a tuple of bytes) into a launch sequence."},
    {"submit", submit, METH_VARARGS,
     "submit(sequence, stream)\n\nSubmit once without waiting; RuntimeError names a refusal."},
    {"synchronize", synchronize, METH_VARARGS,
     "synchronize(stream)\n\nWait for the stream; RuntimeError names what went wrong on it."},
    {"time_launches", time_launches, METH_VARARGS,
     "time_launches(sequence, stream, count)\n\nReturn `count` host completion times in ns."},
    {"time_graph", time_graph, METH_VARARGS,
     "time_graph(graph_exec, stream, count)\n\nReturn `count` host completion times in ns."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module = {
    .m_base = PyModuleDef_HEAD_INIT,
    .m_name = "_clock",
    .m_doc = "Host completion times, taken by native code.",
    .m_methods = methods,
};

PyMODINIT_FUNC PyInit__clock(void) { return PyModule_Create(&module); }
