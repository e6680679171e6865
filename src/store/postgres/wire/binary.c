/* Encoding parameters and decoding cells in PostgreSQL's binary format. */
#include "store/postgres/wire/binary.h"

#include <assert.h>
#include <string.h>

#include "base/error.h"
#include "base/str.h"
#include "base/uuid.h"

/* Type numbers that PostgreSQL never changes (pg_type.dat). */
enum {
    TYPE_BOOL = 16,
    TYPE_INT8 = 20,
    TYPE_INT2 = 21,
    TYPE_INT4 = 23,
    TYPE_TEXT = 25,
    TYPE_JSON = 114,
    TYPE_JSON_ARRAY = 199,
    TYPE_BOOL_ARRAY = 1000,
    TYPE_INT2_ARRAY = 1005,
    TYPE_INT4_ARRAY = 1007,
    TYPE_TEXT_ARRAY = 1009,
    TYPE_INT8_ARRAY = 1016,
    TYPE_UUID = 2950,
    TYPE_UUID_ARRAY = 2951
};

enum { ARRAY_HEADER_BYTES = 20, UUID_BYTES = 16 };

static void write_u16(unsigned char *at, uint16_t value) {
    at[0] = (unsigned char)(value >> 8);
    at[1] = (unsigned char)value;
}

static void write_u32(unsigned char *at, uint32_t value) {
    write_u16(at, (uint16_t)(value >> 16));
    write_u16(at + 2, (uint16_t)value);
}

static void write_u64(unsigned char *at, uint64_t value) {
    write_u32(at, (uint32_t)(value >> 32));
    write_u32(at + 4, (uint32_t)value);
}

static uint64_t read_number(const unsigned char *at, int bytes) {
    uint64_t value = 0;
    for (int i = 0; i < bytes; i++)
        value = value << 8 | at[i];
    return value;
}

void pg_params_init(struct params *params, struct arena *arena) {
    memset(params, 0, sizeof *params);
    params->arena = arena;
}

pawl_status pg_params_status(const struct params *params, const char *op, pawl_error *err) {
    if (params->failed)
        return error_set(err, PAWL_NO_MEMORY, op, "no memory for the parameters of the statement");
    return PAWL_OK;
}

static void add(struct params *params, Oid type, const void *value, size_t len) {
    if (params->ignored)
        return;
    assert(params->count < PARAMS_MAX);
    int at = params->count++;
    params->types[at] = type;
    params->values[at] = value;
    params->lengths[at] = (int)len;
    params->formats[at] = 1;
}

static void *space(struct params *params, size_t bytes) {
    if (params->ignored)
        return NULL;
    void *at = bytes <= INT32_MAX ? arena_alloc(params->arena, bytes) : NULL;
    if (at == NULL)
        params->failed = true;
    return at;
}

static void add_copy(struct params *params, Oid type, const void *value, size_t len) {
    void *copy = space(params, len + 1);
    if (copy != NULL && len > 0)
        memcpy(copy, value, len);
    add(params, type, copy, len);
}

void pg_params_uuid(struct params *params, pawl_uuid value) {
    if (uuid_is_nil(value))
        add(params, TYPE_UUID, NULL, 0);
    else
        add_copy(params, TYPE_UUID, value.b, UUID_BYTES);
}

/* An absent text is NULL; an empty one is not. */
static void add_text(struct params *params, Oid type, pawl_str value) {
    if (str_absent(value))
        add(params, type, NULL, 0);
    else
        add_copy(params, type, value.ptr, value.len);
}

void pg_params_text(struct params *params, pawl_str value) { add_text(params, TYPE_TEXT, value); }

void pg_params_json(struct params *params, pawl_str value) { add_text(params, TYPE_JSON, value); }

void pg_params_small(struct params *params, int value) {
    unsigned char bytes[2];
    write_u16(bytes, (uint16_t)value);
    add_copy(params, TYPE_INT2, bytes, sizeof bytes);
}

void pg_params_int(struct params *params, int value) {
    unsigned char bytes[4];
    write_u32(bytes, (uint32_t)value);
    add_copy(params, TYPE_INT4, bytes, sizeof bytes);
}

void pg_params_big(struct params *params, int64_t value) {
    unsigned char bytes[8];
    write_u64(bytes, (uint64_t)value);
    add_copy(params, TYPE_INT8, bytes, sizeof bytes);
}

void pg_params_bool(struct params *params, bool value) {
    unsigned char byte = value ? 1 : 0;
    add_copy(params, TYPE_BOOL, &byte, 1);
}

static const void *member(struct strided list, size_t i) {
    return (const char *)list.first + i * list.stride;
}

/* Adds an array parameter with room for bytes of members and returns where they begin; NULL: no memory. */
static unsigned char *add_array(struct params *params, Oid type, Oid element, size_t count, size_t bytes) {
    unsigned char *array = space(params, ARRAY_HEADER_BYTES + bytes);
    if (array == NULL) {
        add(params, type, NULL, 0);
        return NULL;
    }
    if (count == 0) { /* no dimensions */
        write_u32(array, 0);
        write_u32(array + 4, 0);
        write_u32(array + 8, element);
        add(params, type, array, 12);
        return array;
    }
    write_u32(array, 1);
    write_u32(array + 4, 1); /* there may be NULLs */
    write_u32(array + 8, element);
    write_u32(array + 12, (uint32_t)count);
    write_u32(array + 16, 1);
    add(params, type, array, ARRAY_HEADER_BYTES + bytes);
    return array + ARRAY_HEADER_BYTES;
}

void pg_params_uuids(struct params *params, struct strided uuids) {
    size_t absent = 0;
    for (size_t i = 0; !params->ignored && i < uuids.count; i++)
        absent += uuid_is_nil(*(const pawl_uuid *)member(uuids, i)) ? 1 : 0;
    if (absent == uuids.count && absent > 0) {
        add(params, TYPE_UUID_ARRAY, NULL, 0);
        return;
    }
    size_t bytes = uuids.count * 4 + (uuids.count - absent) * UUID_BYTES;
    unsigned char *at = add_array(params, TYPE_UUID_ARRAY, TYPE_UUID, uuids.count, bytes);
    for (size_t i = 0; at != NULL && i < uuids.count; i++) {
        const pawl_uuid *uuid = member(uuids, i);
        bool nil = uuid_is_nil(*uuid);
        write_u32(at, nil ? UINT32_MAX : UUID_BYTES);
        at += 4;
        if (nil)
            continue;
        memcpy(at, uuid->b, UUID_BYTES);
        at += UUID_BYTES;
    }
}

static void add_texts(struct params *params, Oid type, Oid element, struct strided texts) {
    size_t bytes = 0, absent = 0;
    for (size_t i = 0; !params->ignored && i < texts.count; i++) {
        const pawl_str *text = member(texts, i);
        absent += str_absent(*text) ? 1 : 0;
        bytes += 4 + (str_absent(*text) ? 0 : text->len);
    }
    if (absent == texts.count && absent > 0) {
        add(params, type, NULL, 0);
        return;
    }
    unsigned char *at = add_array(params, type, element, texts.count, bytes);
    for (size_t i = 0; at != NULL && i < texts.count; i++) {
        const pawl_str *text = member(texts, i);
        write_u32(at, str_absent(*text) ? UINT32_MAX : (uint32_t)text->len);
        at += 4;
        if (str_absent(*text) || text->len == 0)
            continue;
        memcpy(at, text->ptr, text->len);
        at += text->len;
    }
}

void pg_params_texts(struct params *params, struct strided texts) {
    add_texts(params, TYPE_TEXT_ARRAY, TYPE_TEXT, texts);
}

void pg_params_jsons(struct params *params, struct strided texts) {
    add_texts(params, TYPE_JSON_ARRAY, TYPE_JSON, texts);
}

void pg_params_bigs(struct params *params, struct strided numbers) {
    unsigned char *at = add_array(params, TYPE_INT8_ARRAY, TYPE_INT8, numbers.count, numbers.count * 12);
    for (size_t i = 0; at != NULL && i < numbers.count; i++, at += 12) {
        write_u32(at, 8);
        write_u64(at + 4, (uint64_t) * (const int64_t *)member(numbers, i));
    }
}

void pg_params_ints(struct params *params, struct strided numbers) {
    unsigned char *at = add_array(params, TYPE_INT4_ARRAY, TYPE_INT4, numbers.count, numbers.count * 8);
    for (size_t i = 0; at != NULL && i < numbers.count; i++, at += 8) {
        write_u32(at, 4);
        write_u32(at + 4, (uint32_t) * (const int *)member(numbers, i));
    }
}

void pg_params_smalls(struct params *params, struct strided numbers) {
    unsigned char *at = add_array(params, TYPE_INT2_ARRAY, TYPE_INT2, numbers.count, numbers.count * 6);
    for (size_t i = 0; at != NULL && i < numbers.count; i++, at += 6) {
        write_u32(at, 2);
        write_u16(at + 4, (uint16_t) * (const int *)member(numbers, i));
    }
}

void pg_params_bools(struct params *params, struct strided flags) {
    unsigned char *at = add_array(params, TYPE_BOOL_ARRAY, TYPE_BOOL, flags.count, flags.count * 5);
    for (size_t i = 0; at != NULL && i < flags.count; i++, at += 5) {
        write_u32(at, 1);
        at[4] = *(const bool *)member(flags, i) ? 1 : 0;
    }
}

void pg_params_row(struct params *params, const struct row_shape *shape, const void *row) {
    for (size_t i = 0; i < shape->count; i++) {
        const void *at = (const char *)row + shape->members[i].offset;
        switch ((enum member_type)shape->members[i].type) {
        case MEMBER_INT:
            pg_params_int(params, *(const int *)at);
            break;
        case MEMBER_SMALL:
            pg_params_small(params, *(const int *)at);
            break;
        case MEMBER_BIG:
            pg_params_big(params, *(const int64_t *)at);
            break;
        case MEMBER_BOOL:
            pg_params_bool(params, *(const bool *)at);
            break;
        case MEMBER_TEXT:
            pg_params_text(params, *(const pawl_str *)at);
            break;
        case MEMBER_JSON:
            pg_params_json(params, *(const pawl_str *)at);
            break;
        case MEMBER_UUID:
            pg_params_uuid(params, *(const pawl_uuid *)at);
            break;
        case MEMBER_NONE:
            break;
        }
    }
}

void pg_params_rows(struct params *params, const struct row_shape *shape, const void *rows, size_t count) {
    static void (*const adders[])(struct params *, struct strided) = {
        [MEMBER_INT] = pg_params_ints,   [MEMBER_SMALL] = pg_params_smalls, [MEMBER_BIG] = pg_params_bigs,
        [MEMBER_BOOL] = pg_params_bools, [MEMBER_TEXT] = pg_params_texts,   [MEMBER_JSON] = pg_params_jsons,
        [MEMBER_UUID] = pg_params_uuids,
    };
    for (size_t i = 0; !params->ignored && i < shape->count; i++) {
        const char *first = count > 0 ? (const char *)rows + shape->members[i].offset : NULL;
        adders[shape->members[i].type](params, (struct strided){first, shape->size, count});
    }
}

static const unsigned char *bytes_of(struct cell cell) {
    return (const unsigned char *)PQgetvalue(cell.result, cell.row, cell.column);
}

static int length_of(struct cell cell) {
    return PQgetisnull(cell.result, cell.row, cell.column) ? 0
                                                           : PQgetlength(cell.result, cell.row, cell.column);
}

static int64_t signed_number(const unsigned char *at, int bytes) {
    uint64_t value = read_number(at, bytes);
    return bytes == 2 ? (int16_t)value : bytes == 4 ? (int32_t)value : (int64_t)value;
}

int64_t pg_cell_int(struct cell cell) {
    int len = length_of(cell);
    return len == 2 || len == 4 || len == 8 ? signed_number(bytes_of(cell), len) : 0;
}

bool pg_cell_bool(struct cell cell) { return length_of(cell) == 1 && bytes_of(cell)[0] != 0; }

pawl_uuid pg_cell_uuid(struct cell cell) {
    pawl_uuid uuid = uuid_nil();
    if (length_of(cell) == UUID_BYTES)
        memcpy(uuid.b, bytes_of(cell), UUID_BYTES);
    return uuid;
}

pawl_str pg_cell_text(struct cell cell, struct arena *arena, bool *failed) {
    if (PQgetisnull(cell.result, cell.row, cell.column))
        return (pawl_str){NULL, 0};
    size_t len = (size_t)length_of(cell);
    const char *copy = arena_copy(arena, bytes_of(cell), len);
    if (copy == NULL)
        *failed = true;
    return (pawl_str){copy, copy != NULL ? len : 0};
}

size_t pg_cell_array_count(struct cell cell) {
    const unsigned char *array = bytes_of(cell);
    if (length_of(cell) < ARRAY_HEADER_BYTES || read_number(array, 4) != 1)
        return 0;
    return (size_t)read_number(array + 12, 4);
}

/* Gives each member of an array, of len bytes, to take; false when the bytes are not those of count members.
 */
static bool array_take(struct cell cell, size_t count,
                       void (*take)(void *out, size_t i, const void *at, int len), void *out, int len_min,
                       int len_max) {
    const unsigned char *bytes = bytes_of(cell);
    size_t offset = ARRAY_HEADER_BYTES, total = (size_t)length_of(cell);
    if (pg_cell_array_count(cell) != count)
        return false;
    for (size_t i = 0; i < count; i++) {
        if (offset + 4 > total)
            return false;
        int len = (int)(uint32_t)read_number(bytes + offset, 4);
        offset += 4;
        if (len < len_min || len > len_max || offset + (size_t)len > total)
            return false;
        take(out, i, bytes + offset, len);
        offset += (size_t)len;
    }
    return true;
}

static void take_int(void *out, size_t i, const void *at, int len) {
    ((int *)out)[i] = (int)signed_number(at, len);
}

static void take_big(void *out, size_t i, const void *at, int len) {
    ((int64_t *)out)[i] = signed_number(at, len);
}

static void take_uuid(void *out, size_t i, const void *at, int len) {
    memcpy(((pawl_uuid *)out)[i].b, at, (size_t)len);
}

bool pg_cell_array_ints(struct cell cell, int *numbers, size_t count) {
    return array_take(cell, count, take_int, numbers, 2, 4);
}

bool pg_cell_array_bigs(struct cell cell, int64_t *numbers, size_t count) {
    return array_take(cell, count, take_big, numbers, 8, 8);
}

bool pg_cell_array_uuids(struct cell cell, pawl_uuid *uuids, size_t count) {
    return array_take(cell, count, take_uuid, uuids, UUID_BYTES, UUID_BYTES);
}
