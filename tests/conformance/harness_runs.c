/* Helpers for the operations on runs. */
#include "conformance/harness_runs.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/limits.h"

struct run_start run_of(struct conf *c, const char *name, int partitions) {
    struct partition_new *parts = arena_array(c->arena, (size_t)partitions, sizeof *parts);
    for (int i = 0; i < partitions; i++)
        parts[i] = (struct partition_new){.name = str_from(arena_printf(c->arena, "p%d", i)), .total = -1};
    return (struct run_start){.name = str_from(name),
                              .type = STR("page"),
                              .consolidate = STR("consolidate"),
                              .partitions = parts,
                              .count = (size_t)partitions};
}

enum store_answer try_start_(struct conf *c, struct run_start in, int64_t *id) {
    struct run_started out;
    ok(c, c->runs->start(c->store, &in, &out, &c->err));
    *id = out.id;
    return out.answer;
}

int64_t start_run_(struct conf *c, struct run_start in) {
    int64_t id = 0;
    assert_int_equal(try_start_(c, in, &id), ANSWER_APPLIED);
    assert_true(id > 0);
    return id;
}

struct page_ref page_of(struct conf *c, int instance, const struct job *job) {
    struct page_ref ref = {.instance = instance_id(instance), .job = {job->token, job->id}};
    (void)c;
    int read = sscanf(job->payload.ptr,
                      "{\"run\":%" SCNd64 ",\"part\":%d,\"generation\":%d,\"page\":%" SCNd64, &ref.run,
                      &ref.part, &ref.generation, &ref.page);
    assert_int_equal(read, 4);
    return ref;
}

struct page_commit page_with(struct conf *c, int instance, const struct job *job, int first, int count,
                             enum page_more more) {
    struct page_ref ref = page_of(c, instance, job);
    struct run_item *items = arena_array(c->arena, (size_t)count, sizeof *items);
    for (int i = 0; i < count; i++)
        items[i] = (struct run_item){str_from(arena_printf(c->arena, "%d-%d", ref.part, first + i)),
                                     str_from(arena_printf(c->arena, "{\"n\":%d}", first + i))};
    return (struct page_commit){.ref = ref, .items = items, .count = (size_t)count, .more = more};
}

struct page_result commit_(struct conf *c, struct page_commit in) {
    struct page_result out;
    ok(c, c->runs->page_commit(c->store, &in, c->arena, &out, &c->err));
    return out;
}

struct page begin_(struct conf *c, struct page_ref in) {
    struct page out;
    ok(c, c->runs->page_begin(c->store, &in, c->arena, &out, &c->err));
    return out;
}

struct run_row run_row_(struct conf *c, int64_t id) {
    struct run_list list;
    ok(c, (c->runs->runs)(c->store, &(struct runs_filter){.id = id, .limit = 1}, c->arena, &list, &c->err));
    assert_int_equal(list.count, 1);
    assert_int_equal(list.now_ms, c->now_ms);
    return list.runs[0];
}

struct partition_row part_row_(struct conf *c, int64_t run, int part) {
    struct partition_list list;
    struct partitions_filter filter = {.run = run, .after_run = run, .after_part = part - 1, .limit = 1};
    ok(c, (c->runs->partitions)(c->store, &filter, c->arena, &list, &c->err));
    assert_int_equal(list.count, 1);
    assert_int_equal(list.partitions[0].part, part);
    return list.partitions[0];
}

const char *stored_(struct conf *c, int64_t run) {
    struct stored_items list;
    struct items_filter filter = {.run = run, .part = -1, .limit = PAWL_LIST_MAX};
    ok(c, (c->runs->items)(c->store, &filter, c->arena, &list, &c->err));
    const char *text = "";
    for (size_t i = 0; i < list.count; i++)
        text = arena_printf(c->arena, "%s%s%.*s=%.*s", text, i > 0 ? " " : "", STR_ARG(list.items[i].key),
                            STR_ARG(list.items[i].payload));
    return text;
}

struct page_result finish_next_(struct conf *c, int instance) {
    struct job_list got = take_(c, instance, 1);
    assert_int_equal(got.count, 1);
    return commit_(c, page_with(c, instance, &got.jobs[0], 0, 1, MORE_NO));
}

void kill_next_(struct conf *c, int instance) {
    struct job_list got = take_(c, instance, 1);
    assert_int_equal(got.count, 1);
    struct finish_item item = finish_of(&got.jobs[0], JOB_FAIL);
    item.error_class = CLASS_PERMANENT;
    item.error = STR("the source is gone");
    assert_int_equal(finish_(c, instance, item).result, JOB_RESULT_DEAD);
}
