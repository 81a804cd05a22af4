// SPDX-License-Identifier: BSD-2-Clause
#include "examples/xinu/boot.h"

#include "apps/dhcp/client.h"
#include "api/xinu/system.h"
#include "boards/board.h"
#include "boards/start.h"
#include "ports/preempt/preempt_port.h"

#define THREADS 8
#define STACK 8192
#define IDLE_STACK 1024
// the client's socket is watched by the I/O thread; what follows from that waits so long at the most
#define DHCP_LOOK_US 200000u
enum { THREAD_PRIORITY = 10, DHCP_PRIORITY = 15, IO_PRIORITY = 20 };

static uint64_t stacks[THREADS][STACK / 8], io_stack[STACK / 8], dhcp_stack[STACK / 8], idle_stack[IDLE_STACK / 8];
static struct thread threads[THREADS], dhcp_thread;
static struct {
    void (*entry)(int);
    int argument;
} started[THREADS];
static uint32_t thread_count;
static struct preempt_port port;
static struct weir_netif netifs[NETHER];
static struct xinu xinu;
static struct mutex console;

void board_timer(void) { kernel_timer(); }
void board_interrupt(void) { preempt_port_interrupt(&port); }

static void overflow(struct thread *thread)
{
    board_puts("xinu: stack overflow: ");
    board_puts(thread->name);
    board_puts("\n");
    for (;;)
        ;
}

// --- console, threads ------------------------------------------------------------------------------------------------

void print(const char *text)
{
    mutex_lock(&console);
    board_puts(text);
    mutex_unlock(&console);
}

void print_address(const unsigned char address[4])
{
    char text[16];
    uint32_t length = 0;
    for (uint32_t i = 0; i < 4; i++) {
        for (uint32_t divisor = address[i] > 99 ? 100 : address[i] > 9 ? 10 : 1; divisor; divisor /= 10)
            text[length++] = (char)('0' + address[i] / divisor % 10);
        text[length++] = i < 3 ? '.' : '\0';
    }
    print(text);
}

void sleep_ms(unsigned ms) { (void)thread_sleep_until(board_now_us() + (uint64_t)ms * 1000); }

static void run(void *context)
{
    const uint32_t i = (uint32_t)((struct thread *)context - threads);
    started[i].entry(started[i].argument);
}

bool start_thread(void (*entry)(int), int argument)
{
    if (thread_count == THREADS)
        return false;
    const uint32_t i = thread_count++;
    started[i].entry = entry;
    started[i].argument = argument;
    return thread_create(&threads[i],
                         &(struct thread_config){"xinu", run, &threads[i], stacks[i], STACK, THREAD_PRIORITY});
}

// --- DHCP ------------------------------------------------------------------------------------------------------------

static struct loop loop;
static struct lease {
    struct dhcp client;
    bool running, bound;
} leases[NETHER];

static void changed(struct dhcp *client, bool bound, void *context)
{
    struct lease *lease = context;
    (void)client;
    lease->bound = bound;
    port.core.port.wake(port.core.port.context, lease);
}

// The clients' timers. Their sockets are watched by whoever runs weir_dispatch: the I/O thread.
static void dhcp_timers(void *unused)
{
    (void)unused;
    for (;;) {
        port.core.port.lock(port.core.port.context);
        const uint64_t now_us = board_now_us();
        uint64_t due_us = now_us + DHCP_LOOK_US;
        for (struct app *app = loop.apps, *next; app; app = next) {
            next = app->next;
            const uint64_t app_due_us = app->poll(app, now_us);
            due_us = app_due_us < due_us ? app_due_us : due_us;
        }
        port.core.port.kick(port.core.port.context);
        port.core.port.unlock(port.core.port.context);
        (void)thread_sleep_until(due_us > now_us ? due_us : now_us + 1);
    }
}

static int dhcp_lease(void *context, struct weir_netif *netif, unsigned timeout_ms, struct weir_addr *gateway)
{
    struct lease *lease = &leases[netif - netifs];
    const uint64_t deadline_us = board_now_us() + (uint64_t)timeout_ms * 1000;
    (void)context;
    port.core.port.lock(port.core.port.context);
    if (!lease->running)
        lease->running = dhcp_start(&lease->client, &loop, netif, "xinu", changed, lease) >= 0;
    port.core.port.kick(port.core.port.context);
    while (lease->running && !lease->bound && port.core.port.wait(port.core.port.context, lease, deadline_us) == 0)
        ;
    const int result = !lease->running ? SYSERR : lease->bound ? OK : TIMEOUT;
    *gateway = lease->client.lease.router;
    port.core.port.unlock(port.core.port.context);
    return result;
}

// --- start -----------------------------------------------------------------------------------------------------------

static bool start_stack(void)
{
    static volatile bool unused;
    const struct weir_bsd_config calls = {.descriptors = 2 * NTCP + NUDP, .set_errno = preempt_port_set_errno};
    struct xinu_config config = {.port = &port.core.port, .dhcp = dhcp_lease};
    preempt_port_init(&port, &board_port);
    struct weir *weir = weir_create(NULL, 0, &port.core.port, NULL);
    if (!weir)
        return false;
    port_attach(&port.core, weir);
    for (uint32_t i = 0; i < NETHER; i++) {
        board_ethernet(&netifs[i], &unused);
        if (!netifs[i].driver || weir_netif_add(weir, &netifs[i]) < 0 || !port_add(&port.core, &netifs[i]))
            return false;
        config.ethers[i] = &netifs[i];
    }
    loop_init(&loop, weir);
    const struct thread_config io = {.stack = io_stack, .stack_bytes = STACK, .priority = IO_PRIORITY};
    config.weir = weir;
    config.bsd = preempt_port_start(&port, &io, THREAD_PRIORITY) ? bsd_create(weir, &calls) : NULL;
    xinu_use(&xinu, &config);
    return config.bsd && thread_create(&dhcp_thread, &(struct thread_config){"dhcp", dhcp_timers, NULL, dhcp_stack,
                                                                             STACK, DHCP_PRIORITY});
}

static void first(int unused)
{
    (void)unused;
    if (start_stack())
        xinu_main();
    else
        print("xinu: no memory, or no interface\n");
}

int main(void)
{
    static const struct kernel_board board = {board_now_us, board_alarm, board_idle,
                                              overflow,     idle_stack,  sizeof idle_stack};
    board_init();
    if (!kernel_init(&board) || !start_thread(first, 0)) {
        board_puts("xinu: no memory\n");
        return 1;
    }
    kernel_start();
}
