/* Splitting a run into partitions. */
#include "domain/run/plan.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/json/tree_read.h"
#include "base/limits.h"
#include "base/str.h"
#include "base/time/civil.h"

static bool id_is_fit(pawl_str id) {
    for (size_t i = 0; i < id.len; i++) {
        if ((unsigned char)id.ptr[i] < 0x20 || id.ptr[i] == 0x7f)
            return false;
    }
    return id.len > 0 && id.len <= PAWL_PARTITION_NAME_BYTES_MAX;
}

/* ---- A list */

static bool read_edge(const struct tree *edge, int64_t *value) {
    return edge != NULL && edge->kind == TREE_NUMBER && tree_to_i64(edge, value);
}

static pawl_status read_part(struct arena *arena, const struct tree *entry, struct run_part *part,
                             pawl_error *err) {
    const struct tree *id = entry->kind == TREE_OBJECT ? tree_get_cstr(entry, "id") : entry;
    if (id == NULL)
        return tree_fault(entry, "run", err, "the partition has no id");
    if ((id->kind != TREE_STRING && id->kind != TREE_NUMBER) || !id_is_fit(id->text))
        return tree_fault(id, "run", err,
                          "the id of a partition must be a text of 1 to %d bytes without control bytes",
                          PAWL_PARTITION_NAME_BYTES_MAX);
    const struct tree *members[1] = {NULL};
    part->id = id->text;
    part->value = entry;
    if (entry->kind != TREE_OBJECT) {
        members[0] = tree_with_key(arena, entry, STR("id"));
        part->value = members[0] != NULL ? tree_object(arena, members, 1) : NULL;
    }
    part->bounded = read_edge(tree_get_cstr(entry, "from"), &part->low) &&
                    read_edge(tree_get_cstr(entry, "to"), &part->high);
    return part->value != NULL ? PAWL_OK : error_no_memory(err, "run");
}

/* The bounds of a partition, if it has any. */
struct part_span {
    const struct run_part *part;
    const struct tree *from, *to, *place;
};

static int compare_edges(const struct tree *a, const struct tree *b) {
    if (a->kind == TREE_NUMBER)
        return tree_number_compare(a->text, b->text);
    return str_compare(a->text, b->text);
}

static int compare_spans(const void *a, const void *b) {
    return compare_edges(((const struct part_span *)a)->from, ((const struct part_span *)b)->from);
}

static pawl_status read_span(const struct run_part *part, const struct tree *place, struct part_span *span,
                             pawl_error *err) {
    const struct tree *from = tree_get_cstr(part->value, "from"), *to = tree_get_cstr(part->value, "to");
    *span = (struct part_span){part, from, to, place};
    if (from == NULL && to == NULL)
        return PAWL_OK;
    if (from == NULL || to == NULL)
        return tree_fault(place, "run", err, "partition '%.*s' has only one of from and to",
                          STR_ARG(part->id));
    if (from->kind != to->kind || (from->kind != TREE_NUMBER && from->kind != TREE_STRING))
        return tree_fault(from, "run", err,
                          "from and to of partition '%.*s' must be two numbers or two texts",
                          STR_ARG(part->id));
    if (compare_edges(from, to) >= 0)
        return tree_fault(from, "run", err, "partition '%.*s' is empty: from %.*s to %.*s", STR_ARG(part->id),
                          STR_ARG(from->text), STR_ARG(to->text));
    return PAWL_OK;
}

/* An item in two partitions would be stored twice, in an undefined order. */
static pawl_status check_overlap(struct arena *arena, const struct run_part *parts, size_t count,
                                 pawl_error *err) {
    struct part_span *spans = arena_array(arena, count, sizeof(*spans));
    size_t made = 0;
    if (spans == NULL)
        return error_no_memory(err, "run");
    for (size_t i = 0; i < count; i++) {
        pawl_status status = read_span(&parts[i], parts[i].value, &spans[made], err);
        if (status != PAWL_OK)
            return status;
        made += spans[made].from != NULL;
    }
    if (made == 0)
        return PAWL_OK;
    if (made != count)
        return tree_fault(
            spans[0].place, "run", err,
            "partition '%.*s' has from and to, others do not: whether they overlap is not known",
            STR_ARG(spans[0].part->id));
    for (size_t i = 1; i < made; i++) {
        if (spans[i].from->kind != spans[0].from->kind)
            return tree_fault(spans[i].from, "run", err,
                              "from of partition '%.*s' is a %s, that of '%.*s' a %s",
                              STR_ARG(spans[i].part->id), tree_kind_name(spans[i].from->kind),
                              STR_ARG(spans[0].part->id), tree_kind_name(spans[0].from->kind));
    }
    qsort(spans, made, sizeof(*spans), compare_spans);
    for (size_t i = 1; i < made; i++) {
        const struct part_span *a = &spans[i - 1], *b = &spans[i];
        if (compare_edges(b->from, a->to) < 0)
            return tree_fault(b->place, "run", err,
                              "partitions '%.*s' (%.*s to %.*s) and '%.*s' (%.*s to %.*s) overlap",
                              STR_ARG(a->part->id), STR_ARG(a->from->text), STR_ARG(a->to->text),
                              STR_ARG(b->part->id), STR_ARG(b->from->text), STR_ARG(b->to->text));
    }
    return PAWL_OK;
}

static int compare_ids(const void *a, const void *b) {
    return str_compare((*(const struct run_part *const *)a)->id, (*(const struct run_part *const *)b)->id);
}

static pawl_status check_ids(struct arena *arena, const struct run_part *parts, size_t count,
                             pawl_error *err) {
    const struct run_part **sorted = arena_array(arena, count, sizeof(struct run_part *));
    if (sorted == NULL)
        return error_no_memory(err, "run");
    for (size_t i = 0; i < count; i++)
        sorted[i] = &parts[i];
    qsort(sorted, count, sizeof(*sorted), compare_ids);
    for (size_t i = 1; i < count; i++) {
        if (str_equal(sorted[i - 1]->id, sorted[i]->id))
            return tree_fault(sorted[i]->value, "run", err, "there are two partitions '%.*s'",
                              STR_ARG(sorted[i]->id));
    }
    return PAWL_OK;
}

pawl_status run_plan_list(struct arena *arena, const struct tree *list, struct run_parts *out,
                          pawl_error *err) {
    if (list->kind != TREE_ARRAY || list->count == 0 || list->count > PAWL_PARTITIONS_PER_RUN_MAX)
        return tree_fault(list, "run", err, "the partitions must be a list of 1 to %d",
                          PAWL_PARTITIONS_PER_RUN_MAX);
    struct run_part *parts = arena_array(arena, list->count, sizeof(*parts));
    pawl_status status = parts != NULL ? PAWL_OK : error_no_memory(err, "run");
    for (size_t i = 0; status == PAWL_OK && i < list->count; i++)
        status = read_part(arena, list->items[i], &parts[i], err);
    if (status == PAWL_OK)
        status = check_ids(arena, parts, list->count, err);
    if (status == PAWL_OK)
        status = check_overlap(arena, parts, list->count, err);
    if (status == PAWL_OK)
        *out = (struct run_parts){parts, list->count};
    return status;
}

/* ---- Ranges */

/* {"id": "a..b", "from": a, "to": b}; the caller sets low and high. */
static pawl_status make_part(struct arena *arena, const char *from, const char *to, enum tree_kind kind,
                             struct run_part *part, pawl_error *err) {
    static const char *const keys[] = {"id", "from", "to"};
    const struct tree *members[3];
    const char *id = from != NULL && to != NULL ? arena_printf(arena, "%s..%s", from, to) : NULL;
    const char *texts[] = {id, from, to};
    if (id == NULL)
        return error_no_memory(err, "run");
    for (int i = 0; i < 3; i++) {
        struct tree *value = tree_scalar(arena, i == 0 ? TREE_STRING : kind, str_from(texts[i]));
        members[i] = value != NULL ? tree_with_key(arena, value, str_from(keys[i])) : NULL;
        if (members[i] == NULL)
            return error_no_memory(err, "run");
    }
    part->id = str_from(id);
    part->value = tree_object(arena, members, 3);
    return part->value != NULL ? PAWL_OK : error_no_memory(err, "run");
}

static pawl_status too_many(const struct tree *place, uint64_t count, pawl_error *err) {
    return tree_fault(place, "run", err, "that makes %llu partitions: at most %d are allowed",
                      (unsigned long long)count, PAWL_PARTITIONS_PER_RUN_MAX);
}

/* from + width × at / parts, without overflow: equal parts, as near as whole numbers allow. */
static int64_t edge(int64_t from, uint64_t width, uint64_t parts, uint64_t at) {
    uint64_t whole = width / parts * at, rest = width % parts * at / parts;
    return (int64_t)((uint64_t)from + whole + rest);
}

/* Exactly one of two members. */
static void one_of(struct tree_reader *in, const struct tree *object, const char *a, const char *b) {
    if ((tree_get_cstr(object, a) != NULL) == (tree_get_cstr(object, b) != NULL))
        tree_wrong(in, object, "exactly one of %s and %s is needed", a, b);
}

pawl_status run_plan_range(struct arena *arena, const struct tree *range, struct run_parts *out,
                           pawl_error *err) {
    static const char *const keys[] = {"from", "to", "parts", "step", NULL};
    struct tree_reader in = {.arena = arena, .op = "run", .err = err};
    int64_t from = 0, to = 0, count = 0, step = 0;
    tree_read_keys(&in, range, "range", keys);
    tree_read_number(&in, range, "from", INT64_MIN, INT64_MAX, &from);
    if (tree_get_cstr(range, "to") == NULL)
        tree_wrong(&in, range, "the range has no to");
    tree_read_number(&in, range, "to", INT64_MIN, INT64_MAX, &to);
    one_of(&in, range, "parts", "step");
    tree_read_number(&in, range, "parts", 1, PAWL_PARTITIONS_PER_RUN_MAX, &count);
    tree_read_number(&in, range, "step", 1, INT64_MAX, &step);
    if (from >= to)
        tree_wrong(&in, range, "the range is empty: from %lld to %lld", (long long)from, (long long)to);
    if (in.status != PAWL_OK)
        return in.status;
    uint64_t width = (uint64_t)to - (uint64_t)from;
    uint64_t parts_count = count > 0 ? (uint64_t)count : (width - 1) / (uint64_t)step + 1;
    if (parts_count > PAWL_PARTITIONS_PER_RUN_MAX)
        return too_many(range, parts_count, err);
    if (parts_count > width)
        return tree_fault(range, "run", err, "%llu numbers cannot be split into %llu parts",
                          (unsigned long long)width, (unsigned long long)parts_count);
    struct run_part *parts = arena_array(arena, parts_count, sizeof(*parts));
    if (parts == NULL)
        return error_no_memory(err, "run");
    pawl_status status = PAWL_OK;
    for (uint64_t i = 0; status == PAWL_OK && i < parts_count; i++) {
        int64_t low = count > 0 ? edge(from, width, parts_count, i) : from + (int64_t)(i * (uint64_t)step);
        int64_t high = i + 1 == parts_count ? to
                       : count > 0          ? edge(from, width, parts_count, i + 1)
                                            : low + step;
        parts[i] = (struct run_part){.bounded = true, .low = low, .high = high};
        status = make_part(arena, arena_printf(arena, "%lld", (long long)low),
                           arena_printf(arena, "%lld", (long long)high), TREE_NUMBER, &parts[i], err);
    }
    if (status == PAWL_OK)
        *out = (struct run_parts){parts, parts_count};
    return status;
}

/* ---- Days */

static void read_day(struct tree_reader *in, const struct tree *dates, const char *key, int64_t *day) {
    const struct tree *value = tree_get_cstr(dates, key);
    struct civil civil;
    if (value == NULL)
        tree_wrong(in, dates, "the dates have no %s", key);
    else if (value->kind != TREE_STRING || !civil_parse(value->text, &civil))
        tree_wrong(in, value, "%s must be a day such as \"2026-01-31\"", key);
    else
        *day = civil_to_days(civil.year, civil.month, civil.day);
}

static const char *day_text(struct arena *arena, int64_t day) {
    struct civil civil = civil_from_days(day);
    return arena_printf(arena, "%04lld-%02d-%02d", (long long)civil.year, civil.month, civil.day);
}

enum every { EVERY_DAY, EVERY_WEEK, EVERY_MONTH, EVERY_YEAR };

/* The first day of the next part. Months and years begin where the calendar says. */
static int64_t next_day(int64_t day, enum every every) {
    struct civil civil = civil_from_days(day);
    if (every == EVERY_DAY || every == EVERY_WEEK)
        return day + (every == EVERY_DAY ? 1 : 7);
    if (every == EVERY_YEAR || civil.month == 12)
        return civil_to_days(civil.year + 1, 1, 1);
    return civil_to_days(civil.year, civil.month + 1, 1);
}

pawl_status run_plan_dates(struct arena *arena, const struct tree *dates, struct run_parts *out,
                           pawl_error *err) {
    static const char *const keys[] = {"from", "to", "every", "parts", NULL};
    static const char *const names[] = {"day", "week", "month", "year", NULL};
    int64_t from = 0, to = 0, count = 0;
    int every = EVERY_DAY;
    struct tree_reader in = {.arena = arena, .op = "run", .err = err};
    tree_read_keys(&in, dates, "dates", keys);
    read_day(&in, dates, "from", &from);
    read_day(&in, dates, "to", &to);
    one_of(&in, dates, "every", "parts");
    tree_read_choice(&in, dates, "every", names, &every);
    tree_read_number(&in, dates, "parts", 1, PAWL_PARTITIONS_PER_RUN_MAX, &count);
    if (from >= to)
        tree_wrong(&in, dates, "the dates are empty: from must be before to");
    if (count > to - from)
        tree_wrong(&in, dates, "%lld days cannot be split into %lld parts", (long long)(to - from),
                   (long long)count);
    if (in.status != PAWL_OK)
        return in.status;
    int64_t made = 0;
    for (int64_t day = from; count == 0 && day < to && made <= PAWL_PARTITIONS_PER_RUN_MAX; made++)
        day = next_day(day, (enum every)every);
    int64_t wanted = count > 0 ? count : made;
    if (wanted > PAWL_PARTITIONS_PER_RUN_MAX)
        return too_many(dates, (uint64_t)(every == EVERY_DAY ? to - from : wanted), err);
    struct run_part *parts = arena_array(arena, (size_t)wanted, sizeof(*parts));
    if (parts == NULL)
        return error_no_memory(err, "run");
    int64_t low = from;
    pawl_status status = PAWL_OK;
    for (int64_t i = 0; status == PAWL_OK && i < wanted; i++) {
        int64_t high = count > 0 ? edge(from, (uint64_t)(to - from), (uint64_t)count, (uint64_t)i + 1)
                                 : next_day(low, (enum every)every);
        if (high > to)
            high = to;
        parts[i] = (struct run_part){.bounded = true, .low = low, .high = high};
        status = make_part(arena, day_text(arena, low), day_text(arena, high), TREE_STRING, &parts[i], err);
        low = high;
    }
    if (status == PAWL_OK)
        *out = (struct run_parts){parts, (size_t)wanted};
    return status;
}
