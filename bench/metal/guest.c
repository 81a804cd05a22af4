// SPDX-License-Identifier: BSD-2-Clause
// The whole user space of the Linux guest that `make bench-metal` compares with: the first process, without a C
// library. It loads the modules of the list /modules, gives eth0 the address that the kernel's command line names in
// its environment (ADDRESS), and serves as examples/firmware/transfer.c does: port 5001 reads four bytes, big-endian,
// and sends so many bytes in writes of 1460; port 5002 reads in pieces of 1460 until the peer ends. Both then close.
typedef unsigned long word;
typedef unsigned char byte;
#define PIECE 1460

#if defined(__x86_64__)
enum {
    READ = 0,
    WRITE = 1,
    OPEN = 2,
    CLOSE = 3,
    IOCTL = 16,
    SOCKET = 41,
    ACCEPT = 43,
    BIND = 49,
    LISTEN = 50,
    SETSOCKOPT = 54,
    FORK = 57,
    FINIT_MODULE = 313
};
static long call(long number, word a, word b, word c, word d, word e)
{
    register word r10 __asm__("r10") = d;
    register word r8 __asm__("r8") = e;
    __asm__ volatile("syscall" : "+a"(number) : "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8) : "rcx", "r11", "memory");
    return number;
}
__asm__(".globl _start\n_start:\n\tmov %rsp, %rdi\n\tand $-16, %rsp\n\tcall begin\n");
#else
enum {
    READ = 3,
    WRITE = 4,
    OPEN = 5,
    CLOSE = 6,
    IOCTL = 54,
    SOCKET = 281,
    ACCEPT = 285,
    BIND = 282,
    LISTEN = 284,
    SETSOCKOPT = 294,
    FORK = 2,
    FINIT_MODULE = 379
};
static long call(long number, word a, word b, word c, word d, word e)
{
    register word r7 __asm__("r7") = (word)number;
    register word r0 __asm__("r0") = a;
    register word r1 __asm__("r1") = b;
    register word r2 __asm__("r2") = c;
    register word r3 __asm__("r3") = d;
    register word r4 __asm__("r4") = e;
    __asm__ volatile("svc #0" : "+r"(r0) : "r"(r7), "r"(r1), "r"(r2), "r"(r3), "r"(r4) : "memory");
    return (long)r0;
}
__asm__(".globl _start\n.arm\n_start:\n\tmov r0, sp\n\tbic sp, sp, #7\n\tb begin\n");
#endif

static long call3(long number, word a, word b, word c) { return call(number, a, b, c, 0, 0); }
static word text_length(const char *text)
{
    word length = 0;
    while (text[length])
        length++;
    return length;
}
static void say(const char *text) { (void)call3(WRITE, 1, (word)text, text_length(text)); }

static void load_modules(void)
{
    static char names[2048];
    const long list = call3(OPEN, (word) "/modules", 0, 0);
    const long bytes = call3(READ, (word)list, (word)names, sizeof names - 1);
    for (long at = 0, from = 0; at < bytes; at++) {
        if (names[at] != '\n')
            continue;
        names[at] = 0;
        const long module = call3(OPEN, (word)(names + from), 0, 0);
        if (module < 0 || call3(FINIT_MODULE, (word)module, (word) "", 0) < 0) {
            say(names + from);
            say(" was not loaded\n");
        }
        (void)call3(CLOSE, (word)module, 0, 0);
        from = at + 1;
    }
}

struct request {
    char name[16];
    unsigned short family, port;
    byte address[4];
    byte rest[16];
};

static void set_address(const char *text)
{
    static struct request request = {.name = "eth0", .family = 2};
    const word any = (word)call3(SOCKET, 2, 2, 0);
    for (word i = 0; i < 4; i++, text += *text == '.')
        for (request.address[i] = 0; *text >= '0' && *text <= '9'; text++)
            request.address[i] = (byte)(request.address[i] * 10 + (*text - '0'));
    if (call3(IOCTL, any, 0x8916, (word)&request) < 0)
        say("there is no eth0\n");
    for (word i = 0; i < 4; i++)
        request.address[i] = i < 3 ? 255 : 0;
    (void)call3(IOCTL, any, 0x891c, (word)&request);
    request.family = 1 | 0x40;  // the flags: up, running
    (void)call3(IOCTL, any, 0x8914, (word)&request);
    (void)call3(CLOSE, any, 0, 0);
}

static byte data[PIECE];

static void send_to(word connection)
{
    byte asked[4];
    word got = 0;
    while (got < 4) {
        const long some = call3(READ, connection, (word)(asked + got), 4 - got);
        if (some <= 0)
            return;
        got += (word)some;
    }
    for (word left = (word)asked[0] << 24 | (word)asked[1] << 16 | (word)asked[2] << 8 | asked[3]; left;) {
        const word piece = left < PIECE ? left : PIECE;
        const long some = call3(WRITE, connection, (word)data, piece);
        if (some <= 0)
            return;
        left -= (word)some;
    }
}

static void receive_from(word connection)
{
    while (call3(READ, connection, (word)data, PIECE) > 0)
        ;
}

static void serve(unsigned short port, void (*one)(word connection))
{
    struct {
        unsigned short family;
        byte port[2], rest[12];
    } local = {2, {(byte)(port >> 8), (byte)port}, {0}};
    const word listener = (word)call3(SOCKET, 2, 1, 0);
    if (call3(BIND, listener, (word)&local, sizeof local) < 0 || call3(LISTEN, listener, 8, 0) < 0)
        say("no listener\n");
    say("serving\n");
    for (;;) {
        const word connection = (word)call3(ACCEPT, listener, 0, 0);
        one(connection);
        (void)call3(CLOSE, connection, 0, 0);
    }
}

__attribute__((used, noreturn)) void begin(word *stack)
{
    const char *address = "";
    for (word *at = stack + 2 + stack[0]; *at; at++) {
        const char *text = (const char *)*at;
        if (text[0] == 'A' && text[1] == 'D' && text[2] == 'D' && text[7] == '=')
            address = text + 8;
    }
    load_modules();
    set_address(address);
    if (call3(FORK, 0, 0, 0) == 0)
        serve(5001, send_to);
    else
        serve(5002, receive_from);
    __builtin_unreachable();
}
