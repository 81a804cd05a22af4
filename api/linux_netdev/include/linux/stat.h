// SPDX-License-Identifier: BSD-2-Clause
#include "api/linux_netdev/system.h"
