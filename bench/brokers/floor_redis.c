/* hiredis: XADD in a pipeline. */
#include <hiredis/hiredis.h>
#include <stdio.h>

#include "floor.h"

static bool take(redisContext *redis, int64_t count) {
    for (int64_t i = 0; i < count; i++) {
        redisReply *reply = NULL;
        if (redisGetReply(redis, (void **)&reply) != REDIS_OK || reply->type == REDIS_REPLY_ERROR) {
            fprintf(stderr, "redis: %s\n", reply != NULL ? reply->str : redis->errstr);
            return false;
        }
        freeReplyObject(reply);
    }
    return true;
}

bool floor_publish(const struct floor *floor) {
    redisContext *redis = redisConnect(floor->host, floor->port);
    bool good = redis != NULL && redis->err == 0;
    for (int64_t at = 0; good && at < floor->messages; at += FLOOR_WINDOW) {
        int64_t count = floor->messages - at < FLOOR_WINDOW ? floor->messages - at : FLOOR_WINDOW;
        struct floor_event event;
        for (int64_t i = 0; i < count; i++) {
            floor_event(floor, at + i, &event);
            redisAppendCommand(redis, "XADD %s * id %s event %b", floor->destination, event.id, event.json,
                               event.json_len);
        }
        good = take(redis, count);
    }
    redisFree(redis);
    return good;
}
