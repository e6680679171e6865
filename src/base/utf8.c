/* Strict UTF-8. */
#include "base/utf8.h"

static bool is_continuation(unsigned char byte) { return (byte & 0xc0) == 0x80; }

size_t utf8_decode(const char *ptr, size_t len, uint32_t *code) {
    const unsigned char *p = (const unsigned char *)ptr;
    if (len == 0)
        return 0;
    if (p[0] < 0x80) {
        *code = p[0];
        return 1;
    }
    if (p[0] >= 0xc2 && p[0] <= 0xdf) { /* c0 and c1 could only start overlong forms */
        if (len < 2 || !is_continuation(p[1]))
            return 0;
        *code = (uint32_t)(p[0] & 0x1f) << 6 | (uint32_t)(p[1] & 0x3f);
        return 2;
    }
    if (p[0] >= 0xe0 && p[0] <= 0xef) {
        if (len < 3 || !is_continuation(p[1]) || !is_continuation(p[2]))
            return 0;
        uint32_t value = (uint32_t)(p[0] & 0x0f) << 12 | (uint32_t)(p[1] & 0x3f) << 6 |
                         (uint32_t)(p[2] & 0x3f);
        if (value < 0x800 || (value >= 0xd800 && value <= 0xdfff)) /* overlong, surrogate */
            return 0;
        *code = value;
        return 3;
    }
    if (p[0] >= 0xf0 && p[0] <= 0xf4) {
        if (len < 4 || !is_continuation(p[1]) || !is_continuation(p[2]) || !is_continuation(p[3]))
            return 0;
        uint32_t value = (uint32_t)(p[0] & 0x07) << 18 | (uint32_t)(p[1] & 0x3f) << 12 |
                         (uint32_t)(p[2] & 0x3f) << 6 | (uint32_t)(p[3] & 0x3f);
        if (value < 0x10000 || value > 0x10ffff)
            return 0;
        *code = value;
        return 4;
    }
    return 0;
}

bool utf8_valid(pawl_str text, bool allow_nul, size_t *offset) {
    size_t at = 0;
    while (at < text.len) {
        uint32_t code = 0;
        size_t step = utf8_decode(text.ptr + at, text.len - at, &code);
        if (step == 0 || (code == 0 && !allow_nul)) {
            if (offset != NULL)
                *offset = at;
            return false;
        }
        at += step;
    }
    return true;
}

pawl_str utf8_cut(pawl_str text, size_t bytes_max) {
    if (text.len <= bytes_max)
        return text;
    size_t len = bytes_max;
    while (len > 0 && is_continuation((unsigned char)text.ptr[len]))
        len--;
    return (pawl_str){text.ptr, len};
}

bool utf8_is_control(uint32_t code) { return code < 0x20 || (code >= 0x7f && code <= 0x9f); }
