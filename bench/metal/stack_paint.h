// SPDX-License-Identifier: BSD-2-Clause
// How deep the stack goes: what lies below the caller's frame is painted, and the deepest word that is not so later was
// in use.
#ifndef STACK_PAINT_H
#define STACK_PAINT_H

void stack_paint(void);  // echo_client_stack tells what became of it

#endif
