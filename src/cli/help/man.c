/* The manual page, made from the tables of commands, flags and options. */
#include "cli/help/man.h"

#include <string.h>

#include "base/utf8.h"
#include "cli/command.h"
#include "cli/exit_codes.h"
#include "cli/help/help.h"

enum { MAN_LINE_BYTES = 72 };

/* Of the version; a page that changed with every build could not be reproduced. */
#define MAN_DATE "2026-11-16"

/* Appends len bytes so that roff shows them as they are; everything beyond ASCII by its number. */
static void escape(struct buf *buf, const char *text, size_t len) {
    while (len > 0) {
        uint32_t point = 0;
        size_t used = utf8_decode(text, len, &point);
        if (used == 0)
            return; /* the tables are valid UTF-8 */
        if (point == '\\')
            buf_append_cstr(buf, "\\e");
        else if (point == '-')
            buf_append_cstr(buf, "\\-");
        else if (point == '\'')
            buf_append_cstr(buf, "\\(aq");
        else if (point == '"')
            buf_append_cstr(buf, "\\(dq");
        else if (point < 0x80)
            buf_append_char(buf, (char)point);
        else
            buf_printf(buf, "\\[u%04X]", (unsigned)point);
        text += used;
        len -= used;
    }
}

/* One line of roff; a dot at its start would be a request. */
static void line(struct buf *buf, const char *text, size_t len) {
    if (len > 0 && *text == '.')
        buf_append_cstr(buf, "\\&");
    escape(buf, text, len);
    buf_append_char(buf, '\n');
}

/* Prose: filled by roff, broken here only because long input lines are bad style. */
static void filled(struct buf *buf, const char *text, size_t len) {
    while (len > 0) {
        size_t used = len;
        if (len > MAN_LINE_BYTES) {
            used = MAN_LINE_BYTES;
            while (used > 0 && text[used] != ' ')
                used--;
            if (used == 0)
                used = strcspn(text, " \n") < len ? strcspn(text, " \n") : len; /* one long word */
        }
        line(buf, text, used);
        while (used < len && text[used] == ' ')
            used++;
        text += used;
        len -= used;
    }
}

/* Paragraphs, one per line; lines that begin with a blank are shown as they are. */
static void paragraphs(struct buf *buf, const char *text) {
    bool literal = false;
    bool first = true;
    while (*text != '\0') {
        size_t len = strcspn(text, "\n");
        bool indented = *text == ' ';
        if (len > 0 && indented != literal)
            buf_append_cstr(buf, indented ? ".PP\n.nf\n" : ".fi\n");
        if (len > 0 && !indented && !first)
            buf_append_cstr(buf, ".PP\n");
        if (len > 0) {
            literal = indented;
            first = false;
        }
        if (indented)
            line(buf, text, len);
        else
            filled(buf, text, len);
        text += len;
        if (*text == '\n')
            text++;
    }
    if (literal)
        buf_append_cstr(buf, ".fi\n");
}

static void prose(struct buf *buf, const char *text) { filled(buf, text, strlen(text)); }

static void examples(struct buf *buf, const char *text) {
    buf_append_cstr(buf, ".PP\n.RS 4\n.nf\n");
    while (*text != '\0') {
        size_t len = strcspn(text, "\n");
        if (len > 0)
            line(buf, text, len);
        text += len;
        if (*text == '\n')
            text++;
    }
    buf_append_cstr(buf, ".fi\n.RE\n");
}

/* A tagged paragraph: the tag in bold, what it means below. */
static void tagged(struct buf *buf, const char *tag, const char *text) {
    buf_append_cstr(buf, ".TP\n\\fB");
    escape(buf, tag, strlen(tag));
    buf_append_cstr(buf, "\\fR\n");
    prose(buf, text);
}

static void command(struct buf *buf, const struct operation *row) {
    AUTO_BUF(usage, 0);
    help_usage(&usage, row);
    buf_append_cstr(buf, ".SS \"");
    escape(buf, usage.ptr, usage.len);
    buf_append_cstr(buf, "\"\n");
    buf_reset(&usage);
    buf_printf(&usage, "%s.", row->summary);
    prose(buf, usage.ptr);
    if (row->details != NULL) {
        buf_append_cstr(buf, ".PP\n");
        paragraphs(buf, row->details);
    }
    help_entries(buf, row, row->options, tagged);
    if (row->example != NULL)
        examples(buf, row->example);
}

static void environment(struct buf *buf) {
    char flag[OPTION_FLAG_BYTES];
    for (int id = 0; id < OPTION_COUNT; id++) {
        const struct option_row *row = &option_rows[id];
        if (row->environment == NULL)
            continue;
        AUTO_BUF(name, 0);
        AUTO_BUF(text, 0);
        buf_append_cstr(&name, row->environment);
        if (row->alias != NULL)
            buf_printf(&name, ", %s", row->alias);
        buf_printf(&text, "The same as %s. %s", options_flag(row, flag), row->help);
        tagged(buf, name.ptr, text.ptr);
    }
}

static void exit_status(struct buf *buf) {
    for (size_t i = 0; i < exit_codes_count; i++) {
        buf_printf(buf, ".TP\n\\fB%d\\fR\n", exit_codes[i].code);
        AUTO_BUF(text, 0);
        buf_printf(&text, "%s: %s.", exit_codes[i].name, exit_codes[i].meaning);
        prose(buf, text.ptr);
    }
}

void man_page(struct buf *buf) {
    buf_append_cstr(buf, ".TH PAWL 1 \"" MAN_DATE "\" \"pawl " PAWL_VERSION "\" \"User Commands\"\n"
                         ".SH NAME\npawl \\- durable work coordination on SQLite and PostgreSQL\n"
                         ".SH SYNOPSIS\n\\fBpawl\\fR \\fICOMMAND\\fR [\\fIWORD\\fR]... [\\fIOPTION\\fR]...\n"
                         ".SH DESCRIPTION\n");
    paragraphs(buf,
               "pawl coordinates durable work: messages in order per stream, jobs, schedules, pipelines, "
               "events with perspectives, and partitioned runs.\n"
               "The database is --database-url or DATABASE_URL, otherwise the SQLite file pawl.db in the "
               "current directory. Output is a table on a terminal and JSON elsewhere; -o decides.");
    buf_append_cstr(buf, ".SH OPTIONS\nThese belong to every command.\n");
    help_entries(buf, NULL, OPTION_BITS_COMMON, tagged);
    buf_append_cstr(buf, ".SH COMMANDS\n");
    for (size_t i = 0; command_at(i) != NULL; i++)
        command(buf, command_at(i));
    buf_append_cstr(buf, ".SH EXIT STATUS\n");
    exit_status(buf);
    buf_append_cstr(buf, ".SH ENVIRONMENT\n");
    paragraphs(buf, "A flag beats the environment, which beats the configuration file, which beats the "
                    "default.");
    environment(buf);
    buf_append_cstr(buf, ".SH FILES\n.TP\n\\fIpawl.db\\fR\n");
    prose(buf, "The SQLite database that is used when no other is named.");
}
