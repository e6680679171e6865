/* Writing a row by its description: what a differential compares has every member of it. */
#include "conformance/differential/say_shape.h"

#include <inttypes.h>

#include "base/str.h"
#include "base/uuid.h"

void say_shape(struct buf *said, const struct row_shape *shape, const void *row) {
    char id[UUID_TEXT_BYTES];
    for (size_t i = 0; i < shape->count; i++) {
        const void *at = (const char *)row + shape->members[i].offset;
        switch ((enum member_type)shape->members[i].type) {
        case MEMBER_INT:
        case MEMBER_SMALL:
            buf_printf(said, " %d", *(const int *)at);
            break;
        case MEMBER_BIG:
            buf_printf(said, " %" PRId64, *(const int64_t *)at);
            break;
        case MEMBER_BOOL:
            buf_printf(said, " %d", *(const bool *)at);
            break;
        case MEMBER_TEXT:
        case MEMBER_JSON:
            if (str_absent(*(const pawl_str *)at))
                buf_append_cstr(said, " -");
            else
                buf_printf(said, " '%.*s'", STR_ARG(*(const pawl_str *)at));
            break;
        case MEMBER_UUID:
            buf_printf(said, " %s", uuid_format(*(const pawl_uuid *)at, id));
            break;
        case MEMBER_NONE:
            break;
        }
    }
}
