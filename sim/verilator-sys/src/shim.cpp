// The functions through which Rust uses a model; the text in front of this file defines PORTS, the list of ports.
#include <cstdint>
#include <exception>
#include <string>

#define SHIM_EXPORT extern "C" __attribute__((visibility("default")))

namespace {
// Thrown where Verilator's runtime would end the process; caught before control returns to Rust.
struct Stop final : std::exception {
    explicit Stop(std::string text) : message(std::move(text)) {}
    const char* what() const noexcept override { return message.c_str(); }
    std::string message;
};

[[noreturn]] void stop(const char* file, int line, const std::string& reason) {
    throw Stop(std::string(file ? file : "") + ":" + std::to_string(line) + ": " + reason);
}

// Verilator's constructors and random values ask for the context of the thread.
struct ThreadContext final {
    explicit ThreadContext(VerilatedContext* context) : previous(Verilated::threadContextp()) {
        Verilated::threadContextp(context);
    }
    ~ThreadContext() { Verilated::threadContextp(previous); }
    VerilatedContext* previous;
};

struct Instance final {
    VerilatedContext context;
    Vmodel* model = nullptr;
#if VM_TRACE
    VerilatedVcdC* trace = nullptr;
#endif
    std::string failure;
    bool failed = false;

    ~Instance() {
#if VM_TRACE
        delete trace;
#endif
        delete model;
    }

    // Runs `action`; after a failure the model is in no defined state and nothing more is run.
    template <typename Action>
    bool run(Action action) {
        if (failed) return false;
        try {
            action();
            return true;
        } catch (const std::exception& error) {
            failure = error.what();
        } catch (...) {
            failure = "unknown C++ exception";
        }
        failed = true;
        return false;
    }
};
}  // namespace

// Replacements selected by VL_USER_FINISH, VL_USER_STOP and VL_USER_FATAL.
void vl_finish(const char* file, int line, const char*) { stop(file, line, "$finish"); }
void vl_stop(const char* file, int line, const char*) { stop(file, line, "$stop, $error or $fatal"); }
void vl_fatal(const char* file, int line, const char*, const char* message) {
    stop(file, line, message ? message : "fatal error");
}

// One line for each port: direction, width in bits, name of the member.
SHIM_EXPORT const char* shim_ports() {
#define PORT(direction, width, name) #direction " " #width " " #name "\n"
    return "" PORTS;
#undef PORT
}

// A new instance, or null if it cannot be made. With `random`, registers and memories start at random values.
SHIM_EXPORT void* shim_new(int random, int seed) noexcept {
    Instance* instance = nullptr;
    try {
        instance = new Instance;
        ThreadContext scope(&instance->context);
        instance->context.randReset(random ? 2 : 0);
        if (random) instance->context.randSeed(seed);
#if VM_TRACE
        instance->context.traceEverOn(true);
#endif
        instance->model = new Vmodel(&instance->context);
        return instance;
    } catch (...) {
        delete instance;
        return nullptr;
    }
}

SHIM_EXPORT void shim_delete(void* pointer) noexcept {
    auto* instance = static_cast<Instance*>(pointer);
    {
        ThreadContext scope(&instance->context);
        instance->run([&] { instance->model->final(); });
    }
    delete instance;
}

// The object that holds all ports.
SHIM_EXPORT void* shim_root(void* pointer) noexcept { return static_cast<Instance*>(pointer)->model->rootp; }
SHIM_EXPORT uint64_t shim_root_size() noexcept { return sizeof(Vmodel___024root); }

// Writes the distance of each port from the root object.
SHIM_EXPORT void shim_offsets(void* pointer, uint64_t* offsets) noexcept {
    Vmodel* model = static_cast<Instance*>(pointer)->model;
    const auto root = reinterpret_cast<uintptr_t>(model->rootp);
    (void)model, (void)root, (void)offsets;
#define PORT(direction, width, name)                                                   \
    static_assert(sizeof(model->name) == ((width) <= 8    ? 1                          \
                                          : (width) <= 16 ? 2                          \
                                          : (width) <= 32 ? 4                          \
                                          : (width) <= 64 ? 8                          \
                                                          : ((width) + 31) / 32 * 4),  \
                  "unexpected storage of " #name);                                     \
    *offsets++ = reinterpret_cast<uintptr_t>(&model->name) - root;
    PORTS
#undef PORT
}

// 0, or 1 if the model stopped; the reason is `shim_failure`.
SHIM_EXPORT int shim_eval(void* pointer) noexcept {
    auto* instance = static_cast<Instance*>(pointer);
    return instance->run([&] { instance->model->eval_step(); }) ? 0 : 1;
}

SHIM_EXPORT const char* shim_failure(void* pointer) noexcept {
    return static_cast<Instance*>(pointer)->failure.c_str();
}

#if VM_TRACE
// 0, 1 if the model stopped, 2 if the file cannot be opened.
SHIM_EXPORT int shim_trace_open(void* pointer, const char* path) noexcept {
    auto* instance = static_cast<Instance*>(pointer);
    const bool ran = instance->run([&] {
        ThreadContext scope(&instance->context);
        delete instance->trace;
        instance->trace = nullptr;
        instance->trace = new VerilatedVcdC;
        instance->model->trace(instance->trace, 99);
        instance->trace->open(path);
    });
    return !ran ? 1 : instance->trace->isOpen() ? 0 : 2;
}

SHIM_EXPORT int shim_trace_dump(void* pointer, uint64_t time) noexcept {
    auto* instance = static_cast<Instance*>(pointer);
    return instance->run([&] {
        if (instance->trace) instance->trace->dump(time);
    }) ? 0 : 1;
}

SHIM_EXPORT int shim_trace_close(void* pointer) noexcept {
    auto* instance = static_cast<Instance*>(pointer);
    return instance->run([&] {
        if (instance->trace) instance->trace->close();
    }) ? 0 : 1;
}
#endif
