// SPDX-License-Identifier: BSD-2-Clause
// A queue before a serialiser: drop-tail in bytes or frames with a marking threshold, or CoDel (RFC 8289).
#include "internal.h"

#define CODEL_TARGET_NS SIM_MS(5)
#define CODEL_INTERVAL_NS SIM_MS(100)
#define CODEL_FULL_FRAME 1514u  // a queue of less than one is never too long (§5.4)

bool queue_has_room(const struct way *way, uint32_t length)
{
    const struct sim_way *of = &way->way;
    return (!of->queue_bytes || way->queue.bytes + length <= of->queue_bytes) &&
           (!of->queue_frames || way->queue.frames < of->queue_frames);
}

bool queue_put(struct sim *sim, struct way *way, struct frame *frame)
{
    struct queue *queue = &way->queue;
    if (!queue_has_room(way, frame->length))
        return false;
    if (way->way.mark_bytes && queue->bytes >= way->way.mark_bytes && frame_mark_ce(frame))
        way->stats.marked++;
    frame->at_ns = sim->now_ns;
    frame->next = NULL;
    if (queue->first)
        queue->last->next = frame;
    else
        queue->first = frame;
    queue->last = frame;
    queue->bytes += frame->length;
    queue->frames++;
    if (queue->bytes > way->stats.longest_queue_bytes)
        way->stats.longest_queue_bytes = queue->bytes;
    return true;
}

static struct frame *pop(struct sim *sim, struct way *way)
{
    struct queue *queue = &way->queue;
    struct frame *frame = queue->first;
    if (!frame)
        return NULL;
    queue->first = frame->next;
    queue->bytes -= frame->length;
    queue->frames--;
    way->stats.waited_ns += sim->now_ns - frame->at_ns;
    return frame;
}

// Integer square root, so that no machine's floating point is asked.
static uint64_t root(uint64_t value)
{
    uint64_t low = 0, high = UINT64_C(1) << 32;
    while (high - low > 1) {
        const uint64_t middle = (low + high) / 2;
        if (middle * middle <= value)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static uint64_t interval_of(const struct way *way)
{
    return way->way.codel_interval_ns ? way->way.codel_interval_ns : CODEL_INTERVAL_NS;
}

// §5.3: the next drop comes interval / sqrt(count) after `from`.
static uint64_t control_law(const struct way *way, uint64_t from_ns)
{
    return from_ns + (interval_of(way) << 16) / root((uint64_t)way->queue.drop_count << 32);
}

// §5.5's dodequeue: whether the frame has waited too long for a whole interval.
static struct frame *take_and_judge(struct sim *sim, struct way *way, bool *too_long)
{
    struct queue *queue = &way->queue;
    const uint64_t target_ns = way->way.codel_target_ns ? way->way.codel_target_ns : CODEL_TARGET_NS;
    struct frame *frame = pop(sim, way);
    *too_long = false;
    if (!frame || sim->now_ns - frame->at_ns < target_ns || queue->bytes <= CODEL_FULL_FRAME)
        queue->first_above_ns = 0;
    else if (!queue->first_above_ns)
        queue->first_above_ns = sim->now_ns + interval_of(way);
    else
        *too_long = sim->now_ns >= queue->first_above_ns;
    return frame;
}

static bool marked(struct way *way, struct frame *frame)
{
    const bool done = way->way.codel_marks && frame_mark_ce(frame);
    way->stats.marked += done;
    return done;
}

static struct frame *drop_and_take(struct sim *sim, struct way *way, struct frame *frame, bool *too_long)
{
    way->stats.dropped++;
    frame_free(&sim->frames, frame);
    return take_and_judge(sim, way, too_long);
}

// While dropping: at each moment of the control law one frame is marked, or dropped and the next looked at.
static struct frame *codel_go_on(struct sim *sim, struct way *way, struct frame *frame, bool too_long)
{
    struct queue *queue = &way->queue;
    queue->dropping = too_long;
    while (queue->dropping && sim->now_ns >= queue->drop_next_ns) {
        queue->drop_count++;
        if (marked(way, frame)) {
            queue->drop_next_ns = control_law(way, queue->drop_next_ns);
            break;
        }
        frame = drop_and_take(sim, way, frame, &too_long);
        queue->dropping = too_long;
        if (too_long)
            queue->drop_next_ns = control_law(way, queue->drop_next_ns);
    }
    return frame;
}

static struct frame *codel_take(struct sim *sim, struct way *way)
{
    struct queue *queue = &way->queue;
    bool too_long;
    struct frame *frame = take_and_judge(sim, way, &too_long);
    if (queue->dropping)
        return codel_go_on(sim, way, frame, too_long);
    if (!too_long)
        return frame;
    if (!marked(way, frame))
        frame = drop_and_take(sim, way, frame, &too_long);
    queue->dropping = true;
    // It goes on where it last left off, if that was not long ago.
    const uint32_t more = queue->drop_count - queue->last_count;
    queue->drop_count = more > 1 && sim->now_ns - queue->drop_next_ns < 16 * interval_of(way) ? more : 1;
    queue->drop_next_ns = control_law(way, sim->now_ns);
    queue->last_count = queue->drop_count;
    return frame;
}

struct frame *queue_take(struct sim *sim, struct way *way)
{
    return way->way.queue == SIM_CODEL ? codel_take(sim, way) : pop(sim, way);
}
