// SPDX-License-Identifier: BSD-2-Clause
#define _LINUX_DELAY_H  // drivers ask
#include "api/linux_netdev/system.h"
