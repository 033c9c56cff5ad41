// SPDX-License-Identifier: BSD-3-Clause
#include "bench/lab/board.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdio>
#include <ctime>

#include "platform/descriptor.h"

namespace hocket::lab_bench {
namespace {

using platform::Descriptor;

// Between two looks at whether others have failed.
constexpr timespec kPause = {0, 10'000'000};

size_t bytes_of(const Task& task) {
  return sizeof(Board) + (uint64_t{task.ranks} + 1) * task.rounds * sizeof(uint64_t);
}

}  // namespace

void Counter::wake() const { syscall(SYS_futex, &value_, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0); }

void Counter::add(uint32_t round) {
  if ((value_.fetch_add(1) + 1) % round == 0) wake();
}

void Counter::set(uint32_t value) {
  value_.store(value);
  wake();
}

void Counter::wait_for(uint32_t wanted, const std::atomic<uint32_t>& has_failed) const {
  for (uint32_t seen = value(); static_cast<int32_t>(seen - wanted) < 0 && has_failed.load() == 0; seen = value())
    syscall(SYS_futex, &value_, FUTEX_WAIT, seen, &kPause, nullptr, 0);
}

void Board::fail(const std::string& why) {
  if (has_failed.exchange(1) == 0) std::snprintf(problem, sizeof problem, "%s", why.c_str());
}

Result<SharedBoard> SharedBoard::map(int file, size_t bytes) {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (memory == MAP_FAILED) return Status::system("no memory for the ranks' times", errno);
  return SharedBoard(static_cast<Board*>(memory), bytes);
}

Result<SharedBoard> SharedBoard::make(const Task& task) {
  const Descriptor file(memfd_create("hocket-lab-bench", MFD_CLOEXEC));
  if (ftruncate(file.get(), static_cast<off_t>(bytes_of(task))) != 0)
    return Status::system("no memory for the ranks' times", errno);
  Result<SharedBoard> board = map(file.get(), bytes_of(task));
  if (board.is_ok()) board.value()->task = task;
  return board;
}

Result<SharedBoard> SharedBoard::make(const Task& task, const std::string& path) {
  const Descriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (ftruncate(file.get(), static_cast<off_t>(bytes_of(task))) != 0)
    return Status::system("can't make " + path + " for the ranks' times", errno);
  Result<SharedBoard> board = map(file.get(), bytes_of(task));
  if (board.is_ok()) board.value()->task = task;
  return board;
}

Result<SharedBoard> SharedBoard::open(const std::string& path) {
  const Descriptor file(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  struct stat known{};
  if (fstat(file.get(), &known) != 0) return Status::system("can't open the board of a measurement, " + path, errno);
  if (static_cast<size_t>(known.st_size) < sizeof(Board))
    return Status(Code::kInvalidArgument, path + " is no board of a measurement");
  return map(file.get(), static_cast<size_t>(known.st_size));
}

SharedBoard::~SharedBoard() {
  if (board_ != nullptr) munmap(board_, bytes_);
}

}  // namespace hocket::lab_bench
