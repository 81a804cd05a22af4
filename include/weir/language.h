// SPDX-License-Identifier: BSD-2-Clause
// What C and C++ write differently, so that every header of Weir can be included from C11, C23 and C++17. `make check`
// compiles each header alone as all three.
#ifndef WEIR_LANGUAGE_H
#define WEIR_LANGUAGE_H

// Around the declarations of a header. In C++ they have C linkage. A struct and a function may have one name in C
// (struct weir_port, weir_port), which g++ warns of with -Wshadow; both remain usable there, since the struct is always
// named with its keyword.
#ifdef __cplusplus
#define WEIR_BEGIN_DECLS \
    extern "C" { \
    _Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Wshadow\"")
#define WEIR_END_DECLS \
    _Pragma("GCC diagnostic pop") \
    }
#else
#define WEIR_BEGIN_DECLS
#define WEIR_END_DECLS
#endif

#ifdef __cplusplus
#define WEIR_RESTRICT __restrict            // C's restrict, which C++ has as an extension of its compilers
#define WEIR_NORETURN [[noreturn]]          // before a function that never returns
#define WEIR_ALIGNAS(bytes) alignas(bytes)  // before a struct's member
#define WEIR_STATIC_ASSERT(condition, text) static_assert(condition, text)
#else
// C of before 1999 may include headers of api/linux_netdev.
#if !defined(__STDC_VERSION__) || __STDC_VERSION__ < 199901L
#define WEIR_RESTRICT __restrict
#else
#define WEIR_RESTRICT restrict
#endif
#define WEIR_NORETURN _Noreturn
#define WEIR_ALIGNAS(bytes) _Alignas(bytes)
#define WEIR_STATIC_ASSERT(condition, text) _Static_assert(condition, text)
#endif

// Behind the declaration of a function that a configuration has no use for: a call of it stops the build, and says why.
// (With other compilers the linker misses something.)
#if defined(__GNUC__) && (!defined(__clang__) || __clang_major__ >= 14)
#define WEIR_NOT_BUILT(why) __attribute__((error(why)))
#else
#define WEIR_NOT_BUILT(why)
#endif

#endif
