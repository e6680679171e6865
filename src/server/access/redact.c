/* Hiding fields of payloads. */
#include "server/access/redact.h"

#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "base/json/json.h"
#include "base/json/tree.h"
#include "base/str.h"

pawl_status redact_parse(pawl_str text, struct redact *redact, pawl_error *err) {
    *redact = (struct redact){.all = false};
    while (text.len > 0) {
        const char *comma = memchr(text.ptr, ',', text.len);
        pawl_str word = {text.ptr, comma != NULL ? (size_t)(comma - text.ptr) : text.len};
        size_t used = comma != NULL ? word.len + 1 : word.len;
        text = (pawl_str){text.ptr + used, text.len - used};
        word = str_trim(word);
        if (str_equal_cstr(word, "*")) {
            redact->all = true;
        } else if (word.len > 0) {
            if (redact->count == REDACT_KEYS_MAX)
                return error_set(err, PAWL_INVALID, "server", "--redact names more than %d keys",
                                 REDACT_KEYS_MAX);
            redact->keys[redact->count++] = word;
        }
    }
    return PAWL_OK;
}

static bool hidden(const struct redact *redact, pawl_str key) {
    for (size_t i = 0; i < redact->count; i++)
        if (redact->keys[i].len == key.len && strncasecmp(redact->keys[i].ptr, key.ptr, key.len) == 0)
            return true;
    return false;
}

/* As deep as a tree may be: tree_parse has checked it. */
static void write_shown(struct buf *buf, const struct redact *redact, const struct tree *tree) {
    if (tree->kind != TREE_OBJECT && tree->kind != TREE_ARRAY) {
        tree_write(buf, tree);
        return;
    }
    buf_append_char(buf, tree->kind == TREE_OBJECT ? '{' : '[');
    for (size_t i = 0; i < tree->count; i++) {
        if (i > 0)
            buf_append_char(buf, ',');
        if (tree->kind == TREE_OBJECT) {
            json_quote(buf, tree->items[i]->key);
            buf_append_char(buf, ':');
        }
        if (tree->kind == TREE_OBJECT && hidden(redact, tree->items[i]->key))
            buf_append_cstr(buf, "\"***\"");
        else
            write_shown(buf, redact, tree->items[i]);
    }
    buf_append_char(buf, tree->kind == TREE_OBJECT ? '}' : ']');
}

pawl_str redact_json(struct arena *arena, const struct redact *redact, pawl_str json) {
    const struct tree *tree;
    pawl_str shown = STR("\"***\"");
    pawl_error ignored;
    if (str_absent(json) || (!redact->all && redact->count == 0))
        return json;
    if (redact->all || tree_parse(arena, json, NULL, &tree, &ignored) != PAWL_OK)
        return shown;
    AUTO_BUF(buf, 0);
    write_shown(&buf, redact, tree);
    if (buf.failed || str_dup(arena, buf_str(&buf), &shown, &ignored) != PAWL_OK)
        shown = STR("\"***\"");
    return shown;
}
