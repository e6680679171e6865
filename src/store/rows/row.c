/* A list of rows, given to its caller. */
#include "store/row.h"

#include <string.h>

static const struct member number_member = {0, MEMBER_BIG};
static const struct member id_member = {0, MEMBER_UUID};
static const struct member text_member = {0, MEMBER_TEXT};
const struct row_shape number_shape = {&number_member, 1, sizeof(int64_t)};
const struct row_shape id_shape = {&id_member, 1, sizeof(pawl_uuid)};
const struct row_shape text_shape = {&text_member, 1, sizeof(pawl_str)};

void rows_give(struct row_list list, int64_t now_ms, struct rows_out out) {
    memcpy(out.rows, &list.rows, sizeof list.rows);
    *out.count = list.count;
    if (out.now_ms != NULL)
        *out.now_ms = now_ms;
}
