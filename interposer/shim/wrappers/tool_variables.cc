// SPDX-License-Identifier: BSD-3-Clause
// MPI_T performance variables: hocket's (core/report/tool_variables.h) among the MPI's.
#include "core/report/tool_variables.h"

#include <atomic>

#include "shim/underneath/handles.h"
#include "shim/wrappers/wrappers.h"

namespace interposer = hocket::interposer;
using interposer::next_pmpi;

namespace {

// As many as the MPI has had when somebody asked first; -1: its tool interface is not there, or not initialised.
const interposer::ToolNumbers* numbers() {
  static std::atomic<int> of_mpi{-1};
  // Relaxed: it is the one value, which whoever comes first has written.
  int known = of_mpi.load(std::memory_order_relaxed);
  if (known < 0) {
    int count = 0;
    if (next_pmpi().T_pvar_get_num(&count) != MPI_SUCCESS) return nullptr;
    if (of_mpi.compare_exchange_strong(known, count, std::memory_order_relaxed)) known = count;
  }
  static const interposer::ToolNumbers all(known);
  return &all;
}

// hocket's variable of that number, or -1; `number` becomes the MPI's.
int own_of(int& number) {
  const interposer::ToolNumbers* const all = numbers();
  if (all == nullptr) return -1;
  const int own = all->own(number);
  if (own < 0) number = all->to_mpi(number);
  return own;
}

template <typename PassThrough>
int count_variables(int* count, const PassThrough& pass_through) {
  numbers();  // where they begin
  const int error = pass_through();
  if (error == MPI_SUCCESS) *count += interposer::tool_variables();
  return error;
}

template <typename Value>
void give(Value* place, Value value) {
  if (place != nullptr) *place = value;
}

struct Told {
  char* name;
  int* name_length;
  int *verbosity, *variable_class;
  MPI_Datatype* type;
  MPI_T_enum* enumeration;
  char* description;
  int* description_length;
  int *bound_to, *is_readonly, *is_continuous, *is_atomic;
};

int tell(int own, const Told& told) {
  const interposer::ToolVariable variable = interposer::tool_variable(own);
  interposer::copy_tool_text(variable.name, told.name, told.name_length);
  interposer::copy_tool_text(variable.description, told.description, told.description_length);
  give<int>(told.verbosity, MPI_T_VERBOSITY_USER_BASIC);
  give<int>(told.variable_class, MPI_T_PVAR_CLASS_COUNTER);
  give(told.type, interposer::native_handles().unsigned_long);
  give(told.enumeration, MPI_T_ENUM_NULL);
  give<int>(told.bound_to, MPI_T_BIND_NO_OBJECT);
  give(told.is_readonly, 1);
  give(told.is_continuous, 1);
  give(told.is_atomic, 0);
  return MPI_SUCCESS;
}

template <typename PassThrough>
int find_by_name(const char* name, int variable_class, int* number, const PassThrough& pass_through) {
  const interposer::ToolNumbers* const all = numbers();
  const int own = interposer::find_tool_variable(name);
  if (all != nullptr && number != nullptr && own >= 0 && variable_class == MPI_T_PVAR_CLASS_COUNTER) {
    *number = all->of_own(own);
    return MPI_SUCCESS;
  }
  const int error = pass_through();
  if (error == MPI_SUCCESS && all != nullptr) *number = all->from_mpi(*number);
  return error;
}

int allocate(int own, MPI_T_pvar_handle* handle, int* count) {
  interposer::ToolHandle* const made = interposer::make_tool_handle(own);
  if (made == nullptr) return MPI_T_ERR_MEMORY;
  *handle = reinterpret_cast<MPI_T_pvar_handle>(made);
  *count = 1;
  return MPI_SUCCESS;
}

template <typename PassThrough>
int release(MPI_T_pvar_handle* handle, const PassThrough& pass_through) {
  if (handle == nullptr || !interposer::is_tool_handle(*handle)) return pass_through();
  interposer::free_tool_handle(reinterpret_cast<interposer::ToolHandle*>(*handle));
  *handle = nullptr;  // MPI_T_PVAR_HANDLE_NULL
  return MPI_SUCCESS;
}

template <typename PassThrough>
int read_value(MPI_T_pvar_handle handle, void* value, const PassThrough& pass_through) {
  if (!interposer::is_tool_handle(handle)) return pass_through();
  const auto* const own = reinterpret_cast<const interposer::ToolHandle*>(handle);
  *static_cast<unsigned long*>(value) = interposer::read_tool_variable(interposer::variable_of(own));
  return MPI_SUCCESS;
}

// They always count, and can't be written.
template <typename PassThrough>
int refuse(MPI_T_pvar_handle handle, int error, const PassThrough& pass_through) {
  return interposer::is_tool_handle(handle) ? error : pass_through();
}

}  // namespace

// Not noted as what the rank is in: that are the program's own calls.
#define HOCKET_WRAP_TOOL(name, parameters, arguments, body) \
  HOCKET_WRAP_IN(static_cast<void>(0), name, parameters, arguments, body)

HOCKET_WRAP_TOOL(T_pvar_get_num, (int* num_pvar), (num_pvar), count_variables(num_pvar, pass_through))
HOCKET_WRAP_TOOL(T_pvar_get_info,
                 (int pvar_index, char* name, int* name_len, int* verbosity, int* var_class, MPI_Datatype* datatype,
                  MPI_T_enum* enumtype, char* desc, int* desc_len, int* bind, int* readonly, int* continuous,
                  int* atomic),
                 (pvar_index, name, name_len, verbosity, var_class, datatype, enumtype, desc, desc_len, bind, readonly,
                  continuous, atomic),
                 [&] {
                   const int own = own_of(pvar_index);
                   return own < 0 ? pass_through()
                                  : tell(own, {name, name_len, verbosity, var_class, datatype, enumtype, desc, desc_len,
                                               bind, readonly, continuous, atomic});
                 }())
HOCKET_WRAP_TOOL(T_pvar_get_index, (const char* name, int var_class, int* pvar_index), (name, var_class, pvar_index),
                 find_by_name(name, var_class, pvar_index, pass_through))
HOCKET_WRAP_TOOL(T_pvar_handle_alloc,
                 (MPI_T_pvar_session session, int pvar_index, void* obj_handle, MPI_T_pvar_handle* handle, int* count),
                 (session, pvar_index, obj_handle, handle, count), [&] {
                   const int own = own_of(pvar_index);
                   return own < 0 ? pass_through() : allocate(own, handle, count);
                 }())
HOCKET_WRAP_TOOL(T_pvar_handle_free, (MPI_T_pvar_session session, MPI_T_pvar_handle* handle), (session, handle),
                 release(handle, pass_through))
HOCKET_WRAP_TOOL(T_pvar_read, (MPI_T_pvar_session session, MPI_T_pvar_handle handle, void* buf), (session, handle, buf),
                 read_value(handle, buf, pass_through))
HOCKET_WRAP_TOOL(T_pvar_start, (MPI_T_pvar_session session, MPI_T_pvar_handle handle), (session, handle),
                 refuse(handle, MPI_T_ERR_PVAR_NO_STARTSTOP, pass_through))
HOCKET_WRAP_TOOL(T_pvar_stop, (MPI_T_pvar_session session, MPI_T_pvar_handle handle), (session, handle),
                 refuse(handle, MPI_T_ERR_PVAR_NO_STARTSTOP, pass_through))
HOCKET_WRAP_TOOL(T_pvar_write, (MPI_T_pvar_session session, MPI_T_pvar_handle handle, const void* buf),
                 (session, handle, buf), refuse(handle, MPI_T_ERR_PVAR_NO_WRITE, pass_through))
HOCKET_WRAP_TOOL(T_pvar_reset, (MPI_T_pvar_session session, MPI_T_pvar_handle handle), (session, handle),
                 refuse(handle, MPI_T_ERR_PVAR_NO_WRITE, pass_through))
HOCKET_WRAP_TOOL(T_pvar_readreset, (MPI_T_pvar_session session, MPI_T_pvar_handle handle, void* buf),
                 (session, handle, buf), refuse(handle, MPI_T_ERR_PVAR_NO_WRITE, pass_through))
