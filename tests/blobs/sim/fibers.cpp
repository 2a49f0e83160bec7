#include "blobs/sim/fibers.hpp"

#include <cxxabi.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <utility>

#ifdef __has_feature
#if __has_feature(address_sanitizer)
#include <sanitizer/common_interface_defs.h>
#define WELKIN_SIM_ASAN 1
#endif
#endif

namespace welkin::blobs::sim {
namespace {

constexpr std::size_t kStackBytes = 512 << 10, kGuardBytes = 4096;

/// Stacks are kept between runs: a run takes about 100 microseconds, mapping a stack a good part of that.
class Stacks {
 public:
  void* take() {
    if (!free_.empty()) {
      void* stack = free_.back();
      free_.pop_back();
      return stack;
    }
    void* stack = ::mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (stack == MAP_FAILED || ::mprotect(stack, kGuardBytes, PROT_NONE) != 0) std::abort();
    return stack;
  }
  void give(void* stack) { free_.push_back(stack); }

 private:
  std::vector<void*> free_;
};

Stacks& stacks() {
  static Stacks all;
  return all;
}

/// The runtime keeps the exceptions in flight per thread; here each fiber has its own.
struct ExceptionState {
  void* caught = nullptr;
  unsigned uncaught = 0;
};

ExceptionState swap_exceptions(const ExceptionState& in) {
  auto* globals = reinterpret_cast<ExceptionState*>(__cxxabiv1::__cxa_get_globals());
  const ExceptionState out = *globals;
  *globals = in;
  return out;
}

}  // namespace

struct Fibers::Fiber {
  std::string name;
  std::function<void()> body;
  std::function<bool()> ready;  // empty: can go on
  std::uint64_t priority = 0;
  bool started = false, ended = false, deadlocked = false;
  void* stack = nullptr;
  ucontext_t context{};
  ExceptionState exceptions;
  // What the address sanitizer wants to know.
  const void* stack_bottom = nullptr;
  std::size_t stack_bytes = 0;
  void* fake_stack = nullptr;
};

namespace {
#ifdef WELKIN_SIM_ASAN
void before_switch(void** fake_stack, const void* bottom, std::size_t bytes) {
  __sanitizer_start_switch_fiber(fake_stack, bottom, bytes);
}
void after_switch(void* fake_stack, const void** bottom, std::size_t* bytes) {
  __sanitizer_finish_switch_fiber(fake_stack, bottom, bytes);
}
#else
void before_switch(void**, const void*, std::size_t) {}
void after_switch(void*, const void**, std::size_t*) {}
#endif
}  // namespace

Fibers::Fibers(std::uint64_t seed) : random_(seed), main_(std::make_unique<Fiber>()), current_(main_.get()) {
  by_priority_ = random_.one_in(2);
  stay_ = 1 + random_.below(4);
  if (by_priority_)
    for (auto i = random_.below(4); i > 0; --i) changes_.push_back(1 + random_.below(160));
}

Fibers::~Fibers() = default;

bool Fibers::running() const { return current_ != main_.get(); }

void Fibers::spawn(std::string name, std::function<void()> body) {
  auto fiber = std::make_unique<Fiber>();
  fiber->name = std::move(name);
  fiber->body = std::move(body);
  fiber->priority = (1ull << 32) + random_.below(1ull << 32);
  fibers_.push_back(std::move(fiber));
}

void Fibers::enter(unsigned high, unsigned low) {
  auto* self = reinterpret_cast<Fibers*>(static_cast<std::uintptr_t>(high) << 32 | low);
  const void* from = nullptr;
  std::size_t from_bytes = 0;
  after_switch(nullptr, &from, &from_bytes);
  if (!self->main_->stack_bottom) {  // the first switch of all comes from there
    self->main_->stack_bottom = from;
    self->main_->stack_bytes = from_bytes;
  }
  Fiber& fiber = *self->current_;
  try {
    fiber.body();
  } catch (const PowerCut&) {
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s ended with: %s\n", fiber.name.c_str(), e.what());
    std::abort();
  }
  fiber.ended = true;
  Fiber* next = self->choose();
  self->switch_to(next ? *next : *self->main_);
}

void Fibers::start(Fiber& fiber) {
  fiber.started = true;
  fiber.stack = stacks().take();
  fiber.stack_bottom = static_cast<char*>(fiber.stack) + kGuardBytes;
  fiber.stack_bytes = kStackBytes - kGuardBytes;
  ::getcontext(&fiber.context);
  fiber.context.uc_stack.ss_sp = static_cast<char*>(fiber.stack) + kGuardBytes;
  fiber.context.uc_stack.ss_size = fiber.stack_bytes;
  fiber.context.uc_link = nullptr;
  const auto self = reinterpret_cast<std::uintptr_t>(this);
  ::makecontext(&fiber.context, reinterpret_cast<void (*)()>(&Fibers::enter), 2,
                static_cast<unsigned>(self >> 32), static_cast<unsigned>(self));
}

void Fibers::switch_to(Fiber& to) {
  Fiber& from = *current_;
  if (&to == &from) return;
  if (!to.started && &to != main_.get()) start(to);
  current_ = &to;
  from.exceptions = swap_exceptions(to.exceptions);
  before_switch(from.ended ? nullptr : &from.fake_stack, to.stack_bottom, to.stack_bytes);
  ::swapcontext(&from.context, &to.context);
  after_switch(from.fake_stack, nullptr, nullptr);
}

bool Fibers::can_go_on(const Fiber& fiber) const {
  if (fiber.ended) return false;
  return stopped_ ? fiber.started : !fiber.ready || fiber.ready();
}

/// nullptr: all have ended (those that never started need not, once the machine has stopped).
Fibers::Fiber* Fibers::choose() {
  const bool stay = running() && !by_priority_ && !stopped_ && !random_.one_in(stay_);
  if (stay && can_go_on(*current_)) return current_;
  Fiber* best = nullptr;
  std::uint64_t candidates = 0;
  for (auto& fiber : fibers_) {
    if (!can_go_on(*fiber)) continue;
    ++candidates;
    if (!best || (by_priority_ ? fiber->priority > best->priority : random_.one_in(candidates)))
      best = fiber.get();
  }
  if (best || stopped_) return best;
  std::vector<Fiber*> waiting;
  for (auto& fiber : fibers_)
    if (!fiber->ended) waiting.push_back(fiber.get());
  if (waiting.empty()) return nullptr;
  Fiber* victim = waiting[random_.below(waiting.size())];
  victim->deadlocked = true;
  return victim;
}

bool Fibers::run(std::uint64_t stop_before) {
  stop_before_ = stop_before == 0 ? 0 : calls_ + stop_before;
  stopped_ = false;
  while (Fiber* fiber = choose()) switch_to(*fiber);
  for (auto& fiber : fibers_)
    if (fiber->stack) stacks().give(fiber->stack);
  fibers_.clear();
  return stopped_;
}

bool Fibers::stop_now(const char* call) {
  if (stopped_) return true;
  ++calls_;
  if (tracing_) trace_.push_back(std::to_string(calls_) + " " + current_->name + " " + call);
  if (calls_ == stop_before_) {
    if (tracing_) trace_.push_back("-- the machine stops before this call");
    stopped_ = true;
    return true;
  }
  if (by_priority_ && std::find(changes_.begin(), changes_.end(), calls_) != changes_.end())
    current_->priority = (1ull << 31) - calls_;  // below all that were never lowered
  yield();
  return stopped_;
}

void Fibers::yield() {
  Fiber* next = choose();
  switch_to(next ? *next : *main_);
}

void Fibers::step(const char* call) {
  if (running() && stop_now(call)) throw PowerCut();
}

bool Fibers::step_quietly(const char* call) { return !running() || !stop_now(call); }

void Fibers::wait(const char* call, std::function<bool()> ready) {
  while (!ready()) {
    if (!running()) std::abort();  // nobody else could ever make it ready
    if (stopped_) throw PowerCut();
    if (tracing_) trace_.push_back("  " + current_->name + " waits: " + call);
    Fiber& fiber = *current_;
    fiber.ready = ready;
    yield();
    fiber.ready = nullptr;
    if (stopped_) throw PowerCut();
    if (std::exchange(fiber.deadlocked, false)) throw Deadlock();
  }
}

}  // namespace welkin::blobs::sim
