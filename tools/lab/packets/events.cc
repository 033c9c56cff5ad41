// SPDX-License-Identifier: BSD-3-Clause
#include "lab/packets/events.h"

#include "lab/packets/switch_programs.h"

#ifdef HOCKET_LAB_PROGRAMS
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/perf_event.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>

#include "bpf_support/words.h"
#include "lab/namespaces.h"
#include "platform/descriptor.h"
#endif

namespace hocket::lab {

#ifdef HOCKET_LAB_PROGRAMS
namespace {

using platform::Descriptor;

// Names that Debian 12's headers don't have yet.
constexpr uint32_t kTcxEgress = 47;
constexpr uint32_t kBefore = 1U << 3;
// A processor's buffer: half a second of what one can send; of all processors together no more than the latter.
constexpr size_t kBufferBytes = size_t{8} << 20;
constexpr size_t kAllBuffersBytes = size_t{512} << 20;

// Behind its header a sample has its length, and then what was told.
constexpr size_t kSampleAt = sizeof(perf_event_header) + sizeof(uint32_t);

class KernelEvents final : public Events {
 public:
  ~KernelEvents() override {
    if (recording_ != nullptr) {
      __atomic_store_n(&recording_->is_on, 0, __ATOMIC_RELAXED);
      munmap(recording_, sizeof *recording_);
    }
    perf_buffer__free(buffers_);
  }

  Status begin(const Lab& lab) {
    bpf::keep_words();
    HOCKET_TRY(map_recording(lab));
    HOCKET_TRY(make_buffers(lab));
    HOCKET_TRY(enter_nodes(lab));
    pin_ = pin_of(lab, kRecordingPin);
    recording_->missed = 0;
    // Relaxed: what programs read is no memory of this process.
    __atomic_store_n(&recording_->is_on, 1, __ATOMIC_RELAXED);
    return Status::ok();
  }

  bool has_doorbells() const override { return !links_.empty(); }
  void take(std::vector<lab_event>& events) override {
    events_ = &events;
    (void)perf_buffer__consume(buffers_);
  }
  uint64_t missed() const override { return __atomic_load_n(&recording_->missed, __ATOMIC_RELAXED); }
  bool is_whole() const override {
    return __atomic_load_n(&recording_->is_on, __ATOMIC_RELAXED) != 0 && access(pin_.c_str(), F_OK) == 0;
  }

 private:
  Status map_recording(const Lab& lab) {
    const std::string file = pin_of(lab, kRecordingPin);
    const Descriptor map(bpf_obj_get(file.c_str()));
    if (map.get() < 0 && errno == ENOENT)
      return {Code::kNotSupported,
              "the lab was made by another build of hocket, which records nothing: make it anew, by `hocket lab down` "
              "and `up`"};
    if (map.get() < 0) return Status::system("can't open " + file, errno);
    void* memory = mmap(nullptr, sizeof *recording_, PROT_READ | PROT_WRITE, MAP_SHARED, map.get(), 0);
    if (memory == MAP_FAILED) return Status::system("can't map " + file, errno);
    recording_ = static_cast<lab_recording*>(memory);
    return Status::ok();
  }

  // Whoever reads does so by the clock: events wake nobody, since that would cost senders their cores.
  Status make_buffers(const Lab& lab) {
    const std::string file = pin_of(lab, kEventsPin);
    map_ = Descriptor(bpf_obj_get(file.c_str()));
    if (map_.get() < 0) return Status::system("can't open " + file, errno);
    perf_event_attr attributes{};
    attributes.size = sizeof attributes;
    attributes.type = PERF_TYPE_SOFTWARE;
    attributes.config = PERF_COUNT_SW_BPF_OUTPUT;
    attributes.sample_type = PERF_SAMPLE_RAW;
    attributes.sample_period = 1;
    attributes.watermark = 1;
    attributes.wakeup_watermark = UINT32_MAX;
    const auto processors = static_cast<size_t>(std::max(libbpf_num_possible_cpus(), 1));
    const size_t bytes = std::bit_floor(std::min(kBufferBytes, kAllBuffersBytes / processors));
    const size_t pages = bytes / static_cast<size_t>(sysconf(_SC_PAGESIZE));
    const auto keep = [](void* self, int, perf_event_header* header) {
      static_cast<KernelEvents*>(self)->keep(*header);
      return LIBBPF_PERF_EVENT_CONT;
    };
    buffers_ = perf_buffer__new_raw(map_.get(), pages, &attributes, keep, this, nullptr);
    if (buffers_ == nullptr)
      return bpf::failed("can't make buffers for a recording (CONFIG_PERF_EVENTS, CAP_PERFMON)", errno);
    return Status::ok();
  }

  // In front of the engines' programs, of which each node has one or none.
  Status enter_nodes(const Lab& lab) {
    const Descriptor program(bpf_obj_get(pin_of(lab, kDoorbellPin).c_str()));
    if (program.get() < 0) return Status::system("can't open " + pin_of(lab, kDoorbellPin), errno);
    for (int node = 0; node < lab.nodes; ++node) {
      Result<NetworkVisit> visit = NetworkVisit::enter(lab.node_network(node));
      if (!visit.is_ok()) return visit.take_status();
      bpf_attr attributes;
      std::memset(&attributes, 0, sizeof attributes);
      attributes.link_create.prog_fd = static_cast<uint32_t>(program.get());
      attributes.link_create.target_ifindex = kNodeInterfaceIndex;
      attributes.link_create.attach_type = kTcxEgress;
      attributes.link_create.flags = kBefore;
      Descriptor link(static_cast<int>(syscall(SYS_bpf, BPF_LINK_CREATE, &attributes, sizeof attributes)));
      if (link.get() < 0 && errno == EINVAL && links_.empty()) return Status::ok();  // a kernel before 6.6
      if (link.get() < 0) return bpf::failed("can't listen to the doorbells of " + node_name(node), errno);
      links_.push_back(std::move(link));
    }
    return Status::ok();
  }

  void keep(const perf_event_header& header) {
    if (header.type != PERF_RECORD_SAMPLE) return;  // others count what programs have counted themselves
    lab_event event;
    if (header.size < kSampleAt + sizeof event) return;
    std::memcpy(&event, reinterpret_cast<const char*>(&header) + kSampleAt, sizeof event);
    events_->push_back(event);
  }

  std::string pin_;
  lab_recording* recording_ = nullptr;
  Descriptor map_;  // outlives the buffers, which the programs no longer see when it is closed
  perf_buffer* buffers_ = nullptr;
  std::vector<Descriptor> links_;
  std::vector<lab_event>* events_ = nullptr;  // where take() wants them
};

}  // namespace

Result<std::unique_ptr<Events>> Events::listen(const Lab& lab) {
  auto events = std::make_unique<KernelEvents>();
  HOCKET_TRY(events->begin(lab));
  return std::unique_ptr<Events>(std::move(events));
}

#else

Result<std::unique_ptr<Events>> Events::listen(const Lab&) {
  return Status(Code::kNotSupported, "this hocket was built without BPF programs: nothing can be recorded");
}

#endif

}  // namespace hocket::lab
