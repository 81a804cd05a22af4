// SPDX-License-Identifier: BSD-2-Clause
// The handle table: a handle is (generation, index of a slot), 31 bits. Slots lie in segments that never move; free
// ones wait in a first-in first-out list, so a slot rests as long as possible before its next use. A stale handle could
// only name a stranger after 2^(31 - WEIR_CFG_SOCKET_INDEX_BITS) uses of one slot, each after SLOTS_RESTING others.
#include "socket/socket.h"

#define INDEX_BITS WEIR_CFG_SOCKET_INDEX_BITS
#define INDEX_MASK ((UINT32_C(1) << INDEX_BITS) - 1)
#define GENERATION_MASK ((UINT32_C(1) << (31 - INDEX_BITS)) - 1)
#define SLOTS_RESTING (SLOTS_PER_SEGMENT / 2)

#if WEIR_CFG_ALLOCATOR
#define PER_SEGMENT SLOTS_PER_SEGMENT
#else
#define PER_SEGMENT (INDEX_MASK + 1)  // one segment holds all
#endif

static struct slots *segment_of(const struct handles *handles, uint32_t index)
{
    return handles->segments[WEIR_CFG_ALLOCATOR ? index / PER_SEGMENT : 0];
}
static struct slot *slot_at(const struct handles *handles, uint32_t index)
{
    return &segment_of(handles, index)->slot[index % PER_SEGMENT];
}

static struct sock *slot_sock(const struct slot *slot) { return slot->word & 1 ? NULL : (struct sock *)slot->word; }
static uint32_t slot_generation(const struct slot *slot) { return (uint32_t)(slot->word >> 1) >> INDEX_BITS; }
static uint32_t slot_next_free(const struct slot *slot) { return (uint32_t)(slot->word >> 1) & INDEX_MASK; }
static void slot_set_free(struct slot *slot, uint32_t generation, uint32_t next_free)
{
    slot->word = (uintptr_t)(generation << INDEX_BITS | next_free) << 1 | 1;
}

static void slot_release(struct handles *handles, uint32_t index, uint32_t generation)
{
    slot_set_free(slot_at(handles, index), generation, 0);
    if (handles->free_last) {
        struct slot *last = slot_at(handles, handles->free_last - 1);
        slot_set_free(last, slot_generation(last), index + 1);
    } else {
        handles->free_first = index + 1;
    }
    handles->free_last = index + 1;
    handles->free_count++;
}

// A new segment's slots join the table.
static void segment_add(struct handles *handles, struct slots *segment, void **users, uint32_t slots)
{
    segment->users = users;
    handles->segments[handles->segment_count++] = segment;
    const uint32_t end = handles->slots + slots;
    while (handles->slots < end)
        slot_release(handles, handles->slots++, 0);
}

#if WEIR_CFG_ALLOCATOR

static uint32_t segment_slots(const struct handles *handles)
{
    return min_u32(handles->limit - handles->slots, SLOTS_PER_SEGMENT);
}

static size_t segment_bytes(uint32_t slots) { return sizeof(struct slots) + slots * sizeof(struct slot); }

#define DIRECTORY_FIRST 4u

// Entries that the directory has room for: it doubles, starting with DIRECTORY_FIRST (16,384 slots and 512 bytes at the
// 6th step).
static uint32_t directory_room(uint32_t segment_count)
{
    if (segment_count == 0)
        return 0;
    uint32_t room = DIRECTORY_FIRST;
    while (room < segment_count)
        room *= 2;
    return room;
}

static bool directory_grow(struct handles *handles, struct memory *memory)
{
    const uint32_t room = directory_room(handles->segment_count);
    if (handles->segment_count < room)
        return true;
    struct slots **wider = memory_get(memory, directory_room(room + 1) * sizeof *wider);
    if (!wider)
        return false;
    if (room) {
        memcpy(wider, handles->segments, room * sizeof *wider);
        memory_put(memory, handles->segments, room * sizeof *wider);
    }
    handles->segments = wider;
    return true;
}

// The segment comes first: the directory then never has room that the number of segments does not tell.
static void handles_grow(struct weir *weir)
{
    struct handles *handles = &weir->handles;
    const uint32_t slots = segment_slots(handles);
    struct slots *segment = slots ? memory_get(&weir->memory, segment_bytes(slots)) : NULL;
    if (!segment)
        return;
    if (!directory_grow(handles, &weir->memory)) {
        memory_put(&weir->memory, segment, segment_bytes(slots));
        return;
    }
    segment_add(handles, segment, NULL, slots);
}

size_t handles_bytes(uint32_t limit)
{
    (void)limit;
    return 0;
}

int handles_init(struct weir *weir, uint32_t limit)
{
    weir->handles.limit = min_u32(limit, INDEX_MASK);
    return WEIR_OK;
}

void handles_free(struct weir *weir)
{
    struct handles *handles = &weir->handles;
    const uint32_t room = directory_room(handles->segment_count);
    for (uint32_t index = 0; index < handles->segment_count; index++) {
        struct slots *segment = handles->segments[index];
        memory_put(&weir->memory, segment->users, SLOTS_PER_SEGMENT * sizeof *segment->users);
        memory_put(&weir->memory, segment,
                   segment_bytes(min_u32(handles->slots - index * SLOTS_PER_SEGMENT, SLOTS_PER_SEGMENT)));
    }
    if (room)
        memory_put(&weir->memory, handles->segments, room * sizeof *handles->segments);
    memset(handles, 0, sizeof *handles);
}

// Users are few, or many: room for all of a segment's, once one of them has come.
static bool users_room(struct weir *weir, struct slots *segment)
{
    const size_t bytes = SLOTS_PER_SEGMENT * sizeof *segment->users;
    if (!segment->users && (segment->users = memory_get(&weir->memory, bytes)) != NULL)
        memset(segment->users, 0, bytes);
    return segment->users != NULL;
}

bool handle_room(struct weir *weir)
{
    if (weir->handles.free_count < SLOTS_RESTING)
        handles_grow(weir);
    return weir->handles.free_first != 0;
}

#else

// The directory, of one entry, its segment, and the users, in one piece.
static size_t handles_carved(uint32_t limit)
{
    return sizeof(struct slots *) + sizeof(struct slots) + limit * (sizeof(struct slot) + sizeof(void *));
}

size_t handles_bytes(uint32_t limit) { return memory_carve_bytes(handles_carved(min_u32(limit, INDEX_MASK))); }

int handles_init(struct weir *weir, uint32_t limit)
{
    struct handles *handles = &weir->handles;
    handles->limit = min_u32(limit, INDEX_MASK);
    handles->segments = memory_carve(&weir->memory, handles_carved(handles->limit));
    if (!handles->segments)
        return WEIR_NO_MEMORY;
    struct slots *const segment = (struct slots *)(void *)(handles->segments + 1);
    handles->segments[0] = segment;
    segment_add(handles, segment, (void **)(void *)&segment->slot[handles->limit], handles->limit);
    return WEIR_OK;
}

static bool users_room(struct weir *weir, struct slots *segment) { return (void)weir, (void)segment, true; }

void handles_free(struct weir *weir) { memset(&weir->handles, 0, sizeof weir->handles); }

bool handle_room(struct weir *weir) { return weir->handles.free_first != 0; }

#endif

weir_socket handle_new(struct weir *weir, struct sock *sock)
{
    struct handles *handles = &weir->handles;
    if (!handle_room(weir))
        return WEIR_NO_MEMORY;
    const uint32_t index = handles->free_first - 1;
    struct slot *slot = slot_at(handles, index);
    handles->free_first = slot_next_free(slot);
    if (!handles->free_first)
        handles->free_last = 0;
    handles->free_count--;
    // Generation 0 is left out: with it the first slot's handle would be 0, which means none.
    uint32_t generation = (slot_generation(slot) + 1) & GENERATION_MASK;
    if (!generation)
        generation = 1;
    struct slots *segment = segment_of(handles, index);
    if (segment->users)
        segment->users[index % PER_SEGMENT] = NULL;
    handle_replace(weir, (weir_socket)(generation << INDEX_BITS | index), sock);
    return sock->handle;
}

void handle_free(struct weir *weir, struct sock *sock)
{
    if (!sock->handle)
        return;
    const uint32_t index = (uint32_t)sock->handle & INDEX_MASK, generation = (uint32_t)sock->handle >> INDEX_BITS;
    if (sock->flags & SOCK_ON_READY)
        sock_ready_remove(&weir->socks, sock);
    sock->flags &= (uint8_t)~SOCK_HANDLED;
    sock->handle = 0;
    slot_release(&weir->handles, index, generation);
    handles_forget_recent(&weir->handles);
}

void **handle_user(struct weir *weir, weir_socket socket, bool make)
{
    const uint32_t index = (uint32_t)socket & INDEX_MASK;
    struct slots *segment = segment_of(&weir->handles, index);
    return segment->users || (make && users_room(weir, segment)) ? &segment->users[index % PER_SEGMENT] : NULL;
}

struct sock *handle_at(const struct weir *weir, uint32_t index) { return slot_sock(slot_at(&weir->handles, index)); }

struct sock *handle_sock(const struct weir *weir, weir_socket socket)
{
    const uint32_t index = (uint32_t)socket & INDEX_MASK;
    if (socket <= 0 || index >= weir->handles.slots)
        return NULL;
    const struct slot *slot = slot_at(&weir->handles, index);
    if (slot->word & 1)
        return NULL;  // free
    struct sock *sock = (struct sock *)slot->word;
    return sock->handle == socket ? sock : NULL;
}

void handle_replace(struct weir *weir, weir_socket socket, struct sock *sock)
{
    sock->handle = socket;
    sock->flags |= SOCK_HANDLED;
    handles_forget_recent(&weir->handles);
    slot_at(&weir->handles, (uint32_t)socket & INDEX_MASK)->word = (uintptr_t)sock;
}
