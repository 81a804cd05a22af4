// SPDX-License-Identifier: BSD-2-Clause
#define _GNU_SOURCE
#include "faults.h"

#include <dlfcn.h>
#ifdef __SANITIZE_ADDRESS__
#include <execinfo.h>
#endif
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fixture.h"

static struct fixture *opened;  // all that are, where there are faults

static bool one_in(struct faults *faults, uint32_t count)
{
    faults->random ^= faults->random << 13;
    faults->random ^= faults->random >> 7;
    faults->random ^= faults->random << 17;
    return (uint32_t)(faults->random >> 16) % count == 0;
}

static uint32_t below(struct faults *faults, uint32_t limit)
{
    one_in(faults, 1);
    return (uint32_t)(faults->random >> 16) % limit;
}

// --- what the environment asks for -----------------------------------------------------------------------------------

static enum fault_kind from_environment(uint32_t *number)
{
    static const char *const names[] = {[FAULT_NONE] = "none",
                                        [FAULT_ALLOC] = "alloc",
                                        [FAULT_ALLOCS] = "allocs",
                                        [FAULT_VANISH] = "vanish",
                                        [FAULT_LOSE] = "lose",
                                        [FAULT_TRUNCATE] = "truncate",
                                        [FAULT_DUPLICATE] = "duplicate",
                                        [FAULT_DELAY] = "delay",
                                        [FAULT_CLOCK] = "clock",
                                        [FAULT_FLAP] = "flap",
                                        [FAULT_EACH_ALLOC] = "each-alloc",
                                        [FAULT_EACH_ALLOCS] = "each-allocs",
                                        [FAULT_EACH_VANISH] = "each-vanish"};
    const char *const text = getenv("WEIR_TEST_FAULT");
    if (!text)
        return FAULT_NONE;
    const size_t length = strcspn(text, ":");
    *number = text[length] ? (uint32_t)strtoul(text + length + 1, NULL, 10) : 0;
    for (uint32_t kind = 0; kind < sizeof names / sizeof names[0]; kind++)
        if (strlen(names[kind]) == length && strncmp(text, names[kind], length) == 0)
            return (enum fault_kind)kind;
    fprintf(stderr, "WEIR_TEST_FAULT=%s: there is no such kind (tests/unit/faults.h)\n", text);
    abort();
}

void faults_begin(struct fixture *f)
{
    uint32_t number = 0;
    f->faults.kind = from_environment(&number);
    if (getenv("WEIR_TEST_FAULT"))
        fprintf(stderr, "a fixture opened\n");
    f->faults.random = (number + 1) * UINT64_C(0x9e3779b97f4a7c15);
    f->faults.frames = number;
    if ((f->faults.kind == FAULT_ALLOC || f->faults.kind == FAULT_ALLOCS) && !f->fail_at) {
        f->fail_at = number;
        f->fail_onwards = f->faults.kind == FAULT_ALLOCS;
    }
    if (f->faults.kind == FAULT_NONE)
        return;
    f->faults.next = opened;
    f->faults.previous = &opened;
    if (opened)
        opened->faults.previous = &f->faults.next;
    opened = f;
}

// --- each place ------------------------------------------------------------------------------------------------------

#define CHILD_PROCESSOR_SECONDS 120
#define CHILD_SECONDS 1200  // of the clock, for one that waits for what does not come
#define STACKS 4096u        // of one test
#define STACK_DEPTH 24
#define STACK_TIMES 8u  // a call stack is tried so often; then at the 16th, the 32nd, the 64th time …

static struct {
    const char *test;
    uint32_t places;           // in the program so far
    uint32_t in_test, passed;  // in the test so far; of those not tried
    uint32_t seconds;          // that children had taken before the test
    bool child;                // in which it has happened
    struct {
        uint64_t hash;
        uint32_t times;
    } stacks[STACKS];
} each;

#ifdef __SANITIZE_ADDRESS__

// How often the test was here with the functions called that now are, with this time.
static uint32_t times_here(void)
{
    void *stack[STACK_DEPTH];
    const int depth = backtrace(stack, STACK_DEPTH);
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (int i = 0; i < depth; i++)
        hash = (hash ^ (uintptr_t)stack[i]) * UINT64_C(0x100000001b3);
    hash += !hash;
    uint32_t at = (uint32_t)(hash >> 32) % STACKS;
    for (uint32_t i = 0; i < STACKS && each.stacks[at].hash && each.stacks[at].hash != hash; i++)
        at = (at + 1) % STACKS;
    each.stacks[at].hash = hash;
    return ++each.stacks[at].times;
}

static uint32_t setting(const char *name)  // 0: there is none
{
    const char *const text = getenv(name);
    return text ? (uint32_t)strtoul(text, NULL, 10) : 0;
}

static uint32_t children_seconds(void)  // of the processor
{
    struct rusage usage;
    getrusage(RUSAGE_CHILDREN, &usage);
    return (uint32_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec);
}

// Of a test with very many places those after the first WEIR_TEST_PLACES are tried by call stack; and none when its
// children have taken WEIR_TEST_SECONDS.
static bool worth_trying(void)
{
    const uint32_t places = setting("WEIR_TEST_PLACES"), seconds = setting("WEIR_TEST_SECONDS");
    if (seconds && children_seconds() - each.seconds >= seconds)
        return false;
    const uint32_t times = places ? times_here() : 1;
    struct stat tasks;
    if (places && each.in_test > places && times > STACK_TIMES && (times & (times - 1)))
        return false;
    return stat("/proc/self/task", &tasks) < 0 || tasks.st_nlink <= 3;  // of other threads a child would have none
}

// A child, in which it happens; the parent goes on when that has ended.
static bool happens_in_child(void)
{
    int status;
    fflush(stdout);
    const pid_t pid = fork();
    if (pid < 0)
        abort();
    if (pid == 0) {
        const struct rlimit limit = {CHILD_PROCESSOR_SECONDS, CHILD_PROCESSOR_SECONDS + 5};
        setrlimit(RLIMIT_CPU, &limit);
        alarm(CHILD_SECONDS);
        each.child = true;
        fprintf(stderr, "\na fault happened: %u %s\n", each.places, each.test);
        return true;
    }
    while (waitpid(pid, &status, 0) < 0)
        ;
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU)
        fprintf(stderr, "\nfaults: no end within %u s of the processor\n", CHILD_PROCESSOR_SECONDS);
    else if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
        fprintf(stderr, "\nfaults: no end within %u s\n", CHILD_SECONDS);
    else if (WIFSIGNALED(status))
        fprintf(stderr, "\nfaults: ended by signal %u\n", WTERMSIG(status));
    else if (status)
        fprintf(stderr, "\nfaults: ended with status %u\n", WEXITSTATUS(status));
    return false;
}

#else

static bool worth_trying(void) { return false; }
static bool happens_in_child(void) { return false; }
static uint32_t children_seconds(void) { return 0; }

#endif

static bool happens_here(void)
{
    uint32_t number;
    from_environment(&number);
    if (each.child || !each.test)
        return false;
    each.places++;
    each.in_test++;
    if (number)
        return each.child = each.places == number;
    if (worth_trying())
        return happens_in_child();
    each.passed++;
    return false;
}

bool faults_alloc(struct fixture *f)
{
    if (f->faults.kind != FAULT_EACH_ALLOC && f->faults.kind != FAULT_EACH_ALLOCS)
        return false;
    if (!f->faults.gone && !happens_here())
        return false;
    f->faults.gone = f->faults.kind == FAULT_EACH_ALLOCS;
    return true;
}

static void leave_child(void)
{
    fflush(stdout);
    _exit(0);
}

void faults_close(void)
{
    if (each.child && !opened)
        leave_child();
}

static int run_one(const char *name, const struct CMUnitTest *test, int (*setup)(void **), int (*teardown)(void **))
{
    each.test = test->name;
    each.in_test = each.passed = 0;
    each.seconds = children_seconds();
    memset(each.stacks, 0, sizeof each.stacks);
    const int failed = _cmocka_run_group_tests(name, test, 1, setup, teardown);
    if (each.child)
        leave_child();
    if (each.in_test)
        fprintf(stderr, "\nplaces: %u of which %u not tried in %s\n", each.in_test, each.passed, test->name);
    return failed;
}

int faults_run_tests(const char *name, const struct CMUnitTest *tests, size_t count, int (*setup)(void **),
                     int (*teardown)(void **))
{
    uint32_t number = 0;
    int failed = 0;
    if (from_environment(&number) < FAULT_EACH_ALLOC)
        return _cmocka_run_group_tests(name, tests, count, setup, teardown);
    for (size_t i = 0; i < count; i++)
        failed += run_one(name, &tests[i], setup, teardown);
    return failed;
}

void faults_tell(struct fixture *f)
{
    if (f->faults.kind != FAULT_NONE && !f->faults.told)
        fprintf(stderr, "a fault happened\n");
    f->faults.told = true;
}

// --- frames ----------------------------------------------------------------------------------------------------------

struct fault_late {
    struct fault_late *next;
    struct weir_frame frame;
    struct weir_slice slices[WEIR_FRAME_SLICES];
    uint8_t data[];
};

static void keep(struct fixture *f, const struct weir_frame *frame)
{
    struct fault_late *late = malloc(sizeof *late + frame->length), **at = &f->faults.late;
    uint32_t copied = 0;
    late->frame = *frame;
    late->frame.slices = late->slices;
    late->next = NULL;
    for (uint16_t i = 0; i < frame->count; copied += frame->slices[i++].length) {
        memcpy(late->data + copied, frame->slices[i].data, frame->slices[i].length);
        late->slices[i] = (struct weir_slice){late->data + copied, frame->slices[i].length};
    }
    while (*at)
        at = &(*at)->next;
    *at = late;
}

static void cut(struct fixture *f, const struct weir_frame *frame)
{
    struct weir_slice slices[WEIR_FRAME_SLICES];
    struct weir_frame shorter = *frame;
    const uint32_t length = 1 + below(&f->faults, frame->length);
    uint32_t left = length;
    shorter.slices = slices;
    shorter.length = length;
    for (shorter.count = 0; left; shorter.count++) {
        slices[shorter.count] = frame->slices[shorter.count];
        if (slices[shorter.count].length > left)
            slices[shorter.count].length = left;
        left -= slices[shorter.count].length;
    }
    fixture_input_now(f, &shorter);
}

static bool vanished(struct fixture *f)
{
    if (f->faults.kind == FAULT_EACH_VANISH)
        return f->faults.gone = f->faults.gone || happens_here();
    if (f->faults.frames) {
        f->faults.frames--;
        return false;
    }
    faults_tell(f);
    return true;
}

bool faults_take(struct fixture *f, const struct weir_frame *frame)
{
    const enum fault_kind kind = f->faults.kind;
    if (kind == FAULT_VANISH || kind == FAULT_EACH_VANISH)
        return vanished(f);
    if (kind < FAULT_LOSE || kind > FAULT_DELAY || !one_in(&f->faults, 4))
        return false;
    faults_tell(f);
    if (kind == FAULT_TRUNCATE)
        cut(f, frame);
    if (kind == FAULT_DELAY)
        keep(f, frame);
    if (kind == FAULT_DUPLICATE)
        fixture_input_now(f, frame);
    return kind != FAULT_DUPLICATE;
}

// --- polls -----------------------------------------------------------------------------------------------------------

// A driver hands up nothing for an interface that was removed.
static void come_late(struct fixture *f)
{
    while (f->faults.late && one_in(&f->faults, 2)) {
        struct fault_late *late = f->faults.late;
        f->faults.late = late->next;
        if (f->netif.weir)
            fixture_input_now(f, &late->frame);
        free(late);
    }
}

static void jump(struct fixture *f)
{
    static const uint64_t jumps_us[] = {1000, 1000000, 60000000, 3600000000u, UINT64_C(2592000000000)};
    if (!one_in(&f->faults, 8))
        return;
    faults_tell(f);
    f->faults.ahead_us += jumps_us[below(&f->faults, 5)];
}

static void flap(struct fixture *f)
{
    if (f->faults.down) {
        weir_netif_set_up(&f->netif, true);
        f->faults.down = false;
    } else if (f->netif.flags & WEIR_NETIF_UP && one_in(&f->faults, 8)) {
        faults_tell(f);
        weir_netif_set_up(&f->netif, false);
        f->faults.down = true;
    }
}

void faults_step(struct fixture *f)
{
    come_late(f);
    if (f->faults.kind == FAULT_CLOCK)
        jump(f);
    if (f->faults.kind == FAULT_FLAP)
        flap(f);
}

// --- the end ---------------------------------------------------------------------------------------------------------

void faults_end(struct fixture *f)
{
    while (f->faults.late) {
        struct fault_late *late = f->faults.late;
        f->faults.late = late->next;
        free(late);
    }
    if (f->faults.previous)
        *f->faults.previous = f->faults.next;
    if (f->faults.next)
        f->faults.next->faults.previous = f->faults.previous;
}

bool faults_expecting;

#ifdef __SANITIZE_ADDRESS__

// cmocka's assertions end here; this one takes its place, and calls it. The test's variables are all there still.
void _fail(const char *const file, const int line)
{
    static bool ending;
    void (*const go_on)(const char *, int) = (void (*)(const char *, int))dlsym(RTLD_NEXT, "_fail");
    uint32_t number;
    const bool contract = strstr(file, "unit/fixture.c") && !faults_expecting;
    faults_expecting = false;
    if (from_environment(&number) != FAULT_NONE) {
        if (contract)
            fprintf(stderr, "faults: the contract is broken at %s:%d%s\n", file, line, ending ? ", at the end" : "");
        for (struct fixture *f = opened; f; f = f->faults.next)
            if (f->in_input || f->in_poll || f->faults.others)
                ending = true;  // it cannot be destroyed: it is at work, or others work with it
        while (opened && !ending) {
            struct fixture *const f = opened;
            ending = true;
            fixture_close(f);
            f->faults.ended = true;
            ending = false;
        }
        ending = false;
        opened = NULL;
    }
    go_on(file, line);
    abort();
}

#endif
