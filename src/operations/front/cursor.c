/* Encoding and decoding cursors of lists. */
#include "operations/front/cursor.h"

#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/str.h"
#include "base/utf8.h"

enum { SUM_CHARACTERS = 12, CURSOR_KEY_BYTES_MAX = 1024 };

static bool sum_of(struct arena *arena, pawl_str scope, pawl_str key, char sum[static SHA256_TEXT_BYTES]) {
    pawl_error ignored;
    const char *text = arena_printf(arena, "cursor 1\n%.*s\n%.*s", STR_ARG(scope), STR_ARG(key));
    return text != NULL && sha256_hex(str_from(text), sum, &ignored) == PAWL_OK;
}

const char *cursor_make(struct arena *arena, pawl_str scope, pawl_str key) {
    char sum[SHA256_TEXT_BYTES];
    char *text = arena_alloc(arena, SUM_CHARACTERS + 2 * key.len + 1);
    if (text == NULL || !sum_of(arena, scope, key, sum))
        return NULL;
    memcpy(text, sum, SUM_CHARACTERS);
    for (size_t i = 0; i < key.len; i++)
        snprintf(text + SUM_CHARACTERS + 2 * i, 3, "%02x", (unsigned char)key.ptr[i]);
    return text;
}

bool cursor_read(struct arena *arena, pawl_str scope, pawl_str text, pawl_str *key) {
    char sum[SHA256_TEXT_BYTES];
    if (text.len < SUM_CHARACTERS || text.len % 2 != 0 ||
        text.len > SUM_CHARACTERS + 2 * CURSOR_KEY_BYTES_MAX)
        return false;
    size_t len = (text.len - SUM_CHARACTERS) / 2;
    char *bytes = arena_alloc(arena, len + 1);
    for (size_t i = 0; bytes != NULL && i < len; i++) {
        int high = hex_digit(text.ptr[SUM_CHARACTERS + 2 * i]);
        int low = hex_digit(text.ptr[SUM_CHARACTERS + 2 * i + 1]);
        if (high < 0 || low < 0)
            return false;
        bytes[i] = (char)(high * 16 + low);
    }
    pawl_str made = {bytes, len};
    if (bytes == NULL || !utf8_valid(made, false, NULL) || !sum_of(arena, scope, made, sum) ||
        memcmp(sum, text.ptr, SUM_CHARACTERS) != 0)
        return false;
    *key = made;
    return true;
}
