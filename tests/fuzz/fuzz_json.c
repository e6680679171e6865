/* Fuzzes the JSON validator against jansson, and the quoting against the validator. */
#include <string.h>

#include "base/json/json.h"
#include "base/limits.h"
#include "fuzz.h"
#include "oracle_jansson.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    pawl_str text = {(const char *)data, size};
    struct json_fault fault;
    if (json_valid(text, PAWL_JSON_DEPTH_MAX, &fault)) {
        must(oracle_accepts(text.ptr, text.len));
    } else {
        must(fault.offset <= size && fault.reason != NULL);
    }

    struct buf quoted;
    buf_init(&quoted, 0);
    json_quote(&quoted, text);
    must(!quoted.failed);
    pawl_str result = buf_str(&quoted);
    if (memchr(data, 0, size) == NULL) /* a NUL byte is written as the escape that the validator refuses */
        must(json_valid(result, PAWL_JSON_DEPTH_MAX, NULL));
    buf_free(&quoted);
    return 0;
}
