// SPDX-License-Identifier: BSD-2-Clause
// Atomic members of structs in headers, for ports and drivers; the core has none. In C++ std::atomic is what C's
// _Atomic is, with the same size and layout in gcc and clang.
#ifndef WEIR_ATOMIC_H
#define WEIR_ATOMIC_H

#ifdef __cplusplus
#include <atomic>
#define WEIR_ATOMIC(type) std::atomic<type>
#else
#include <stdatomic.h>
#define WEIR_ATOMIC(type) _Atomic(type)
#endif

#endif
