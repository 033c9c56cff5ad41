// SPDX-License-Identifier: BSD-3-Clause
#include "bench/shared_area.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

namespace hocket::bench {

bool SharedArea::map(int file, size_t bytes) {
  void* memory = mmap(nullptr, bytes + kHeadBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (memory == MAP_FAILED) return false;
  memory_ = static_cast<std::byte*>(memory);
  mapped_bytes_ = bytes + kHeadBytes;
  return true;
}

bool SharedArea::make(size_t bytes, uint64_t number) {
  file_ = memfd_create("hocket-bench", MFD_CLOEXEC);
  if (file_ < 0 || ftruncate(file_, static_cast<off_t>(bytes + kHeadBytes)) != 0 || !map(file_, bytes)) return false;
  std::memcpy(memory_, &number, sizeof number);
  return true;
}

bool SharedArea::find(int process, int descriptor, size_t bytes, uint64_t number) {
  const std::string path = "/proc/" + std::to_string(process) + "/fd/" + std::to_string(descriptor);
  const int file = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (file < 0) return false;
  const bool mapped = lseek(file, 0, SEEK_END) == static_cast<off_t>(bytes + kHeadBytes) && map(file, bytes);
  close(file);
  // In another process namespace the number may be a stranger's.
  return mapped && std::memcmp(memory_, &number, sizeof number) == 0;
}

SharedArea::~SharedArea() {
  if (memory_ != nullptr) munmap(memory_, mapped_bytes_);
  if (file_ >= 0) close(file_);
}

std::unique_ptr<SharedArea> SharedArea::open(int rank, std::span<const uint64_t> labels, size_t bytes,
                                             const Gather& gather) {
  struct Offer {
    uint64_t number = 0;
    int process = 0;
    int descriptor = -1;
  };
  std::unique_ptr<SharedArea> area(new SharedArea);
  const auto own = static_cast<size_t>(rank);
  const auto maker = static_cast<size_t>(std::find(labels.begin(), labels.end(), labels[own]) - labels.begin());
  Offer offer;
  bool good = true;
  if (maker == own) {
    good = getrandom(&offer.number, sizeof offer.number, 0) == sizeof offer.number && area->make(bytes, offer.number);
    offer.process = static_cast<int>(getpid());
    offer.descriptor = area->file_;
  }
  std::vector<Offer> offers(labels.size());
  gather(&offer, offers.data(), sizeof offer);
  if (maker != own) good = area->find(offers[maker].process, offers[maker].descriptor, bytes, offers[maker].number);
  const char answer = good ? 1 : 0;
  std::vector<char> answers(labels.size());
  gather(&answer, answers.data(), 1);
  if (std::any_of(answers.begin(), answers.end(), [](char one) { return one == 0; })) return nullptr;
  return area;
}

}  // namespace hocket::bench
