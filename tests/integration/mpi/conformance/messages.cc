// SPDX-License-Identifier: BSD-3-Clause
#include "messages.h"

#include "random.h"

namespace conformance {
namespace {

constexpr int kFirstTag = 40;

}  // namespace

Messages::Messages(int count, bool has_persistent, uint64_t salt)
    : count_(count), has_persistent_(has_persistent), salt_(salt) {
  int size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  next_ = (rank_ + 1) % size;
  previous_ = (rank_ + size - 1) % size;
  for (int i = 0; i < count + (has_persistent ? 1 : 0); ++i) {
    sent_.emplace_back(length(i));
    received_.emplace_back(length(i));
  }
  if (!has_persistent) return;
  persistent_.resize(2);
  MPI_Send_init(sent_.back().data(), length(count), MPI_INT, next_, kFirstTag + count, MPI_COMM_WORLD, &persistent_[0]);
  MPI_Recv_init(received_.back().data(), length(count), MPI_INT, previous_, kFirstTag + count, MPI_COMM_WORLD,
                &persistent_[1]);
}

Messages::~Messages() {
  for (MPI_Request& request : persistent_) MPI_Request_free(&request);
}

// Short, and so long that the receiver has a part in it.
int Messages::length(int which) const {
  static const int lengths[] = {1, 1, 20, 1000, 40000};
  return lengths[hash(salt_, 90, static_cast<uint64_t>(which)) % 5];
}

int Messages::value(int from, int which, int at) const {
  return static_cast<int>(hash(salt_ + turn_, static_cast<uint64_t>(from * 64 + which)) >> 40) + at;
}

void Messages::fill(uint64_t turn) {
  turn_ = turn;
  for (size_t i = 0; i < sent_.size(); ++i) {
    for (size_t at = 0; at < sent_[i].size(); ++at) {
      sent_[i][at] = value(rank_, static_cast<int>(i), static_cast<int>(at));
      received_[i][at] = -1;
    }
  }
}

void Messages::begin(int which, std::vector<Pending>& pending) {
  const auto at = static_cast<size_t>(which);
  const int tag = kFirstTag + which;
  Pending in{MPI_REQUEST_NULL, Pending::Sort::kMessage, previous_, tag};
  Pending out{MPI_REQUEST_NULL, Pending::Sort::kSentMessage, 0, 0};
  MPI_Irecv(received_[at].data(), length(which), MPI_INT, previous_, tag, MPI_COMM_WORLD, &in.request);
  MPI_Isend(sent_[at].data(), length(which), MPI_INT, next_, tag, MPI_COMM_WORLD, &out.request);
  pending.push_back(in);
  pending.push_back(out);
}

std::string Messages::check() const {
  for (size_t i = 0; i < received_.size(); ++i) {
    for (size_t at = 0; at < received_[i].size(); ++at) {
      const int right = value(previous_, static_cast<int>(i), static_cast<int>(at));
      if (received_[i][at] != right) {
        return "message " + std::to_string(i) + (static_cast<int>(i) == count_ ? " (persistent)" : "") + " has " +
               std::to_string(received_[i][at]) + " at " + std::to_string(at) + ", not " + std::to_string(right);
      }
    }
  }
  return {};
}

}  // namespace conformance
