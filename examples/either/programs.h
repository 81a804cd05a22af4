// SPDX-License-Identifier: BSD-2-Clause
// Three programs by BSD's and the thesis's calls whose sources are linked to the preemptive kernel with the stack in
// it, and to the microkernel with the stack as a process, without changing a line (docs/microkernel.md). Beside them in
// both images: FlockOS's HTTP client (examples/flock/http.c).
#ifndef EXAMPLES_EITHER_PROGRAMS_H
#define EXAMPLES_EITHER_PROGRAMS_H

int select_echo(void);        // an echo server at port 7: select
int poll_client(void);        // connects without blocking to port 9000 of 10.0.0.1, an echo server: poll, getaddrinfo
int refused_datagrams(void);  // poll_client's beginning: datagrams to a port that nobody has, then to port 9000
int pointers_server(void);    // at port 8: names memory that is not its own in every call, and tells who did not refuse

#endif
