// SPDX-License-Identifier: BSD-3-Clause
#include "c_api/internal/vocabulary.h"

#include "c_api/handles.h"

namespace hocket::c_api {

void speak_of_mpi(hocket_context_t* context, const char* name) { context->context->come_through_mpi(name); }

void name_communicator(hocket_comm_t* comm, std::string_view name) { comm->communicator->rename(name); }

}  // namespace hocket::c_api
