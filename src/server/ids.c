/* Things named by an id, or by the beginning of one. */
#include "server/ids.h"

#include "base/error.h"
#include "base/str.h"
#include "base/uuid.h"

pawl_status ids_message(struct call *call, const char *field, pawl_uuid *id, pawl_error *err) {
    pawl_str text = call_text(call, field);
    if (uuid_parse(text, id))
        return PAWL_OK;
    return error_set(err, PAWL_INVALID, "id", "%s: \"%.*s\" is not a whole UUID", field, STR_ARG(text));
}
