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
    assert(params->count < PARAMS_MAX);
    int at = params->count++;
    params->types[at] = type;
    params->values[at] = value;
    params->lengths[at] = (int)len;
    params->formats[at] = 1;
}

static void *space(struct params *params, size_t bytes) {
    void *at = bytes <= INT32_MAX ? arena_alloc(params->arena, bytes) : NULL;
    if (at == NULL)
        params->failed = true;
    return at;
}

static const struct {
    Oid one, array;
    size_t bytes; /* of a text: 0 */
} types[] = {
    [MEMBER_INT] = {TYPE_INT4, TYPE_INT4_ARRAY, 4},
    [MEMBER_SMALL] = {TYPE_INT2, TYPE_INT2_ARRAY, 2},
    [MEMBER_BIG] = {TYPE_INT8, TYPE_INT8_ARRAY, 8},
    [MEMBER_BOOL] = {TYPE_BOOL, TYPE_BOOL_ARRAY, 1},
    [MEMBER_TEXT] = {TYPE_TEXT, TYPE_TEXT_ARRAY, 0},
    [MEMBER_JSON] = {TYPE_JSON, TYPE_JSON_ARRAY, 0},
    [MEMBER_UUID] = {TYPE_UUID, TYPE_UUID_ARRAY, UUID_BYTES},
};

/* How many bytes the value at this place has; false: it is NULL. */
static bool measure(enum member_type type, const void *at, size_t *bytes) {
    *bytes = types[type].bytes;
    if (type == MEMBER_TEXT || type == MEMBER_JSON) {
        *bytes = ((const pawl_str *)at)->len;
        return !str_absent(*(const pawl_str *)at);
    }
    return type != MEMBER_UUID || !uuid_is_nil(*(const pawl_uuid *)at);
}

static void encode(enum member_type type, const void *at, size_t bytes, unsigned char *out) {
    switch (type) {
    case MEMBER_INT:
        write_u32(out, (uint32_t) * (const int *)at);
        break;
    case MEMBER_SMALL:
        write_u16(out, (uint16_t) * (const int *)at);
        break;
    case MEMBER_BIG:
        write_u64(out, (uint64_t) * (const int64_t *)at);
        break;
    case MEMBER_BOOL:
        out[0] = *(const bool *)at ? 1 : 0;
        break;
    case MEMBER_TEXT:
    case MEMBER_JSON:
        if (bytes > 0)
            memcpy(out, ((const pawl_str *)at)->ptr, bytes);
        break;
    case MEMBER_UUID:
        memcpy(out, at, UUID_BYTES);
        break;
    case MEMBER_NONE:
        break;
    }
}

static void add_one(struct params *params, enum member_type type, const void *at) {
    size_t bytes = 0;
    unsigned char *copy = NULL;
    if (measure(type, at, &bytes))
        copy = space(params, bytes + 1);
    if (copy != NULL)
        encode(type, at, bytes, copy);
    add(params, types[type].one, copy, copy != NULL ? bytes : 0);
}

/* Members of structs in an array: the first one, and how far it is to the next. */
struct strided {
    const void *first;
    size_t stride;
    size_t count;
};

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

/* An array whose members are all NULL is sent as NULL, which every function takes. */
static void add_list(struct params *params, enum member_type type, struct strided list) {
    size_t total = 0, absent = 0, bytes = 0;
    for (size_t i = 0; i < list.count; i++) {
        bool given = measure(type, member(list, i), &bytes);
        absent += given ? 0 : 1;
        total += 4 + (given ? bytes : 0);
    }
    if (absent == list.count && absent > 0) {
        add(params, types[type].array, NULL, 0);
        return;
    }
    unsigned char *at = add_array(params, types[type].array, types[type].one, list.count, total);
    for (size_t i = 0; at != NULL && i < list.count; i++) {
        bool given = measure(type, member(list, i), &bytes);
        write_u32(at, given ? (uint32_t)bytes : UINT32_MAX);
        at += 4;
        if (!given)
            continue;
        encode(type, member(list, i), bytes, at);
        at += bytes;
    }
}

static void add_row(struct params *params, const struct row_shape *shape, const void *row) {
    for (size_t i = 0; i < shape->count; i++)
        add_one(params, (enum member_type)shape->members[i].type,
                (const char *)row + shape->members[i].offset);
}

static void add_rows(struct params *params, const struct row_shape *shape, const void *rows, size_t count) {
    for (size_t i = 0; i < shape->count; i++) {
        const char *first = count > 0 ? (const char *)rows + shape->members[i].offset : NULL;
        add_list(params, (enum member_type)shape->members[i].type,
                 (struct strided){first, shape->size, count});
    }
}

static void add_value(struct params *params, const struct value *value) {
    const int number = (int)value->number;
    const bool flag = value->number != 0;
    switch ((enum value_type)value->type) {
    case VALUE_SMALL:
        add_one(params, MEMBER_SMALL, &number);
        break;
    case VALUE_INT:
        add_one(params, MEMBER_INT, &number);
        break;
    case VALUE_BIG:
        add_one(params, MEMBER_BIG, &value->number);
        break;
    case VALUE_BOOL:
        add_one(params, MEMBER_BOOL, &flag);
        break;
    case VALUE_TEXT:
        add_one(params, MEMBER_TEXT, &value->text);
        break;
    case VALUE_JSON:
        add_one(params, MEMBER_JSON, &value->text);
        break;
    case VALUE_ID:
        add_one(params, MEMBER_UUID, &value->id);
        break;
    case VALUE_ROW:
        add_row(params, value->row.shape, value->row.at);
        break;
    case VALUE_ROWS:
        add_rows(params, value->row.shape, value->row.at, value->count);
        break;
    case VALUE_LIST:
        add_list(params, (enum member_type)value->of,
                 (struct strided){value->first, value->step, value->count});
        break;
    case VALUE_BLOB:
    case VALUE_NULL:
        assert(false); /* no statement here has one */
        break;
    }
}

void pg_params_add(struct params *params, const struct value *values, size_t count) {
    for (size_t i = 0; !params->ignored && i < count; i++)
        add_value(params, &values[i]);
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
    /* Who makes room for them believes it, so no more than the bytes can hold: each has at least its length.
     */
    size_t count = (size_t)read_number(array + 12, 4),
           most = ((size_t)length_of(cell) - ARRAY_HEADER_BYTES) / 4;
    return count < most ? count : most;
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
