/* Finding messages by id, or by the beginning of one. */
#include "server/api/ids.h"

#include "base/error.h"
#include "base/str.h"
#include "base/uuid.h"

pawl_status ids_message(struct call *call, const char *field, pawl_uuid *id, pawl_error *err) {
    pawl_str text = call_text(call, field);
    pawl_uuid low, high;
    struct uuid_list found = {.count = 0};
    if (uuid_parse(text, id))
        return PAWL_OK;
    if (!uuid_range(text, &low, &high))
        return error_set(err, PAWL_INVALID, "id", "%s: \"%.*s\" is not the beginning of a UUID", field,
                         STR_ARG(text));
    pawl_status status =
        call->store->ops->view.message_ids(call->store, low, high, 2, call->arena, &found, err);
    if (status != PAWL_OK)
        return status;
    if (found.count == 0)
        return error_set(err, PAWL_NOT_FOUND, "id", "there is no message whose id begins with %.*s",
                         STR_ARG(text));
    if (found.count > 1)
        return error_set(err, PAWL_CONFLICT, "id",
                         "more than one id begins with %.*s: write more of it, or all of it", STR_ARG(text));
    *id = found.ids[0];
    return PAWL_OK;
}
