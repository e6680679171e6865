/* Fuzzes the JSON validator against jansson, and the quoting against the validator. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/limits.h"
#include "base/utf8.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool truth) {
    if (!truth)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    pawl_str text = {(const char *)data, size};
    struct json_fault fault;
    if (json_valid(text, PAWL_JSON_DEPTH_MAX, &fault)) {
        json_error_t error;
        json_t *tree = json_loadb(text.ptr, text.len, JSON_DECODE_ANY | JSON_DECODE_INT_AS_REAL, &error);
        /* jansson also refuses numbers that a double cannot hold; everything else we accept it must accept. */
        must(tree != NULL || json_error_code(&error) == json_error_numeric_overflow);
        json_decref(tree);
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
