// SPDX-License-Identifier: BSD-2-Clause
// What the parts of the Romantiki API share.
#ifndef ROMANTIKI_INTERNAL_H
#define ROMANTIKI_INTERNAL_H

#include "romantiki.h"
#include "weir/language.h"

WEIR_BEGIN_DECLS

extern const char romantiki_select_token;  // its address is what socket_select waits for

void romantiki_take(struct romantiki_socket *socket, weir_socket handle);
void romantiki_take_stream(struct romantiki_socket *socket, weir_socket handle);
// The end of a call whose last attempt gave `result`: done, or the task waits for news of the socket.
BFD romantiki_wait(struct romantiki_socket *socket, int result, int *res);

WEIR_END_DECLS

#endif
