// SPDX-License-Identifier: BSD-2-Clause
#ifndef EXAMPLES_FLOCK_HTTP_H
#define EXAMPLES_FLOCK_HTTP_H

int http_client(void);  // a process: 0 when it got a page

#endif
