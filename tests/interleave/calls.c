/* The SQL functions as texts to send. */
#include "interleave/calls.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Ids whose last eight digits are the number. */
static const char *instance_id(struct scene *scene, int n) {
    return text(scene, "01900000-0000-7000-8000-aa00%08x", (unsigned)n);
}

static const char *message_id(struct scene *scene, int n) {
    return text(scene, "01900000-0000-7000-8000-0100%08x", (unsigned)n);
}

static const char *request_id(struct scene *scene, int n) {
    return n == 0 ? "NULL" : text(scene, "'01900000-0000-7000-8000-ee00%08x'", (unsigned)n);
}

void join_lease(struct scene *scene, int n, int lease_ms) {
    run(scene, scene->observer,
        text(scene,
             "SELECT now_ms FROM pawl_internal.instance_register('%s', 'orders', 'host', 1, NULL, 2, %d, 0, "
             "0)",
             instance_id(scene, n), lease_ms));
}

void join(struct scene *scene, int n) { join_lease(scene, n, 86400000); }

const char *sql_beat(struct scene *scene, int n) {
    return text(scene, "SELECT taken || '/' || given || '/' || evicted FROM pawl_internal.heartbeat('%s')",
                instance_id(scene, n));
}

const char *sql_evict(struct scene *scene, int n) {
    return text(scene, "SELECT pawl_internal.instance_evict('%s')", instance_id(scene, n));
}

const char *sql_send(struct scene *scene, int n, const char *stream) {
    return text(scene, "SELECT pawl.send('T', '{\"n\":%d}', '%s', id => '%s')", n, stream,
                message_id(scene, n));
}

const char *sql_send_request(struct scene *scene, int n, const char *stream, int request) {
    return text(scene,
                "SELECT pawl_internal.put(1::smallint, ARRAY['%s']::uuid[], ARRAY['%s'], "
                "p_types => ARRAY['T'], p_payloads => ARRAY['{}']::json[], p_request => %s)",
                message_id(scene, n), stream, request_id(scene, request));
}

void send_now(struct scene *scene, int n, const char *stream) {
    run(scene, scene->observer, sql_send(scene, n, stream));
}

const char *sql_claim_request(struct scene *scene, int instance, int max, int request) {
    return text(
        scene,
        "SELECT coalesce(string_agg(('x' || right(i.id::text, 8))::bit(32)::integer || '@' || i.token, ' ' "
        "ORDER BY i.ordinality), '') "
        "FROM pawl_internal.%s('%s', 1::smallint, %d, %d, 0::smallint, 0, %s%s) WITH ORDINALITY AS i",
        scene->by_lane ? "claim_lane" : "claim", instance_id(scene, instance), max, LEASE_MS,
        request_id(scene, request), scene->by_lane ? ", 0" : "");
}

const char *sql_claim(struct scene *scene, int instance, int max) {
    return sql_claim_request(scene, instance, max, 0);
}

const char *numbers(struct scene *scene, const char *grant) {
    char *copy = arena_strdup(scene->arena, grant);
    char *to = copy;
    for (const char *from = grant; *from != '\0';) {
        if (*from == '@')
            from += strcspn(from, " ");
        else
            *to++ = *from++;
    }
    *to = '\0';
    return copy;
}

long long token_of(struct scene *scene, const char *grant, int n) {
    const char *wanted = text(scene, " %d@", n);
    const char *padded = text(scene, " %s", grant);
    const char *found = strstr(padded, wanted);
    if (found == NULL)
        fail_msg("message %d was not granted: %s", n, grant);
    return strtoll(found + strlen(wanted), NULL, 10);
}

const char *sql_complete(struct scene *scene, int instance, const char *grant, int n) {
    return text(
        scene,
        "SELECT pawl_internal.complete('%s', 1::smallint, ARRAY[%lld]::bigint[], ARRAY['%s']::uuid[], "
        "ARRAY[4], false)",
        instance_id(scene, instance), token_of(scene, grant, n), message_id(scene, n));
}

const char *sql_finish(struct scene *scene, long long token, int n) {
    return text(scene, "SELECT pawl_internal.finish(1::smallint, %lld, '%s')", token, message_id(scene, n));
}

const char *sql_fail(struct scene *scene, int instance, const char *grant, int n, bool for_good, int policy) {
    return text(
        scene,
        "SELECT answers FROM pawl_internal.fail('%s', 1::smallint, ARRAY[%lld]::bigint[], "
        "ARRAY['%s']::uuid[], "
        "ARRAY['broken'], ARRAY[%d]::smallint[], ARRAY[0]::bigint[], ARRAY[%d]::smallint[], ARRAY[0])",
        instance_id(scene, instance), token_of(scene, grant, n), message_id(scene, n), for_good ? 2 : 1,
        policy);
}

const char *sql_release(struct scene *scene, int instance, const char *grant, int n) {
    return text(scene,
                "SELECT pawl_internal.release('%s', 1::smallint, ARRAY[%lld]::bigint[], ARRAY['%s']::uuid[], "
                "ARRAY[0]::bigint[])",
                instance_id(scene, instance), token_of(scene, grant, n), message_id(scene, n));
}

const char *sql_renew(struct scene *scene, int instance, const char *grant, int n) {
    return text(
        scene,
        "SELECT pawl_internal.renew('%s', 1::smallint, ARRAY[%lld]::bigint[], ARRAY['%s']::uuid[], %d)",
        instance_id(scene, instance), token_of(scene, grant, n), message_id(scene, n), LEASE_MS);
}

const char *sql_redrive(struct scene *scene, int n) {
    return text(scene,
                "SELECT pawl_internal.dead_redrive(ARRAY[1]::smallint[], ARRAY[(SELECT d.seq FROM "
                "pawl_internal.dead d WHERE "
                "d.id = '%s')])",
                message_id(scene, n));
}

void refused(struct scene *scene, int instance, const char *grant, int n) {
    assert_string_equal(run(scene, scene->observer, sql_complete(scene, instance, grant, n)), STALE);
    assert_string_equal(run(scene, scene->observer, sql_fail(scene, instance, grant, n, false, 0)), STALE);
    assert_string_equal(run(scene, scene->observer, sql_release(scene, instance, grant, n)), STALE);
    assert_string_equal(run(scene, scene->observer, sql_renew(scene, instance, grant, n)), STALE);
}

const char *where_is(struct scene *scene, int n) {
    const char *id = message_id(scene, n);
    return run(scene, scene->observer,
               text(scene,
                    "SELECT coalesce((SELECT 'message' FROM pawl_internal.live_message WHERE id = '%s'), "
                    "(SELECT 'aside a' || attempts || ' d' || deaths || ' l' || losses FROM "
                    "pawl_internal.aside WHERE "
                    "id = '%s'), "
                    "(SELECT 'dead a' || attempts || ' d' || deaths FROM pawl_internal.dead WHERE id = "
                    "'%s'), 'gone')",
                    id, id, id));
}

const char *lane_owner(struct scene *scene) {
    return run(scene, scene->observer,
               "SELECT coalesce((('x' || right(owner::text, 8))::bit(32)::integer)::text, 'free') || "
               "CASE WHEN draining THEN ' draining' ELSE '' END FROM pawl_internal.lane WHERE kind = 1 AND "
               "lane = 0");
}
