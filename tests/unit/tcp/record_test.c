// SPDX-License-Identifier: BSD-2-Clause
// also without IPv4
// profiles: small
// Records of half-open connections and of TIME-WAIT: lists in the order of time, a table by both ends, and their
// memory.
#include "fakes.h"

#include "tcp/record.h"

#define RECORDS 100u  // some slabs of them

struct entry {
    struct tcp_record record;
    uint8_t bytes[37];  // no multiple of anything
};

static struct tcp_records records;
static struct tcp_record_list list;

static struct weir_endpoint local_of(uint32_t i) { return (struct weir_endpoint){LOCAL_ADDR, (uint16_t)(80 + i % 3)}; }
static struct weir_endpoint remote_of(uint32_t i) { return (struct weir_endpoint){REMOTE_ADDR, (uint16_t)(1000 + i)}; }

static int records_open(void **state)
{
    world_open(state);
    memset(&records, 0, sizeof records);
    memset(&list, 0, sizeof list);
    tcp_record_list_init(&list);
    return tcp_records_init(world, &records, sizeof(struct entry), RECORDS);
}

static int records_close(void **state)
{
    while (list.head)
        tcp_record_end(world, &records, &list, list.head);
    tcp_records_free(world, &records);
    return world_close(state);
}

static struct entry *add(uint32_t i)
{
    const struct weir_endpoint local = local_of(i), remote = remote_of(i);
    struct tcp_record *record = tcp_record_new(world, &records, &local, &remote);
    if (!record)
        return NULL;
    tcp_record_append(&list, record);
    struct entry *entry = (struct entry *)(void *)record;
    memset(entry->bytes, (int)i, sizeof entry->bytes);
    return entry;
}

static struct tcp_record *find(uint32_t i)
{
    const struct weir_endpoint local = local_of(i), remote = remote_of(i);
    return tcp_record_find(world, &records, &local, &remote);
}

static void assert_order(const uint32_t *order, uint32_t count)
{
    const struct tcp_record *record = list.head;
    for (uint32_t i = 0; i < count; i++, record = record->next) {
        assert_non_null(record);
        assert_int_equal(record->remote_port, 1000 + order[i]);
        assert_ptr_equal(*record->link, record);
    }
    assert_null(record);
    assert_null(*list.tail);
}

static void a_list_keeps_the_order_in_which_it_grew(void **state)
{
    struct entry *entry[5];
    (void)state;
    for (uint32_t i = 0; i < 5; i++)
        entry[i] = add(i);
    assert_order((uint32_t[]){0, 1, 2, 3, 4}, 5);
    tcp_record_unlink(&list, &entry[2]->record);  // out of the middle
    assert_order((uint32_t[]){0, 1, 3, 4}, 4);
    tcp_record_append(&list, &entry[2]->record);  // its time begins again
    assert_order((uint32_t[]){0, 1, 3, 4, 2}, 5);
    tcp_record_end(world, &records, &list, &entry[0]->record);  // the first, the last
    tcp_record_end(world, &records, &list, &entry[2]->record);
    assert_order((uint32_t[]){1, 3, 4}, 3);
    for (uint32_t i = 1; i < 5; i += i == 1 ? 2 : 1)
        tcp_record_end(world, &records, &list, &entry[i]->record);
    assert_order(NULL, 0);
    (void)add(7);
    assert_order((uint32_t[]){7}, 1);
}

static void a_record_is_found_by_both_ends_and_by_nothing_less(void **state)
{
    (void)state;
    struct entry *entry = add(4);
    assert_ptr_equal(find(4), &entry->record);
    const struct weir_endpoint local = local_of(4), remote = remote_of(4);
    assert_true(weir_addr_equal(tcp_record_local(&entry->record).addr, local.addr));
    assert_int_equal(tcp_record_local(&entry->record).port, local.port);
    assert_true(weir_addr_equal(tcp_record_remote(&entry->record).addr, remote.addr));
    assert_int_equal(tcp_record_remote(&entry->record).port, remote.port);
    for (int part = 0; part < 4; part++) {
        struct weir_endpoint here = local, there = remote;
        if (part < 2)
            (part ? &here : &there)->addr = weir_ip4(10, 0, 0, 3);
        else
            (part == 2 ? &here : &there)->port ^= 1;
        assert_null(tcp_record_find(world, &records, &here, &there));
    }
    assert_null(tcp_record_find(world, &records, &remote, &local));  // the ends exchanged
    tcp_record_end(world, &records, &list, &entry->record);
    assert_null(find(4));
}

static void each_has_memory_of_its_own(void **state)
{
    static struct entry *entry[RECORDS];
    (void)state;
    for (uint32_t i = 0; i < RECORDS; i++)
        assert_non_null(entry[i] = add(i));
    for (uint32_t i = 0; i < RECORDS; i++) {
        assert_ptr_equal(find(i), &entry[i]->record);
        for (size_t k = 0; k < sizeof entry[i]->bytes; k++)
            assert_int_equal(entry[i]->bytes[k], (uint8_t)i);
    }
    for (uint32_t i = 0; i < RECORDS; i += 3)  // and what is freed is not another's
        tcp_record_end(world, &records, &list, &entry[i]->record);
    for (uint32_t i = 0; i < RECORDS; i++) {
        assert_ptr_equal(find(i), i % 3 ? &entry[i]->record : NULL);
        for (size_t k = 0; i % 3 && k < sizeof entry[i]->bytes; k++)
            assert_int_equal(entry[i]->bytes[k], (uint8_t)i);
    }
}

static void a_walk_meets_each_once(void **state)
{
    bool met[RECORDS] = {false};
    struct table_cursor cursor = {0};
    struct weir_socket_info info;
    uint32_t count = 0;
    (void)state;
    for (uint32_t i = 0; i < RECORDS; i++)
        (void)add(i);
    while (tcp_records_walk(&records, &cursor, WEIR_TCP_TIME_WAIT, &info)) {
        const uint32_t i = info.peer.port - 1000u;
        assert_true(i < RECORDS && !met[i]);
        met[i] = true;
        count++;
        assert_int_equal(info.type, WEIR_STREAM);
        assert_int_equal(info.tcp_state, WEIR_TCP_TIME_WAIT);
        assert_int_equal(info.local.port, local_of(i).port);
        assert_true(weir_addr_equal(info.peer.addr, REMOTE_ADDR) && weir_addr_equal(info.local.addr, LOCAL_ADDR));
    }
    assert_int_equal(count, RECORDS);
}

// Records come and go for ever in the memory of those that are there at once.
static void places_are_used_again(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < RECORDS / 2; i++)
        (void)add(i);
    const long bytes = world_bytes;
    for (uint32_t i = RECORDS / 2; i < 60 * RECORDS; i++) {
        assert_non_null(add(i));
        tcp_record_end(world, &records, &list, list.head);
        assert_null(find(i - RECORDS / 2));
    }
    assert_true(world_bytes <= bytes + (long)(32 * sizeof(struct entry)) + 64);  // one slab more at the most
}

static void without_memory_there_is_no_record(void **state)
{
    uint32_t there = 0;
    (void)state;
    if (WEIR_CFG_ALLOCATOR) {
        world_fail_after = 3;
        while (add(there))
            there++;
    } else {
        while (there < RECORDS && add(there))
            there++;
        assert_null(add(there));
    }
    assert_in_range(there, 1, RECORDS);
    assert_null(find(there));
    for (uint32_t i = 0; i < there; i++)
        assert_non_null(find(i));
    tcp_record_end(world, &records, &list, list.head);
    assert_non_null(add(there));  // in the place of the one that went
    assert_non_null(find(there));
}

// Of the slabs all but one go back as soon as nothing is in them, whichever record was the last.
static void empty_slabs_go_back(void **state)
{
    static struct entry *entry[RECORDS];
    (void)state;
    if (!WEIR_CFG_ALLOCATOR)
        skip();  // there the records are carved at start
    for (uint32_t i = 0; i < RECORDS; i++)
        entry[i] = add(i);
    const long full = world_bytes;
    for (uint32_t i = 0; i < RECORDS; i++)
        tcp_record_end(world, &records, &list, &entry[i * 37 % RECORDS]->record);
    assert_true(world_bytes < full - (long)(2 * 32 * sizeof(struct entry)));
    world_fail_after = 0;
    assert_non_null(add(1));  // the one that stays
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, records_open, records_close)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_list_keeps_the_order_in_which_it_grew),
        TEST(a_record_is_found_by_both_ends_and_by_nothing_less),
        TEST(each_has_memory_of_its_own),
        TEST(a_walk_meets_each_once),
        TEST(places_are_used_again),
        TEST(without_memory_there_is_no_record),
        TEST(empty_slabs_go_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
