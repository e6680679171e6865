/* libnats: asynchronous JetStream publishes with message ids. */
#include <nats/nats.h>
#include <stdio.h>
#include <string.h>

#include "floor.h"

enum { WAIT_MS = 60000 };

static natsStatus send_event(jsCtx *js, const struct floor *floor, const struct floor_event *event) {
    natsMsg *message = NULL;
    struct floor_attribute attributes[FLOOR_ATTRIBUTES];
    floor_attributes(event, attributes);
    natsStatus status =
        natsMsg_Create(&message, floor->destination, NULL, event->data, (int)strlen(event->data));
    for (int i = 0; i < FLOOR_ATTRIBUTES && status == NATS_OK; i++) {
        char name[48];
        snprintf(name, sizeof(name), "ce-%s", attributes[i].name);
        status = natsMsgHeader_Set(message, name, attributes[i].value);
    }
    jsPubOptions options;
    jsPubOptions_Init(&options);
    options.MsgId = event->id;
    options.MaxWait = WAIT_MS;
    if (status == NATS_OK)
        status = js_PublishMsgAsync(js, &message, &options);
    natsMsg_Destroy(message);
    return status;
}

bool floor_publish(const struct floor *floor) {
    natsConnection *connection = NULL;
    jsCtx *js = NULL;
    jsOptions options;
    char url[128];
    snprintf(url, sizeof(url), "nats://%s:%d", floor->host, floor->port);
    jsOptions_Init(&options);
    options.PublishAsync.MaxPending = FLOOR_WINDOW;
    natsStatus status = natsConnection_ConnectTo(&connection, url);
    if (status == NATS_OK)
        status = natsConnection_JetStream(&js, connection, &options);
    for (int64_t i = 0; i < floor->messages && status == NATS_OK; i++) {
        struct floor_event event;
        floor_event(floor, i, &event);
        status = send_event(js, floor, &event);
    }
    jsPubOptions last;
    jsPubOptions_Init(&last);
    last.MaxWait = WAIT_MS;
    if (status == NATS_OK)
        status = js_PublishAsyncComplete(js, &last);
    if (status != NATS_OK)
        fprintf(stderr, "nats: %s\n", natsStatus_GetText(status));
    jsCtx_Destroy(js);
    natsConnection_Destroy(connection);
    nats_Close();
    return status == NATS_OK;
}
