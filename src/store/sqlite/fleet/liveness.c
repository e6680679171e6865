/* The liveness lock on SQLite: holding our own, and checking those of peers. */
#include "store/sqlite/fleet/liveness.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/error.h"
#include "base/uuid.h"
#include "store/sqlite/file/row.h"
#include "store/sqlite/fleet/lane.h"

/* If a lock is absent for this long, its process is dead. */
enum { ABSENT_MS_MAX = 300 };

/* OFD locks belong to the open file, not to the process: the kernel frees them when the process dies, and two
 * stores of one process see each other's. */
struct liveness_lock {
    struct liveness_lock *next;
    pawl_uuid instance;
    int fd;
};

/* The caller frees it; NULL when out of memory. */
static char *file_of(const struct sqlite_store *store, pawl_uuid instance) {
    char id[UUID_TEXT_BYTES];
    char *path = NULL;
    if (asprintf(&path, "%s/%s.live", store->side_dir, uuid_format(instance, id)) < 0)
        return NULL;
    return path;
}

void liveness_remove_file(struct sqlite_store *store, pawl_uuid instance) {
    char *path = file_of(store, instance);
    if (path != NULL)
        (void)unlink(path); /* only for tidiness: a file without a lock means nothing */
    free(path);
}

void liveness_drop(struct sqlite_store *store) {
    while (store->liveness != NULL) {
        struct liveness_lock *lock = store->liveness;
        store->liveness = lock->next;
        liveness_remove_file(store, lock->instance);
        close(lock->fd);
        free(lock);
    }
}

/* Makes and locks the file; *held false when another process holds it. */
static pawl_status take_lock(struct operation *op, pawl_uuid instance, bool *held) {
    char *path = file_of(op->store, instance);
    struct liveness_lock *lock = calloc(1, sizeof(*lock));
    pawl_status status = PAWL_OK;
    bool keep = false;
    if (path == NULL || lock == NULL) {
        status = operation_no_memory(op);
        goto done;
    }
    lock->fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOCTTY, 0600);
    if (lock->fd < 0) {
        status = error_errno(op->err, PAWL_UNAVAILABLE, op->name, errno, "%s cannot be opened", path);
        goto done;
    }
    struct flock range = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    if (fcntl(lock->fd, F_OFD_SETLK, &range) == 0)
        keep = true;
    else if (errno != EAGAIN && errno != EACCES)
        status = error_errno(op->err, PAWL_UNAVAILABLE, op->name, errno, "%s cannot be locked", path);
    if (keep) {
        lock->instance = instance;
        lock->next = op->store->liveness;
        op->store->liveness = lock;
        *held = true;
    } else {
        close(lock->fd);
    }
done:
    if (!keep)
        free(lock);
    free(path);
    return status;
}

static pawl_status write_lock_no(struct operation *op, pawl_uuid instance) {
    return statement_run(SQL(op, SQLITE_Q_INSTANCE_LOCK_HELD, instance));
}

pawl_status sqlite_liveness_hold(struct store *store, pawl_uuid instance, bool *held, pawl_error *err) {
    struct operation op = operation_write(store, "liveness_hold", PAWL_OK, err);
    if (op.status != PAWL_OK)
        return op.status;
    bool mine = false;
    for (struct liveness_lock *lock = op.store->liveness; lock != NULL && !mine; lock = lock->next)
        mine = uuid_equal(lock->instance, instance);
    struct instance_brief brief;
    pawl_status status = instance_must_be_active(&op, instance, &brief);
    if (status == PAWL_OK && !mine)
        status = take_lock(&op, instance, &mine);
    if (status == PAWL_OK && mine)
        status = write_lock_no(&op, instance);
    return operation_give(&op, status, held, &mine);
}

/* Whether the lock is held. When that cannot be found out, the peer counts as present: its lease still
 * runs. */
static bool is_present(struct sqlite_store *store, pawl_uuid instance) {
    char *path = file_of(store, instance);
    if (path == NULL)
        return true;
    bool present = true;
    int fd = open(path, O_RDWR | O_CLOEXEC | O_NOCTTY);
    if (fd < 0) {
        present = errno != ENOENT;
    } else {
        struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
        present = fcntl(fd, F_OFD_GETLK, &lock) != 0 || lock.l_type != F_UNLCK;
        close(fd);
    }
    free(path);
    return present;
}

struct peer {
    pawl_uuid id;
    int64_t absent_since_ms; /* -1: was there when last looked at */
    bool present;
};

/* Until the peer, whose lock is gone, is believed to be dead. */
static int64_t believe_ms(const struct operation *op, const struct peer *peer) {
    return peer->absent_since_ms < 0 ? ABSENT_MS_MAX : peer->absent_since_ms + ABSENT_MS_MAX - op->now_ms;
}

LOCAL_SHAPE(peer, struct peer, M(id), M(absent_since_ms));

/* The active peers that hold a lock, or did; *change says whether anything has to be written about them. */
static pawl_status read_peers(struct operation *op, pawl_uuid self, struct row_list *peers, bool *change) {
    TRY(rows_read(SQL(op, SQLITE_Q_INSTANCE_PEERS_LOCKED, self), &peer_shape, op->scratch, peers));
    for (size_t i = 0; i < peers->count; i++) {
        struct peer *peer = (struct peer *)peers->rows + i;
        peer->present = is_present(op->store, peer->id);
        bool noted = peer->absent_since_ms >= 0;
        if (peer->present == noted || (!peer->present && believe_ms(op, peer) <= 0))
            *change = true;
    }
    return PAWL_OK;
}

static pawl_status note_absence(struct operation *op, const struct peer *peer) {
    return statement_run(
        SQL(op, SQLITE_Q_INSTANCE_ABSENT, peer->id, value_or_null(!peer->present, op->now_ms)));
}

static pawl_status judge(struct operation *op, const struct peer *peer, struct peers_look *look) {
    bool noted = peer->absent_since_ms >= 0;
    int64_t left_ms = believe_ms(op, peer);
    if (!peer->present && left_ms > 0 && (look->believe_ms < 0 || left_ms < look->believe_ms))
        look->believe_ms = left_ms;
    if (!op->writes)
        return PAWL_OK;
    if (peer->present == noted)
        return note_absence(op, peer);
    if (peer->present || left_ms > 0)
        return PAWL_OK;
    look->evicted++;
    return instance_expel(op, peer->id);
}

/* Looks inside one transaction; *change true and nothing written when a reading one found something to write.
 */
static pawl_status look(struct store *store, enum operation_mode mode, pawl_uuid instance,
                        struct peers_look *out, bool *change, pawl_error *err) {
    struct operation op = operation_begin(store, mode, "peers_look", PAWL_OK, err);
    if (op.status != PAWL_OK)
        return op.status;
    struct instance_brief brief;
    struct row_list peers = {NULL, 0};
    struct peers_look result = {.believe_ms = -1};
    pawl_status status = instance_must_be_active(&op, instance, &brief);
    if (status == PAWL_OK && op.writes)
        status = instance_expel_silent(&op, instance, &result.evicted);
    else if (status == PAWL_OK)
        status = instance_any_silent(&op, instance, change);
    if (status == PAWL_OK)
        status = read_peers(&op, instance, &peers, change);
    for (size_t i = 0; i < peers.count && status == PAWL_OK; i++)
        status = judge(&op, (const struct peer *)peers.rows + i, &result);
    if (status == PAWL_OK)
        status = lane_wanted(&op, &brief, &result.rebalance_wanted);
    return operation_give(&op, status, out, &result);
}

pawl_status sqlite_peers_look(struct store *store, pawl_uuid instance, struct peers_look *out,
                              pawl_error *err) {
    bool change = false;
    struct peers_look result;
    /* Called often and rarely finds anything, so it takes the write lock only if it does. */
    TRY(look(store, OPERATION_READ, instance, &result, &change, err));
    if (change)
        TRY(look(store, OPERATION_WRITE, instance, &result, &change, err));
    *out = result;
    return PAWL_OK;
}
