/* Strict UTF-8. */
#include "base/utf8.h"

static bool is_continuation(unsigned char byte) { return (byte & 0xc0) == 0x80; }

size_t utf8_decode(const char *ptr, size_t len, uint32_t *code) {
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000}; /* by width */
    const unsigned char *p = (const unsigned char *)ptr;
    if (len == 0)
        return 0;
    if (p[0] < 0x80) {
        *code = p[0];
        return 1;
    }
    /* c0 and c1 could only start overlong forms */
    size_t width = p[0] < 0xc2 ? 0 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : p[0] < 0xf5 ? 4 : 0;
    if (width == 0 || len < width)
        return 0;
    uint32_t value = p[0] & (0x7fu >> width);
    for (size_t i = 1; i < width; i++) {
        if (!is_continuation(p[i]))
            return 0;
        value = value << 6 | (p[i] & 0x3f);
    }
    if (value < least[width] || (value >= 0xd800 && value <= 0xdfff) || value > 0x10ffff)
        return 0; /* overlong, a surrogate, beyond Unicode */
    *code = value;
    return width;
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

size_t utf8_length(pawl_str text) {
    size_t length = 0;
    for (size_t i = 0; i < text.len; i++)
        length += !is_continuation((unsigned char)text.ptr[i]);
    return length;
}

bool utf8_is_control(uint32_t code) { return code < 0x20 || (code >= 0x7f && code <= 0x9f); }
