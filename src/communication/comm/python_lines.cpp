#include "communication/comm/call_site.hpp"

#include <dlfcn.h>

#include <map>
#include <mutex>
#include <new>
#include <tuple>
#include <unordered_set>

namespace taut {
namespace {

constexpr std::size_t most_lines = 4096;

struct Object;  // PyObject

// Functions of CPython's C interface, 3.9 and later.
struct Interpreter {
  int (*is_initialized)();
  void* (*this_thread)();
  int (*take_lock)();
  void (*give_lock)(int);
  Object* (*frame)();  // borrowed
  Object* (*back)(Object*);
  Object* (*code)(Object*);
  int (*line)(Object*);
  Object* (*member)(Object*, const char*);
  const char* (*text)(Object*, std::ptrdiff_t*);
  void (*release)(Object*);
  void (*clear_error)();
  bool complete = true;
};

template <class Function>
void find(Interpreter& all, const char* name, Function& function) noexcept {
  function = reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
  all.complete &= function != nullptr;
}

Interpreter look_for_interpreter() noexcept {
  Interpreter all{};
  find(all, "Py_IsInitialized", all.is_initialized);
  find(all, "PyGILState_GetThisThreadState", all.this_thread);
  find(all, "PyGILState_Ensure", all.take_lock);
  find(all, "PyGILState_Release", all.give_lock);
  find(all, "PyEval_GetFrame", all.frame);
  find(all, "PyFrame_GetBack", all.back);
  find(all, "PyFrame_GetCode", all.code);
  find(all, "PyFrame_GetLineNumber", all.line);
  find(all, "PyObject_GetAttrString", all.member);
  find(all, "PyUnicode_AsUTF8AndSize", all.text);
  find(all, "Py_DecRef", all.release);
  find(all, "PyErr_Clear", all.clear_error);
  return all;
}

const Interpreter& interpreter() noexcept {
  static const Interpreter found = look_for_interpreter();
  return found;
}

// Owned reference to an object of Python.
class Reference {
 public:
  explicit Reference(Object* object) noexcept : object_(object) {}
  Reference(const Reference&) = delete;
  ~Reference() {
    if (object_ != nullptr) interpreter().release(object_);
  }
  Object* get() const noexcept { return object_; }

 private:
  Object* object_;
};

// Lock of the interpreter. mpi4py gives it up around calls of MPI.
class InterpreterLock {
 public:
  InterpreterLock() noexcept : state_(interpreter().take_lock()) {}
  InterpreterLock(const InterpreterLock&) = delete;
  ~InterpreterLock() { interpreter().give_lock(state_); }

 private:
  int state_;
};

std::string text_member(Object* object, const char* name) {
  const Interpreter& python = interpreter();
  const Reference member(object != nullptr ? python.member(object, name) : nullptr);
  std::ptrdiff_t size = 0;
  const char* const text = member.get() != nullptr ? python.text(member.get(), &size) : nullptr;
  if (text != nullptr) return {text, static_cast<std::size_t>(size)};
  python.clear_error();
  return {};
}

PythonLine line_of(Object* frame) {
  const Reference code(interpreter().code(frame));
  return {text_member(code.get(), "co_filename"), text_member(code.get(), "co_name"),
          interpreter().line(frame)};
}

// Returns the line of the innermost frame outside of the package; that of the innermost frame if there is
// none.
PythonLine line_outside(Object* innermost, std::string_view package) {
  const PythonLine first = line_of(innermost);
  PythonLine line = first;
  for (Object* frame = innermost; line.file.starts_with(package);) {
    Object* const caller = interpreter().back(frame);
    if (frame != innermost) interpreter().release(frame);
    frame = caller;
    if (frame == nullptr) return first;
    line = line_of(frame);
    if (!line.file.starts_with(package)) interpreter().release(frame);
  }
  return line;
}

// Lines that calls came from. Never destroyed: reports are written late.
struct KnownLines {
  std::mutex mutex;
  std::map<std::tuple<std::string, int, std::string>, PythonLine> lines;
  std::unordered_set<const void*> addresses;
};

KnownLines& known_lines() {
  static auto* const all = new KnownLines;
  return *all;
}

const PythonLine* known(PythonLine line) {
  KnownLines& all = known_lines();
  const std::lock_guard lock(all.mutex);
  const auto key = std::tuple(line.file, line.line, line.function);
  if (const auto found = all.lines.find(key); found != all.lines.end()) return &found->second;
  if (all.lines.size() == most_lines) return nullptr;
  const PythonLine& added = all.lines.emplace(key, std::move(line)).first->second;
  all.addresses.insert(&added);
  return &added;
}

}  // namespace

bool python_runs() noexcept {
  const Interpreter& python = interpreter();
  return python.complete && python.is_initialized() != 0;
}

const PythonLine* current_python_line(std::string_view package) noexcept {
  const Interpreter& python = interpreter();
  if (!python_runs() || python.this_thread() == nullptr) return nullptr;
  try {
    const InterpreterLock lock;
    Object* const frame = python.frame();
    return frame != nullptr ? known(line_outside(frame, package)) : nullptr;
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

const PythonLine* python_line_at(const void* site) noexcept {
  KnownLines& all = known_lines();
  const std::lock_guard lock(all.mutex);
  return all.addresses.contains(site) ? static_cast<const PythonLine*>(site) : nullptr;
}

}  // namespace taut
