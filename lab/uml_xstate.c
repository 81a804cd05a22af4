// SPDX-License-Identifier: BSD-2-Clause
// For user-mode Linux on a processor with more state than it has room for, as AMX's: preloaded, it stands before
// ptrace(2).
//
// User-mode Linux 6.1 keeps 2.7 KB of a process's extended state. Where the processor has more, the kernel below gives
// what fits, but takes back only the whole (xstateregs_set: EFAULT), and the guest's init dies of that. So what comes
// back is laid over the whole as it is: what has no room is registers that a guest's programs do not use, since they
// would have to ask for them (arch_prctl(2), AMX).
#define _GNU_SOURCE
#include <elf.h>
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static long system_call(int request, pid_t process, void *address, void *data)
{
    return syscall(SYS_ptrace, request, process, address, data);
}

static long extended_state(int request, pid_t process, struct iovec *asked)
{
    static char all[1 << 16];  // user-mode Linux has one thread here, and small stacks
    void *const kind = (void *)NT_X86_XSTATE;
    struct iovec whole = {all, sizeof all};
    if (system_call(PTRACE_GETREGSET, process, kind, &whole))
        return -1;
    if (asked->iov_len > whole.iov_len)
        asked->iov_len = whole.iov_len;
    if (request == PTRACE_GETREGSET) {
        memcpy(asked->iov_base, all, asked->iov_len);
        return 0;
    }
    memcpy(all, asked->iov_base, asked->iov_len);
    return system_call(request, process, kind, &whole);
}

long ptrace(enum __ptrace_request request, ...)
{
    va_list rest;
    va_start(rest, request);
    const pid_t process = va_arg(rest, pid_t);
    void *const address = va_arg(rest, void *), *data = va_arg(rest, void *);
    va_end(rest);
    if ((request == PTRACE_GETREGSET || request == PTRACE_SETREGSET) && address == (void *)NT_X86_XSTATE)
        return extended_state(request, process, data);
    if (request != PTRACE_PEEKTEXT && request != PTRACE_PEEKDATA && request != PTRACE_PEEKUSER)
        return system_call(request, process, address, data);
    long word = 0;  // the system call stores what the function returns
    if (system_call(request, process, address, &word))
        return -1;
    errno = 0;
    return word;
}
