/* Sums over the last minutes, from which alerts compute rates. */
#include <string.h>

#include "base/limits.h"
#include "base/str.h"
#include "domain/alert.h"

enum { FIELDS = 5, SAMPLE_APART_MS = PAWL_ALERT_WINDOW_MS / (ALERT_WINDOW_SAMPLES - 10) };

/* The next number of the text, which ends at a blank; false when there is none. */
static bool next_number(pawl_str *text, int64_t *number) {
    size_t len = 0;
    while (len < text->len && text->ptr[len] != ' ' && text->ptr[len] != '\n')
        len++;
    bool found = str_to_i64((pawl_str){text->ptr, len}, INT64_MIN, INT64_MAX, number);
    size_t used = len < text->len ? len + 1 : len;
    *text = (pawl_str){text->ptr + used, text->len - used};
    return found;
}

void alert_window_read(struct alert_window *window, pawl_str text) {
    window->count = 0;
    while (text.len > 0 && window->count < ALERT_WINDOW_SAMPLES) {
        int64_t fields[FIELDS] = {0};
        for (int i = 0; i < FIELDS; i++) {
            if (!next_number(&text, &fields[i]))
                return;
        }
        window->samples[window->count++] =
            (struct alert_totals){fields[0], fields[1], fields[2], fields[3], fields[4]};
    }
}

void alert_window_write(const struct alert_window *window, struct buf *text) {
    for (size_t i = 0; i < window->count; i++) {
        const struct alert_totals *sample = &window->samples[i];
        buf_printf(text, "%lld %lld %lld %lld %lld\n", (long long)sample->at_ms, (long long)sample->done,
                   (long long)sample->failed, (long long)sample->lost, (long long)sample->stale);
    }
}

void alert_window_add(struct alert_window *window, const struct alert_totals *now) {
    size_t old = 0;
    /* The newest sample that is at least a window old is the baseline of the sums. */
    while (old + 1 < window->count && now->at_ms - window->samples[old + 1].at_ms >= PAWL_ALERT_WINDOW_MS)
        old++;
    if (old == 0 && window->count == ALERT_WINDOW_SAMPLES)
        old = 1;
    memmove(window->samples, window->samples + old, (window->count - old) * sizeof *window->samples);
    window->count -= old;
    if (window->count > 0 && now->at_ms - window->samples[window->count - 1].at_ms < SAMPLE_APART_MS)
        return;
    window->samples[window->count++] = *now;
}

static int64_t more(int64_t now, int64_t before) { return now > before ? now - before : 0; }

struct alert_totals alert_window_sums(const struct alert_window *window, const struct alert_totals *now) {
    if (window->count == 0)
        return (struct alert_totals){.at_ms = now->at_ms};
    const struct alert_totals *first = &window->samples[0];
    return (struct alert_totals){.at_ms = first->at_ms,
                                 .done = more(now->done, first->done),
                                 .failed = more(now->failed, first->failed),
                                 .lost = more(now->lost, first->lost),
                                 .stale = more(now->stale, first->stale)};
}
