/* Writing lists and records as tables for people or JSON for programs. */
#include "view/output/output.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/error.h"
#include "base/json/json.h"
#include "base/limits.h"
#include "base/str.h"
#include "base/time/clock.h"
#include "base/uuid.h"

struct cell cell_none(void) {
    return (struct cell){.present = false};
}

struct cell cell_text(pawl_str text) {
    return (struct cell){.present = !str_absent(text), .text = text};
}

struct cell cell_cstr(const char *text) {
    return cell_text(str_from(text));
}

struct cell cell_int(int64_t number) {
    return (struct cell){.present = true, .number = number};
}

struct cell cell_bool(bool value) {
    return (struct cell){.present = true, .number = value ? 1 : 0};
}

struct cell cell_uuid(pawl_uuid uuid) {
    return (struct cell){.present = !uuid_is_nil(uuid), .uuid = uuid};
}

struct cell cell_time(int64_t wall_ms) {
    /* Paused work has no due time. */
    return (struct cell){.present = wall_ms != 0 && wall_ms != PAWL_UNTIL_RESUMED_MS, .number = wall_ms};
}

struct cell cell_duration(int64_t duration_ms) {
    return (struct cell){.present = true, .number = duration_ms};
}

void output_init(struct output *output, enum output_format format, FILE *file) {
    *output = (struct output){.file = file};
    output->format = format;
    if (format == OUTPUT_AUTO)
        output->format = isatty(fileno(file)) ? OUTPUT_TABLE : OUTPUT_JSON;
    grid_init(&output->grid);
    buf_init(&output->line, 0);
}

void output_free(struct output *output) {
    grid_free(&output->grid);
    buf_free(&output->line);
}

bool output_is_json(const struct output *output) {
    return output->format == OUTPUT_JSON || output->format == OUTPUT_NDJSON;
}

/* Columns of the terminal; 0 = no limit. COLUMNS wins, as in other programs. */
static int terminal_width(const struct output *output) {
    int64_t columns = 0;
    const char *text = getenv("COLUMNS");
    if (output->format == OUTPUT_WIDE)
        return 0;
    if (text != NULL && str_to_i64(str_from(text), 20, 10000, &columns))
        return (int)columns;
    if (!isatty(fileno(output->file)))
        return 0;
    struct winsize size = {0};
    if (ioctl(fileno(output->file), TIOCGWINSZ, &size) == 0 && size.ws_col >= 20)
        return size.ws_col;
    return 80;
}

enum { ROUNDED_MS = 10000 };

/* The two biggest units: 3m12s, 2d4h. */
static void format_span(int64_t span_ms, char *text, size_t size) {
    static const struct {
        int64_t ms;
        char unit;
    } units[] = {{86400000, 'd'}, {3600000, 'h'}, {60000, 'm'}, {1000, 's'}};
    size_t i = 0;
    if (span_ms < 1000) {
        snprintf(text, size, "%" PRId64 "ms", span_ms);
        return;
    }
    while (span_ms < units[i].ms)
        i++;
    int64_t whole = span_ms / units[i].ms;
    int64_t rest = i < 3 ? span_ms % units[i].ms / units[i + 1].ms : 0;
    if (rest > 0)
        snprintf(text, size, "%" PRId64 "%c%" PRId64 "%c", whole, units[i].unit, rest, units[i + 1].unit);
    else
        snprintf(text, size, "%" PRId64 "%c", whole, units[i].unit);
}

char *output_age(int64_t wall_ms, int64_t now_ms, char text[static OUTPUT_AGE_BYTES]) {
    char span[OUTPUT_AGE_BYTES - 8];
    int64_t age_ms = now_ms - wall_ms;
    format_span(age_ms < 0 ? -age_ms : age_ms, span, sizeof span);
    if (age_ms < 0)
        snprintf(text, OUTPUT_AGE_BYTES, "in %s", span);
    else
        snprintf(text, OUTPUT_AGE_BYTES, "%s ago", span);
    return text;
}

/* The cell as people read it, escaped. */
static void cell_show(const struct output *output, const struct column *column, const struct cell *cell,
                      struct buf *buf) {
    char text[64];
    if (!cell->present) {
        buf_append_char(buf, '-');
        return;
    }
    switch (column->type) {
    case CELL_TEXT:
    case CELL_JSON:
        grid_escape(buf, cell->text);
        return;
    case CELL_INT:
        buf_printf(buf, "%" PRId64, cell->number);
        return;
    case CELL_BOOL:
        buf_append_cstr(buf, cell->number != 0 ? "yes" : "no");
        return;
    case CELL_UUID:
        buf_append_cstr(buf, uuid_format(cell->uuid, text));
        return;
    case CELL_TIME:
        clock_format_iso(cell->number, text);
        buf_printf(buf, "%.19sZ", text);
        if (output->now_ms != 0)
            buf_printf(buf, " %s", output_age(cell->number, output->now_ms, text));
        return;
    case CELL_DURATION:
        /* Long measured durations are rounded; configured ones are shown exactly. */
        if (cell->number < ROUNDED_MS || cell->number % 1000 == 0)
            clock_format_duration(cell->number, text);
        else
            format_span(cell->number, text, sizeof text);
        buf_append_cstr(buf, text);
        return;
    }
}

static void key_with(struct json_writer *writer, const char *key, const char *suffix) {
    char name[64];
    snprintf(name, sizeof name, "%s%s", key, suffix);
    json_key(writer, name);
}

static void cell_json(struct json_writer *writer, const struct column *column, const struct cell *cell) {
    char text[64];
    switch (column->type) {
    case CELL_TIME:
        key_with(writer, column->key, "_ms");
        if (cell->present)
            json_int(writer, cell->number);
        else
            json_null(writer);
        key_with(writer, column->key, "_at");
        json_cstr(writer, cell->present ? clock_format_iso(cell->number, text) : NULL);
        return;
    case CELL_DURATION:
        key_with(writer, column->key, "_ms");
        break;
    default:
        json_key(writer, column->key);
        break;
    }
    if (!cell->present)
        json_null(writer);
    else if (column->type == CELL_TEXT)
        json_str(writer, cell->text);
    else if (column->type == CELL_JSON)
        json_raw(writer, cell->text);
    else if (column->type == CELL_UUID)
        json_cstr(writer, uuid_format(cell->uuid, text));
    else if (column->type == CELL_BOOL)
        json_bool(writer, cell->number != 0);
    else
        json_int(writer, cell->number);
}

void output_cells_json(struct buf *buf, const struct column *columns, size_t count,
                       const struct cell *cells) {
    struct json_writer writer;
    json_writer_init(&writer, buf);
    json_begin_object(&writer);
    for (size_t i = 0; i < count; i++)
        cell_json(&writer, &columns[i], &cells[i]);
    json_end_object(&writer);
}

static bool column_shown(const struct output *output, const struct column *column) {
    return column->show == SHOW_ALWAYS || (column->show == SHOW_WIDE && output->format == OUTPUT_WIDE);
}

/* What needs a person is red, what waits for something yellow, what goes well green. */
static const char *state_tone(pawl_str text) {
    static const struct {
        const char *words, *tone;
    } rows[] = {{"dead|failed|evicted|stopped|lost|firing|fault|critical", "\033[31m"},
                {"blocked|silent|paused|cancelled|pending|silenced|warning|repair|scheduled|later|waiting",
                 "\033[33m"},
                {"leased|running|active|done|completed|live|success|succeeded|ok", "\033[32m"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (str_choice(rows[i].words, text) >= 0)
            return rows[i].tone;
    return NULL;
}

static bool is_state(const char *key) {
    return strcmp(key, "state") == 0 || strcmp(key, "severity") == 0 || strcmp(key, "outcome") == 0;
}

/* https://no-color.org */
static bool colored(const struct output *output) {
    const char *no = getenv("NO_COLOR"), *term = getenv("TERM");
    return isatty(fileno(output->file)) != 0 && (no == NULL || *no == '\0') &&
           (term == NULL || strcmp(term, "dumb") != 0);
}

static void heading(struct buf *buf, const char *key) {
    for (; *key != '\0'; key++)
        buf_append_char(buf, *key == '_' ? ' ' : (char)toupper((unsigned char)*key));
}

void output_list_begin(struct output *output, const struct column *columns, size_t count) {
    output->columns = columns;
    output->column_count = count;
    output->row_count = 0;
    output->list_open = true;
    if (output_is_json(output))
        return;
    grid_reset(&output->grid);
    bool color = colored(output);
    for (size_t i = 0; i < count; i++)
        if (column_shown(output, &columns[i]))
            grid_column(&output->grid,
                        (struct grid_column){.cut = columns[i].cut && terminal_width(output) > 0,
                                             .right = columns[i].type == CELL_INT,
                                             .drop = columns[i].drop,
                                             .least = columns[i].least,
                                             .tone = color && is_state(columns[i].key) ? state_tone : NULL});
    for (size_t i = 0; i < count; i++) {
        if (!column_shown(output, &columns[i]))
            continue;
        buf_reset(&output->line);
        heading(&output->line, columns[i].key);
        grid_cell(&output->grid, buf_str(&output->line));
    }
}

/* A table may be longer than what fits into memory. */
enum { TABLE_ROWS = 1000 };

void output_list_row(struct output *output, const struct cell *cells) {
    bool first = output->row_count++ == 0;
    if (!output_is_json(output)) {
        for (size_t i = 0; i < output->column_count; i++) {
            if (!column_shown(output, &output->columns[i]))
                continue;
            buf_reset(&output->line);
            cell_show(output, &output->columns[i], &cells[i], &output->line);
            grid_cell(&output->grid, buf_str(&output->line));
        }
        if (output->row_count % TABLE_ROWS == 0 &&
            grid_print(&output->grid, output->file, terminal_width(output), &(pawl_error){0}) != PAWL_OK)
            output->grid.text.failed = true; /* which is reported at the end */
        return;
    }
    buf_reset(&output->line);
    output_cells_json(&output->line, output->columns, output->column_count, cells);
    if (output->line.failed) { /* half an object would not be JSON; the failure is reported at the end */
        output->grid.text.failed = true;
        return;
    }
    if (output->format == OUTPUT_JSON)
        fputs(first ? "[\n" : ",\n", output->file);
    fwrite(output->line.ptr, 1, output->line.len, output->file);
    if (output->format == OUTPUT_NDJSON)
        fputc('\n', output->file);
}

pawl_status output_list_end(struct output *output, const char *empty, pawl_error *err) {
    output->list_open = false;
    if (output->format == OUTPUT_JSON)
        fputs(output->row_count > 0 ? "\n]\n" : "[]\n", output->file);
    if (output_is_json(output))
        return buf_status(&output->grid.text, "output", err);
    if (output->row_count == 0) {
        fprintf(output->file, "%s\n", empty);
        return PAWL_OK;
    }
    return grid_print(&output->grid, output->file, terminal_width(output), err);
}

pawl_status output_record(struct output *output, const struct column *columns, size_t count,
                          const struct cell *cells, pawl_error *err) {
    buf_reset(&output->line);
    if (output_is_json(output)) {
        output_cells_json(&output->line, columns, count, cells);
        buf_append_char(&output->line, '\n');
    }
    size_t widest = 0;
    for (size_t i = 0; i < count; i++)
        if (columns[i].show != SHOW_JSON && strlen(columns[i].key) > widest)
            widest = strlen(columns[i].key);
    for (size_t i = 0; i < count && !output_is_json(output); i++) {
        if (columns[i].show == SHOW_JSON || !cells[i].present)
            continue;
        size_t len = strlen(columns[i].key);
        for (size_t at = 0; at < len; at++)
            buf_append_char(&output->line, columns[i].key[at] == '_' ? ' ' : columns[i].key[at]);
        buf_printf(&output->line, "%*s", (int)(widest - len + 2), "");
        cell_show(output, &columns[i], &cells[i], &output->line);
        buf_append_char(&output->line, '\n');
    }
    TRY(buf_status(&output->line, "output", err));
    fwrite(output->line.ptr, 1, output->line.len, output->file);
    return PAWL_OK;
}

void output_say(struct output *output, const char *fmt, ...) {
    if (output_is_json(output))
        return;
    va_list args;
    va_start(args, fmt);
    buf_reset(&output->line);
    buf_vprintf(&output->line, fmt, args);
    va_end(args);
    fprintf(output->file, "%s\n", output->line.ptr);
}

pawl_status output_finish(struct output *output, bool *broken, pawl_error *err) {
    /* A command that fails in the middle of a list must still produce valid JSON. */
    if (output->list_open && output->format == OUTPUT_JSON && output->row_count > 0)
        fputs("\n]\n", output->file);
    errno = 0;
    bool failed = fflush(output->file) != 0;
    int code = errno;
    if (!failed && ferror(output->file) == 0) {
        *broken = false;
        return PAWL_OK;
    }
    /* An earlier write may have failed with EPIPE without leaving an errno; try again to find out. */
    if (!failed) {
        clearerr(output->file);
        errno = 0;
        failed = fputc('\n', output->file) == EOF || fflush(output->file) != 0;
        code = failed ? errno : EIO;
    }
    if (code == EPIPE) {
        *broken = true;
        return PAWL_OK;
    }
    return error_errno(err, PAWL_UNAVAILABLE, "output", code, "cannot write to standard output");
}
