// SPDX-License-Identifier: BSD-3-Clause
#include "elements.h"

#include <complex>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <type_traits>

#include "random.h"

namespace conformance {
namespace {

#ifdef OPEN_MPI
// Its 8- and 16-bit sums saturate in whole vectors and wrap in what is left over: results then depend on how a message
// is cut. Without overflow they don't.
constexpr bool kShortSumsSaturate = true;
#else
constexpr bool kShortSumsSaturate = false;
#endif
constexpr int kMostRanks = 16;

template <class T>
void put(unsigned char* at, T value) {
  std::memcpy(at, &value, sizeof value);
}

// Products of these stay within 8 bits.
int factor(uint64_t random, int rank) { return rank < 6 && random % 3 == 0 ? 2 : 1; }

template <class T>
void set_integer(unsigned char* at, Values values, uint64_t random, int rank) {
  const auto any = static_cast<T>(random);
  const bool is_narrow = sizeof(T) < 4 && kShortSumsSaturate;
  switch (values) {
    case Values::kSum:
      return put<T>(at, is_narrow ? static_cast<T>(any % (std::numeric_limits<T>::max() / kMostRanks)) : any);
    case Values::kProduct:
      return put<T>(at, is_narrow ? static_cast<T>(factor(random, rank)) : any);
    case Values::kTruth:
      return put<T>(at, random % 3 == 0 ? any : static_cast<T>(random % 2));
    default:
      return put<T>(at, any);
  }
}

template <class T>
void set_float(unsigned char* at, Values values, uint64_t random, int rank) {
  const int sign = (random & 1) != 0 ? -1 : 1;
  switch (values) {
    case Values::kProduct:
      return put<T>(at,
                    static_cast<T>(sign) * static_cast<T>(factor(random >> 1, rank)) / ((random & 256) != 0 ? 2 : 1));
    case Values::kOrder:
      return put<T>(at, static_cast<T>(static_cast<int>(random >> 8) % (1 << 20)) / 4);
    default:
      return put<T>(at, static_cast<T>(static_cast<int>(random % 2001) - 1000));
  }
}

// Factors are powers of 2 + i times powers of two: products are exact, and no part of them is a zero, whose sign would
// depend on the order.
template <class T>
void set_complex(unsigned char* at, Values values, uint64_t random, int rank) {
  if (values == Values::kProduct) {
    const T scale = static_cast<T>(factor(random, rank)) / ((random & 256) != 0 ? 2 : 1);
    return put(at, (random & 512) != 0 ? std::complex<T>(2 * scale, scale) : std::complex<T>(3 * scale, 4 * scale));
  }
  set_float<T>(at, values, random, rank);
  set_float<T>(at + sizeof(T), values, mix(random), rank);
}

template <class T>
void set_bool(unsigned char* at, Values, uint64_t random, int) {
  put(at, static_cast<T>(random % 2));
}

template <class T>
struct WithPlace {
  T value;
  int place;
};

template <class T, class Place = int>
void set_pair(unsigned char* at, Values, uint64_t random, int) {
  struct Pair {
    T value;
    Place place;
  };
  put<T>(at + offsetof(Pair, value), static_cast<T>(random % 3));
  put<Place>(at + offsetof(Pair, place), static_cast<Place>((random >> 8) % 1000));
}

template <class T>
bool is_less(const unsigned char* a, const unsigned char* b) {
  T x, y;
  std::memcpy(&x, a, sizeof x);
  std::memcpy(&y, b, sizeof y);
  return x < y;
}

constexpr uint32_t low_bits(size_t bytes) { return bytes >= 32 ? ~0u : (1u << bytes) - 1; }

template <class T>
constexpr uint32_t meaning() {
  if (std::is_same_v<T, long double>) return low_bits(10);
  if (std::is_same_v<T, std::complex<long double>>) return low_bits(10) | low_bits(10) << 16;
  return low_bits(sizeof(T));
}

class List {
 public:
  template <class T>
  void add(const char* name, MPI_Datatype type, Class element_class, SetElement set) {
    if (type == MPI_DATATYPE_NULL) return;
    all.push_back({name, type, element_class, sizeof(T), meaning<T>(), set});
  }
  template <class T>
  void add_integer(const char* name, MPI_Datatype type, Class element_class = Class::kInteger) {
    add<T>(name, type, element_class, set_integer<T>);
    if (type != MPI_DATATYPE_NULL) all.back().is_less = is_less<T>;
  }
  template <class T>
  void add_float(const char* name, MPI_Datatype type) {
    add<T>(name, type, Class::kFloat, set_float<T>);
  }
  template <class T>
  void add_complex(const char* name, MPI_Datatype type) {
    add<std::complex<T>>(name, type, Class::kComplex, set_complex<T>);
  }
  template <class T>
  void add_pair(const char* name, MPI_Datatype type) {
    if (type == MPI_DATATYPE_NULL) return;
    const uint32_t place = low_bits(sizeof(int)) << offsetof(WithPlace<T>, place);
    all.push_back({name, type, Class::kPair, sizeof(WithPlace<T>), meaning<T>() | place, set_pair<T>});
  }
  template <class T>
  void add_twins(const char* name, MPI_Datatype type) {
    add<T[2]>(name, type, Class::kPair, set_pair<T, T>);
  }

  std::vector<Element> all;
};

#define NAMED(type) #type, MPI_##type

void add_integers(List& list) {
  list.add_integer<signed char>(NAMED(SIGNED_CHAR));
  list.add_integer<unsigned char>(NAMED(UNSIGNED_CHAR));
  list.add_integer<short>(NAMED(SHORT));
  list.add_integer<unsigned short>(NAMED(UNSIGNED_SHORT));
  list.add_integer<int>(NAMED(INT));
  list.add_integer<unsigned>(NAMED(UNSIGNED));
  list.add_integer<long>(NAMED(LONG));
  list.add_integer<unsigned long>(NAMED(UNSIGNED_LONG));
  list.add_integer<long long>(NAMED(LONG_LONG));
  list.add_integer<unsigned long long>(NAMED(UNSIGNED_LONG_LONG));
  list.add_integer<int8_t>(NAMED(INT8_T));
  list.add_integer<int16_t>(NAMED(INT16_T));
  list.add_integer<int32_t>(NAMED(INT32_T));
  list.add_integer<int64_t>(NAMED(INT64_T));
  list.add_integer<uint8_t>(NAMED(UINT8_T));
  list.add_integer<uint16_t>(NAMED(UINT16_T));
  list.add_integer<uint32_t>(NAMED(UINT32_T));
  list.add_integer<uint64_t>(NAMED(UINT64_T));
  list.add_integer<MPI_Aint>(NAMED(AINT), Class::kAddress);
  list.add_integer<MPI_Offset>(NAMED(OFFSET), Class::kAddress);
  list.add_integer<MPI_Count>(NAMED(COUNT), Class::kAddress);
}

void add_fortran(List& list) {
#ifdef HOCKET_TEST_FORTRAN_TYPES
  list.add_integer<int>(NAMED(INTEGER), Class::kFortranInteger);
  list.add_integer<int8_t>(NAMED(INTEGER1), Class::kFortranInteger);
  list.add_integer<int16_t>(NAMED(INTEGER2), Class::kFortranInteger);
  list.add_integer<int64_t>(NAMED(INTEGER8), Class::kFortranInteger);
  list.add_float<float>(NAMED(REAL));
  list.add_float<double>(NAMED(DOUBLE_PRECISION));
  list.add_complex<float>(NAMED(COMPLEX));
  list.add_complex<double>(NAMED(DOUBLE_COMPLEX));
  list.add<int>(NAMED(LOGICAL), Class::kFortranLogical, set_bool<int>);
  list.add_twins<int>(NAMED(2INTEGER));
  list.add_twins<float>(NAMED(2REAL));
  list.add_twins<double>(NAMED(2DOUBLE_PRECISION));
#else
  (void)list;
#endif
}

std::vector<Element> make_elements() {
  List list;
  add_integers(list);
  list.add_float<float>(NAMED(FLOAT));
  list.add_float<double>(NAMED(DOUBLE));
  list.add_float<long double>(NAMED(LONG_DOUBLE));
  list.add_complex<float>(NAMED(C_FLOAT_COMPLEX));
  list.add_complex<double>(NAMED(C_DOUBLE_COMPLEX));
  list.add_complex<long double>(NAMED(C_LONG_DOUBLE_COMPLEX));
  list.add<bool>(NAMED(C_BOOL), Class::kBool, set_bool<bool>);
  list.add<unsigned char>(NAMED(BYTE), Class::kByte, set_integer<unsigned char>);
  list.add<char>(NAMED(CHAR), Class::kOpaque, set_integer<char>);
  list.add<wchar_t>(NAMED(WCHAR), Class::kOpaque, set_integer<int>);
  list.add_pair<float>(NAMED(FLOAT_INT));
  list.add_pair<double>(NAMED(DOUBLE_INT));
  list.add_pair<long>(NAMED(LONG_INT));
  list.add_pair<int>(NAMED(2INT));
  list.add_pair<short>(NAMED(SHORT_INT));
  list.add_pair<long double>(NAMED(LONG_DOUBLE_INT));
  add_fortran(list);
  return list.all;
}

}  // namespace

void Element::write(unsigned char* at, Values values, uint64_t random, int rank) const {
  if (values != Values::kAnyBytes) return set(at, values, random, rank);
  for (size_t byte = 0; byte < size; ++byte) {
    if (byte % 8 == 0 && byte > 0) random = mix(random);
    if ((meaning >> byte & 1) != 0) at[byte] = static_cast<unsigned char>(random >> byte % 8 * 8);
  }
}

const std::vector<Element>& elements() {
  static const std::vector<Element> all = make_elements();
  return all;
}

const Element& element(const char* name) {
  for (const Element& candidate : elements()) {
    if (std::strcmp(candidate.name, name) == 0) return candidate;
  }
  std::fprintf(stderr, "no element is called %s\n", name);
  std::exit(3);
}

}  // namespace conformance
