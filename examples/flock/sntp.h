// SPDX-License-Identifier: BSD-2-Clause
#ifndef EXAMPLES_FLOCK_SNTP_H
#define EXAMPLES_FLOCK_SNTP_H

int sntp_client(void);  // a process: 0 when it got the time

#endif
