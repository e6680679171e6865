/* The members of a row: what a loop has to know of them to read, bind and show them. */
#ifndef STORE_ROW_H
#define STORE_ROW_H

#include <stddef.h>
#include <stdint.h>

#include "pawl.h"

enum member_type {
    MEMBER_NONE,
    MEMBER_INT,
    MEMBER_ENUM,
    MEMBER_BIG, /* int64_t */
    MEMBER_BOOL,
    MEMBER_TEXT,
    MEMBER_UUID
};

struct member {
    uint16_t offset;
    uint8_t type; /* enum member_type */
};

/* The type follows from the declaration in C; a member of any other type does not compile. */
#define MEMBER_TYPE(row, name)                                                                               \
    _Generic(((row *)0)->name, int                                                                           \
             : MEMBER_INT, unsigned                                                                          \
             : MEMBER_ENUM, int64_t                                                                          \
             : MEMBER_BIG, bool                                                                              \
             : MEMBER_BOOL, pawl_str                                                                         \
             : MEMBER_TEXT, pawl_uuid                                                                        \
             : MEMBER_UUID)
#define MEMBER(row, name)                                                                                    \
    { offsetof(row, name), MEMBER_TYPE(row, name) }

#endif
