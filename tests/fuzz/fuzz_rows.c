/* Fuzzes PostgreSQL's binary cells: any bytes are decoded within their bounds, and what was encoded comes
 * back. */
#include <string.h>

#include "base/str.h"
#include "fuzz.h"
#include "store/postgres/wire/binary.h"

enum { MEMBERS_MAX = 64 };

static PGresult *result_of(const void *bytes, int len) {
    PGresult *result = PQmakeEmptyPGresult(NULL, PGRES_TUPLES_OK);
    char name[] = "c", copy[1 << 14];
    PGresAttDesc column = {.name = name, .format = 1};
    must(result != NULL && PQsetResultAttrs(result, 1, &column));
    must(len < (int)sizeof copy);
    if (len > 0)
        memcpy(copy, bytes, (size_t)len);
    must(PQsetvalue(result, 0, 0, len >= 0 ? copy : NULL, len));
    return result;
}

static void decode(const uint8_t *data, size_t size) {
    PGresult *result = result_of(data, (int)size);
    struct cell cell = {result, 0, 0};
    struct arena *arena = arena_create(0);
    bool failed = false;
    int ints[MEMBERS_MAX];
    int64_t bigs[MEMBERS_MAX];
    pawl_uuid uuids[MEMBERS_MAX];
    (void)pg_cell_int(cell);
    (void)pg_cell_bool(cell);
    (void)pg_cell_uuid(cell);
    pawl_str text = pg_cell_text(cell, arena, &failed);
    must(!failed && text.len == size && (size == 0 || memcmp(text.ptr, data, size) == 0));
    size_t count = pg_cell_array_count(cell);
    must(count <= size / 4); /* who makes room for them believes it */
    for (size_t most = 0; most <= MEMBERS_MAX; most += MEMBERS_MAX / 4) {
        must(!pg_cell_array_ints(cell, ints, most) || most == count);
        must(!pg_cell_array_bigs(cell, bigs, most) || most == count);
        must(!pg_cell_array_uuids(cell, uuids, most) || most == count);
    }
    if (count <= MEMBERS_MAX && pg_cell_array_ints(cell, ints, count))
        must(count == 0 || !pg_cell_array_uuids(cell, uuids, count));
    arena_free(arena);
    PQclear(result);
}

/* The bytes as numbers and ids, sent and received. */
static void there_and_back(const uint8_t *data, size_t size) {
    int64_t bigs[MEMBERS_MAX] = {0}, bigs_back[MEMBERS_MAX];
    int ints[MEMBERS_MAX] = {0}, ints_back[MEMBERS_MAX];
    pawl_uuid uuids[MEMBERS_MAX] = {0}, uuids_back[MEMBERS_MAX];
    size_t count = size / 16 < MEMBERS_MAX ? size / 16 : MEMBERS_MAX;
    for (size_t i = 0; i < count; i++) {
        memcpy(&bigs[i], data + 16 * i, 8);
        memcpy(&ints[i], data + 16 * i, 4);
        memcpy(uuids[i].b, data + 16 * i, 16);
        uuids[i].b[0] |= 1; /* a nil one would be NULL */
    }
    struct params params;
    struct arena *arena = arena_create(0);
    pg_params_init(&params, arena);
    PARAMS(&params, LIST(bigs, count), LIST(ints, count), LIST(uuids, count), ints[0], bigs[0], uuids[0]);
    must(!params.failed && params.count == 6);
    PGresult *results[6];
    struct cell cells[6];
    for (int i = 0; i < 6; i++) {
        bool null = params.values[i] == NULL;
        results[i] = result_of(params.values[i], null ? -1 : params.lengths[i]);
        cells[i] = (struct cell){results[i], 0, 0};
    }
    must(pg_cell_array_count(cells[0]) == count);
    must(count == 0 ||
         (pg_cell_array_bigs(cells[0], bigs_back, count) && memcmp(bigs, bigs_back, 8 * count) == 0));
    must(count == 0 ||
         (pg_cell_array_ints(cells[1], ints_back, count) && memcmp(ints, ints_back, 4 * count) == 0));
    must(count == 0 ||
         (pg_cell_array_uuids(cells[2], uuids_back, count) && memcmp(uuids, uuids_back, 16 * count) == 0));
    must(pg_cell_int(cells[3]) == ints[0] && pg_cell_int(cells[4]) == bigs[0]);
    must(count == 0 || uuid_equal(pg_cell_uuid(cells[5]), uuids[0]));
    for (int i = 0; i < 6; i++)
        PQclear(results[i]);
    arena_free(arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size > 8192)
        return 0;
    decode(data, size);
    there_and_back(data, size);
    return 0;
}
