/* Another opinion on JSON: jansson's. In a file of its own because its names clash with ours. */
#include "oracle_jansson.h"

#include <jansson.h>

bool oracle_accepts(const char *text, size_t len) {
    json_error_t error;
    json_t *tree = json_loadb(text, len, JSON_DECODE_ANY | JSON_DECODE_INT_AS_REAL, &error);
    /* Numbers that a double cannot hold are refused by jansson and kept as text by us. */
    bool accepted = tree != NULL || json_error_code(&error) == json_error_numeric_overflow;
    json_decref(tree);
    return accepted;
}
