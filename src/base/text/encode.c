/* Base64 and percent-encoding. */
#include "base/text/encode.h"

#include <string.h>

#include "base/str.h"

bool base64_decode(struct buf *out, pawl_str text) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    uint32_t bits = 0;
    for (int i = 0; i < 2 && text.len > 0 && text.ptr[text.len - 1] == '='; i++)
        text.len--;
    for (size_t i = 0; i < text.len; i++) {
        const char *digit = text.ptr[i] != '\0' ? strchr(digits, text.ptr[i]) : NULL;
        if (digit == NULL)
            return false;
        bits = bits << 6 | (uint32_t)(digit - digits);
        if (i % 4 != 0) /* four digits are three bytes: one is complete after each but the first */
            buf_append_char(out, (char)(bits >> (6 - 2 * (i % 4)) & 0xFF));
    }
    return !out->failed;
}

void percent_encode(struct buf *out, pawl_str text) {
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        if (char_is_alnum(c) || (c != '\0' && strchr("-._~", c) != NULL))
            buf_append_char(out, c);
        else
            buf_printf(out, "%%%02X", (unsigned char)c);
    }
}

pawl_str percent_decode(struct arena *arena, pawl_str text) {
    char *out = arena_alloc(arena, text.len + 1);
    size_t length = 0;
    for (size_t i = 0; out != NULL && i < text.len; i++) {
        char c = text.ptr[i];
        if (c == '%') {
            int high = i + 2 < text.len ? hex_digit(text.ptr[i + 1]) : -1;
            int low = i + 2 < text.len ? hex_digit(text.ptr[i + 2]) : -1;
            if (high < 0 || low < 0)
                return (pawl_str){NULL, 0};
            c = (char)(high * 16 + low);
            i += 2;
        }
        out[length++] = c;
    }
    return (pawl_str){out, length};
}
