/* The frame of every floor: reads the setting, times the publishing, prints one line of JSON. */
#include "floor.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define TIME "2026-01-02T03:04:05.678Z"

void floor_event(const struct floor *floor, int64_t number, struct floor_event *event) {
    snprintf(event->id, sizeof(event->id), "%08x-0000-7000-8000-%012" PRIx64, floor->run, (uint64_t)number);
    snprintf(event->stream, sizeof(event->stream), "order-%" PRId64, number % floor->streams);
    snprintf(event->sequence, sizeof(event->sequence), "%" PRId64, number + 1);
    snprintf(event->data, sizeof(event->data),
             "{\"n\":%" PRId64 ",\"sku\":\"A-1009\",\"quantity\":3,\"note\":\"as agreed\"}", number);
    event->json_len = (size_t)snprintf(event->json, sizeof(event->json),
                                       "{\"specversion\":\"1.0\",\"id\":\"%s\",\"source\":\"/pawl/"
                                       "bench\",\"type\":\"" FLOOR_TYPE "\",\"time\":\"" TIME
                                       "\",\"datacontenttype\":\"application/"
                                       "json\",\"partitionkey\":\"%s\",\"sequence\":\"%s\",\"data\":%s}",
                                       event->id, event->stream, event->sequence, event->data);
}

void floor_attributes(const struct floor_event *event, struct floor_attribute out[static FLOOR_ATTRIBUTES]) {
    const struct floor_attribute all[FLOOR_ATTRIBUTES] = {
        {"specversion", "1.0"},       {"id", event->id}, {"source", "/pawl/bench"},
        {"type", FLOOR_TYPE},         {"time", TIME},    {"partitionkey", event->stream},
        {"sequence", event->sequence}};
    for (int i = 0; i < FLOOR_ATTRIBUTES; i++)
        out[i] = all[i];
}

static double now_s(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

int main(int argc, char **argv) {
    if (argc != 6) {
        fprintf(stderr, "usage: %s HOST PORT DESTINATION MESSAGES STREAMS\n", argv[0]);
        return 64;
    }
    struct floor floor = {.host = argv[1],
                          .port = (int)strtol(argv[2], NULL, 10),
                          .destination = argv[3],
                          .messages = strtoll(argv[4], NULL, 10),
                          .streams = strtoll(argv[5], NULL, 10),
                          .run = (unsigned)time(NULL) ^ ((unsigned)getpid() << 16)};
    double begin_s = now_s();
    if (floor.messages < 1 || floor.streams < 1 || !floor_publish(&floor))
        return 1;
    double seconds = now_s() - begin_s;
    printf("{\"items\": %" PRId64 ", \"seconds\": %.6f, \"rate\": %.1f}\n", floor.messages, seconds,
           (double)floor.messages / seconds);
    return 0;
}
