/* The parameters of a statement as a list of values, each of the type that it has in C. */
#ifndef STORE_ROWS_VALUE_H
#define STORE_ROWS_VALUE_H

#include "base/uuid.h"
#include "store/row.h"

enum value_type {
    VALUE_NULL,
    VALUE_SMALL, /* an enum */
    VALUE_INT,
    VALUE_BIG,
    VALUE_BOOL,
    VALUE_TEXT, /* absent is NULL */
    VALUE_JSON,
    VALUE_BLOB,
    VALUE_ID,
    VALUE_ROW,  /* a parameter for each member */
    VALUE_ROWS, /* an array for each member; PostgreSQL only, as is the next */
    VALUE_LIST  /* an array of one member of the structs of an array */
};

struct value {
    uint8_t type;   /* enum value_type */
    uint8_t of;     /* of a list: enum member_type */
    uint16_t step;  /* of a list: from one to the next */
    uint32_t count; /* of rows and a list */
    union {
        int64_t number;
        pawl_str text;
        pawl_uuid id;
        struct {
            const struct row_shape *shape;
            const void *at;
        } row;
        const void *first;
    };
};

static inline struct value value_enum(unsigned number) {
    return (struct value){.type = VALUE_SMALL, .number = number};
}
static inline struct value value_int(int number) {
    return (struct value){.type = VALUE_INT, .number = number};
}
static inline struct value value_big(int64_t number) {
    return (struct value){.type = VALUE_BIG, .number = number};
}
static inline struct value value_size(size_t number) { return value_big((int64_t)number); }
static inline struct value value_bool(bool flag) {
    return (struct value){.type = VALUE_BOOL, .number = flag};
}
static inline struct value value_text(pawl_str text) {
    return (struct value){.type = VALUE_TEXT, .text = text};
}
static inline struct value value_id(pawl_uuid id) { return (struct value){.type = VALUE_ID, .id = id}; }
static inline struct value value_itself(struct value value) { return value; }

#define VALUE(x)                                                                                             \
    _Generic((x), unsigned                                                                                   \
             : value_enum, int                                                                               \
             : value_int, int64_t                                                                            \
             : value_big, long long                                                                          \
             : value_big, size_t                                                                             \
             : value_size, bool                                                                              \
             : value_bool, pawl_str                                                                          \
             : value_text, pawl_uuid                                                                         \
             : value_id, struct value                                                                        \
             : value_itself)(x)

/* Values that the type alone does not tell. */
#define JSON_OF(json) ((struct value){.type = VALUE_JSON, .text = (json)})
#define BLOB(bytes, size) ((struct value){.type = VALUE_BLOB, .text = {(const char *)(bytes), (size)}})
static inline struct value value_or_null(bool given, int64_t number) {
    return given ? value_big(number) : (struct value){.type = VALUE_NULL};
}
static inline struct value id_or_null(pawl_uuid id) {
    return !uuid_is_nil(id) ? value_id(id) : (struct value){.type = VALUE_NULL};
}
#define ROW_OF(shape_of, row_at) ((struct value){.type = VALUE_ROW, .row = {&(shape_of), (row_at)}})
#define ROWS_OF(shape_of, rows_at, n)                                                                        \
    ((struct value){.type = VALUE_ROWS, .count = (uint32_t)(n), .row = {&(shape_of), (rows_at)}})

/* The member of each struct of an array, or an array of values itself; an enum as in two bytes. */
#define LIST_TYPE(x)                                                                                         \
    _Generic((x), unsigned                                                                                   \
             : MEMBER_SMALL, int                                                                             \
             : MEMBER_INT, int64_t                                                                           \
             : MEMBER_BIG, pawl_str                                                                          \
             : MEMBER_TEXT, pawl_uuid                                                                        \
             : MEMBER_UUID)
#define LIST_AS(member_type, array, n, ...)                                                                  \
    ((struct value){.type = VALUE_LIST,                                                                      \
                    .of = (member_type),                                                                     \
                    .step = sizeof *(array),                                                                 \
                    .count = (uint32_t)(n),                                                                  \
                    .first = (n) > 0 ? &(array)[0] __VA_ARGS__ : NULL})
#define LIST_OF(array, member, n) LIST_AS(LIST_TYPE((array)[0].member), array, n, .member)
#define JSONS_OF(array, member, n) LIST_AS(MEMBER_JSON, array, n, .member)
#define SMALLS(array, n) LIST_AS(MEMBER_SMALL, array, n, )
#define LIST(array, n) LIST_AS(LIST_TYPE((array)[0]), array, n, )

/* VALUES(a, b, ...): the list and its length. */
#define VALUE_OF(ignored, x) VALUE(x)
#define NO_VALUES NULL, 0
#ifdef PAWL_CPPCHECK /* which cannot read _Generic */
#define VALUES(...) NULL, 0
#else
#define VALUES(...) (const struct value[]){EACH(VALUE_OF, , __VA_ARGS__)}, EACH_COUNT(__VA_ARGS__)
#endif

#endif
