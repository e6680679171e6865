/* Things named by an id, or by the beginning of one. */
#include "server/ids.h"

#include <string.h>

#include "base/error.h"
#include "base/str.h"
#include "base/uuid.h"

/* The lowest and the highest id that begin with the text. */
static bool range_of(pawl_str text, pawl_uuid *low, pawl_uuid *high) {
    static const char form[] = "00000000-0000-0000-0000-000000000000";
    char lows[UUID_TEXT_BYTES], highs[UUID_TEXT_BYTES];
    for (size_t i = 0; i < sizeof form - 1; i++) {
        lows[i] = i < text.len ? text.ptr[i] : form[i];
        highs[i] = i < text.len ? text.ptr[i] : (char)(form[i] == '-' ? '-' : 'f');
    }
    pawl_str from = {lows, sizeof form - 1}, to = {highs, sizeof form - 1};
    return uuid_parse(from, low) && uuid_parse(to, high);
}

pawl_status ids_message(struct call *call, const char *field, pawl_uuid *id, pawl_error *err) {
    pawl_str text = call_text(call, field);
    pawl_uuid low, high;
    struct uuid_list found = {.count = 0};
    if (uuid_parse(text, id))
        return PAWL_OK;
    if (!range_of(text, &low, &high))
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
