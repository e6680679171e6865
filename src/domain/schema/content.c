/* The keywords of draft-07 about text that holds other content. In 2020-12 they are only annotations. */
#include "base/json/json.h"
#include "base/limits.h"
#include "base/str.h"
#include "domain/schema/int.h"

static int base64_digit(char c) {
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

/* Appends the decoded base64 text; false if it is not base64. */
static bool schema_base64_decode(pawl_str text, struct buf *out) {
    size_t length = text.len;
    if (length % 4 != 0)
        return false;
    for (int i = 0; i < 2 && length > 0 && text.ptr[length - 1] == '='; i++)
        length--;
    uint32_t bits = 0;
    for (size_t i = 0; i < length; i++) {
        int digit = base64_digit(text.ptr[i]);
        if (digit < 0)
            return false;
        bits = bits << 6 | (uint32_t)digit;
        if (i % 4 != 0) /* four digits are three bytes: one is complete after each but the first */
            buf_append_char(out, (char)(bits >> (6 - 2 * (i % 4)) & 0xFF));
    }
    return !out->failed;
}

static bool is_base64(const struct schema_rule *rule) {
    return rule != NULL && str_equal_cstr(rule->value->text, "base64");
}

static bool wanted(const struct check *check, const struct frame *frame) {
    return check->schema->checks_formats && frame->value->kind == TREE_STRING;
}

bool judge_content_encoding(struct check *check, const struct schema_rule *rule, const struct frame *frame) {
    if (!wanted(check, frame) || !is_base64(rule))
        return true;
    struct buf decoded;
    buf_init(&decoded, 0);
    bool valid = schema_base64_decode(frame->value->text, &decoded);
    buf_free(&decoded);
    return valid || check_fault(check, rule, frame, "it must be base64");
}

bool judge_content_media_type(struct check *check, const struct schema_rule *rule,
                              const struct frame *frame) {
    if (!wanted(check, frame) || !str_equal_cstr(rule->value->text, "application/json"))
        return true;
    pawl_str text = frame->value->text;
    struct buf decoded;
    buf_init(&decoded, 0);
    if (is_base64(schema_rule_of(frame->node, "contentEncoding"))) {
        /* Text that is not base64 was already refused. */
        if (!schema_base64_decode(text, &decoded))
            text = STR("");
        else
            text = buf_str(&decoded);
    }
    bool valid = json_valid(text, PAWL_JSON_DEPTH_MAX, NULL);
    buf_free(&decoded);
    return valid || check_fault(check, rule, frame, "it must be JSON");
}
