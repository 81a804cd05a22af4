// SPDX-License-Identifier: BSD-2-Clause
// The counters as a monitoring system reads them: OpenMetrics 1.0, or the text format of Prometheus (0.0.4).
#ifndef APPS_STATUS_METRICS_H
#define APPS_STATUS_METRICS_H

#include "status.h"
#include "weir/linkage/apps.h"

WEIR_BEGIN_DECLS

#define METRICS_TYPE_OPEN "application/openmetrics-text; version=1.0.0; charset=utf-8"
#define METRICS_TYPE_PLAIN "text/plain; version=0.0.4; charset=utf-8"

// Every counter, whether or not it has counted: weir_tcp_received_total, and so on; each interface's, with its name as
// a label; sockets, memory, the time since the start, the version. No label names a peer: their number has no bound.
// Counters of 32 bits go on where they wrap (status_count).
void status_metrics_render(struct status *status, bool open, struct text *out);

WEIR_END_DECLS

#endif
