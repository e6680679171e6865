/* The state dump: its sections and fields, and how a row is written. */
#include "store/rows/dump.h"

#include <inttypes.h>
#include <string.h>

#include "base/json/json.h"
#include "base/str.h"
#include "base/uuid.h"

/* The name of the section, then field:form (enum dump_form). */
static const char *const sections[DUMP_SECTIONS] = {
    [DUMP_SETTINGS] = "settings partitions:i lanes:i epoch:i max_attempts:i policy:i",
    [DUMP_INSTANCE] = "instance id:u service:t kinds:i state:s beat:i lease_until:i",
    [DUMP_TOMBSTONE] = "tombstone id:u",
    [DUMP_LANE] = "lane kind:i lane:i owner:u draining:f",
    [DUMP_MESSAGE] = "message kind:i lane:i id:u stream:t type:t payload:t consumer:t put_ms:i",
    [DUMP_ASIDE] = "aside kind:i lane:i id:u stream:t attempts:i deaths:i reason:i error:e scheduled:i "
                   "out_of_order:f losses:i",
    [DUMP_HOLD] = "hold kind:i stream:t lane:i state:i due:i by:u",
    [DUMP_CLAIM] = "claim kind:i lane:i instance:u source:o suspect:i lease_until:i ids:l done:l",
    [DUMP_DEAD] = "dead kind:i lane:i id:u stream:t attempts:i deaths:i reason:i error:e died:i",
    [DUMP_DEDUPE] = "dedupe consumer:t id:u",
    [DUMP_RECEPTOR] = "receptor event:u receptor:t status:i attempts:i error:e",
    [DUMP_CHECKPOINT] = "checkpoint stream:t perspective:t version:i status:i attempts:i error:e",
    [DUMP_TALLY] = "tally kind:i put:i done:i failed:i dead:i aside:i stale:i duplicate:i redriven:i "
                   "discarded:i",
    [DUMP_HISTORY] = "history kind:i id:u",
    [DUMP_RUN] = "run key:t name:t state:i paused:f round:i partitions:i remaining:i done:i failed:i "
                 "children_open:i children_failed:i error:e",
    [DUMP_PARTITION] = "partition run:t name:t state:i paused:f job:f generation:i page:i offset:i items:i "
                       "repeats:i skipped:i cursor:t error:e",
    [DUMP_ITEM] = "item run:t key:t part:i payload:t",
};

static void put_id(struct buf *out, pawl_uuid id) {
    char text[UUID_TEXT_BYTES];
    buf_append_cstr(out, uuid_is_nil(id) ? "-" : uuid_format(id, text));
}

static void put_text(struct buf *out, pawl_str text) {
    if (str_absent(text))
        buf_append_char(out, '-');
    else
        json_quote(out, text);
}

static void put(struct buf *out, const struct dump_value *value, enum dump_form form) {
    pawl_str text = value->text;
    const char *end = form == DUMP_LINE && text.len > 0 ? memchr(text.ptr, '\n', text.len) : NULL;
    switch (form) {
    case DUMP_NUMBER:
    case DUMP_FLAG:
        buf_printf(out, "%" PRId64, value->number);
        break;
    case DUMP_ID:
        put_id(out, value->id);
        break;
    case DUMP_IDS:
        buf_append_char(out, '[');
        for (size_t i = 0; i < value->id_count; i++) {
            buf_append_cstr(out, i > 0 ? "," : "");
            put_id(out, value->ids[i]);
        }
        buf_append_char(out, ']');
        break;
    case DUMP_TEXT:
    case DUMP_LINE:
        put_text(out, end != NULL ? (pawl_str){text.ptr, (size_t)(end - text.ptr)} : text);
        break;
    case DUMP_STATE:
        buf_append_cstr(out, value->number == INSTANCE_ACTIVE ? "active" : "evicted");
        break;
    case DUMP_SOURCE:
        buf_append_cstr(out, value->number == SOURCE_MESSAGE ? "message" : "aside");
        break;
    }
}

void dump_row(struct buf *out, enum dump_section section, dump_read read, void *row) {
    const char *at = sections[section] + strcspn(sections[section], " ");
    buf_append(out, sections[section], (size_t)(at - sections[section]));
    for (int column = 0; *at == ' '; column++) {
        const char *colon = strchr(at, ':');
        struct dump_value value = read(row, column, (enum dump_form)colon[1]);
        buf_append(out, at, (size_t)(colon - at)); /* with the blank before it */
        buf_append_char(out, '=');
        put(out, &value, (enum dump_form)colon[1]);
        at = colon + 2;
    }
    buf_append_char(out, '\n');
}
