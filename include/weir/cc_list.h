// SPDX-License-Identifier: BSD-2-Clause
// Made by tools/options.py from config/options.toml: change that file, then run `make options`.
// The congestion controls: a row of that file and a file of src/cc each (docs/congestion-control.md).
#ifndef WEIR_CC_LIST_H
#define WEIR_CC_LIST_H

#include "weir/language.h"
#include "weir/options.h"

WEIR_BEGIN_DECLS

struct weir_cc;

// CUBIC (RFC 9438), the default where built; otherwise Reno
extern const struct weir_cc weir_cc_cubic;
// Reno (RFC 5681), the default where CUBIC is not built; 0: for builds that have another
extern const struct weir_cc weir_cc_reno;
// BIC (Xu, Harfoush and Rhee 2004)
extern const struct weir_cc weir_cc_bic;
// H-TCP (Leith and Shorten 2004)
extern const struct weir_cc weir_cc_htcp;
// Vegas (Brakmo and Peterson 1995)
extern const struct weir_cc weir_cc_vegas;
// Westwood+ (Mascolo and others 2004)
extern const struct weir_cc weir_cc_westwood;
// YeAH (Baiocchi, Castellani and Vacirca 2007)
extern const struct weir_cc weir_cc_yeah;
// BBR's first model, compensated for loss that is the path's; for paths that lose at random or have large queues
extern const struct weir_cc weir_cc_bbr;
// BBR's third model (draft-ietf-ccwg-bbr); leaves more to others and loses less than bbr, but yields to random loss
// beyond 2 %
extern const struct weir_cc weir_cc_bbr3;

// So many are built in.
#define WEIR_CC_COUNT \
    (WEIR_CFG_CC_CUBIC + \
     WEIR_CFG_CC_RENO + \
     WEIR_CFG_CC_BIC + \
     WEIR_CFG_CC_HTCP + \
     WEIR_CFG_CC_VEGAS + \
     WEIR_CFG_CC_WESTWOOD + \
     WEIR_CFG_CC_YEAH + \
     WEIR_CFG_CC_BBR + \
     WEIR_CFG_CC_BBR3)

// Bytes of a connection that hold the state of each, and of any of this build.
#define WEIR_CC_STATE_CUBIC 112
#define WEIR_CC_STATE_RENO 24
#define WEIR_CC_STATE_BIC 48
#define WEIR_CC_STATE_HTCP 88
#define WEIR_CC_STATE_VEGAS 40
#define WEIR_CC_STATE_WESTWOOD 56
#define WEIR_CC_STATE_YEAH 72
#define WEIR_CC_STATE_BBR 152
#define WEIR_CC_STATE_BBR3 144
#if WEIR_CFG_CC_BBR
#define WEIR_CC_STATE_MAX 152
#elif WEIR_CFG_CC_BBR3
#define WEIR_CC_STATE_MAX 144
#elif WEIR_CFG_CC_CUBIC
#define WEIR_CC_STATE_MAX 112
#elif WEIR_CFG_CC_HTCP
#define WEIR_CC_STATE_MAX 88
#elif WEIR_CFG_CC_YEAH
#define WEIR_CC_STATE_MAX 72
#elif WEIR_CFG_CC_REGISTERED
#define WEIR_CC_STATE_MAX 64
#elif WEIR_CFG_CC_WESTWOOD
#define WEIR_CC_STATE_MAX 56
#elif WEIR_CFG_CC_BIC
#define WEIR_CC_STATE_MAX 48
#elif WEIR_CFG_CC_VEGAS
#define WEIR_CC_STATE_MAX 40
#elif WEIR_CFG_CC_RENO
#define WEIR_CC_STATE_MAX 24
#else
#define WEIR_CC_STATE_MAX 8
#endif

// The elements of weir_cc_list.
#if WEIR_CFG_CC_CUBIC
#define WEIR_CC_ROW_CUBIC &weir_cc_cubic,
#else
#define WEIR_CC_ROW_CUBIC
#endif
#if WEIR_CFG_CC_RENO
#define WEIR_CC_ROW_RENO &weir_cc_reno,
#else
#define WEIR_CC_ROW_RENO
#endif
#if WEIR_CFG_CC_BIC
#define WEIR_CC_ROW_BIC &weir_cc_bic,
#else
#define WEIR_CC_ROW_BIC
#endif
#if WEIR_CFG_CC_HTCP
#define WEIR_CC_ROW_HTCP &weir_cc_htcp,
#else
#define WEIR_CC_ROW_HTCP
#endif
#if WEIR_CFG_CC_VEGAS
#define WEIR_CC_ROW_VEGAS &weir_cc_vegas,
#else
#define WEIR_CC_ROW_VEGAS
#endif
#if WEIR_CFG_CC_WESTWOOD
#define WEIR_CC_ROW_WESTWOOD &weir_cc_westwood,
#else
#define WEIR_CC_ROW_WESTWOOD
#endif
#if WEIR_CFG_CC_YEAH
#define WEIR_CC_ROW_YEAH &weir_cc_yeah,
#else
#define WEIR_CC_ROW_YEAH
#endif
#if WEIR_CFG_CC_BBR
#define WEIR_CC_ROW_BBR &weir_cc_bbr,
#else
#define WEIR_CC_ROW_BBR
#endif
#if WEIR_CFG_CC_BBR3
#define WEIR_CC_ROW_BBR3 &weir_cc_bbr3,
#else
#define WEIR_CC_ROW_BBR3
#endif
#define WEIR_CC_ROWS \
    WEIR_CC_ROW_CUBIC \
    WEIR_CC_ROW_RENO \
    WEIR_CC_ROW_BIC \
    WEIR_CC_ROW_HTCP \
    WEIR_CC_ROW_VEGAS \
    WEIR_CC_ROW_WESTWOOD \
    WEIR_CC_ROW_YEAH \
    WEIR_CC_ROW_BBR \
    WEIR_CC_ROW_BBR3

WEIR_END_DECLS

#endif
