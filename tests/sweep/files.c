/* Calls of the file system that fail: the nth that SQLite makes, once, from then on, as a full disk, or as
 * the death of the process. */
#include <signal.h>
#include <sqlite3.h>
#include <unistd.h>

#include "support/check.h"
#include "sweep/sweep.h"

enum { TABLES_MAX = 6 };
enum deed { DEED_ONCE, DEED_ON, DEED_FULL, DEED_KILL };

static struct {
    sqlite3_vfs vfs, *real;
    /* SQLite has a table of methods per way of locking; each gets a copy with methods replaced. */
    const sqlite3_io_methods *real_methods[TABLES_MAX];
    sqlite3_io_methods methods[TABLES_MAX];
    enum deed deed;
    long left; /* -1: none fails */
    bool fired;
} fault = {.left = -1};

static bool fails(void) {
    if (fault.left < 0)
        return false;
    if (fault.left > 0) {
        fault.left--;
        return false;
    }
    if (fault.fired && fault.deed == DEED_ONCE)
        return false;
    fault.fired = true;
    return true;
}

/* Before it happens. */
static bool fails_whole(void) {
    bool failed = fails();
    if (failed && fault.deed == DEED_KILL)
        (void)kill(getpid(), SIGKILL);
    return failed;
}

static const sqlite3_io_methods *below(const sqlite3_file *file) {
    return fault.real_methods[file->pMethods - fault.methods];
}

static int fault_write(sqlite3_file *file, const void *from, int len, sqlite3_int64 at) {
    if (!fails())
        return below(file)->xWrite(file, from, len, at);
    (void)below(file)->xWrite(file, from, len / 2, at); /* half of it is there */
    if (fault.deed == DEED_KILL)
        (void)kill(getpid(), SIGKILL);
    return fault.deed == DEED_FULL ? SQLITE_FULL : SQLITE_IOERR_WRITE;
}

static int fault_read(sqlite3_file *file, void *to, int len, sqlite3_int64 at) {
    bool failed = fault.deed != DEED_FULL && fails_whole();
    return failed ? SQLITE_IOERR_READ : below(file)->xRead(file, to, len, at);
}

static int fault_sync(sqlite3_file *file, int flags) {
    return fails_whole() ? SQLITE_IOERR_FSYNC : below(file)->xSync(file, flags);
}

static int fault_truncate(sqlite3_file *file, sqlite3_int64 size) {
    return fails_whole() ? SQLITE_IOERR_TRUNCATE : below(file)->xTruncate(file, size);
}

static int fault_size(sqlite3_file *file, sqlite3_int64 *size) {
    bool failed = fault.deed != DEED_FULL && fails_whole();
    return failed ? SQLITE_IOERR_FSTAT : below(file)->xFileSize(file, size);
}

static int fault_lock(sqlite3_file *file, int level) {
    bool failed = fault.deed != DEED_FULL && fails_whole();
    return failed ? SQLITE_IOERR_LOCK : below(file)->xLock(file, level);
}

/* Nobody asks whether a lock was given back. */
static int fault_shm_lock(sqlite3_file *file, int offset, int n, int flags) {
    bool failed = fault.deed != DEED_FULL && (flags & SQLITE_SHM_LOCK) != 0 && fails_whole();
    return failed ? SQLITE_IOERR_SHMLOCK : below(file)->xShmLock(file, offset, n, flags);
}

static int fault_shm_map(sqlite3_file *file, int page, int size, int extend, void volatile **to) {
    return fails_whole() ? SQLITE_IOERR_SHMMAP : below(file)->xShmMap(file, page, size, extend, to);
}

static int fault_delete(sqlite3_vfs *vfs, const char *name, int sync) {
    (void)vfs;
    return fails_whole() ? SQLITE_IOERR_DELETE : fault.real->xDelete(fault.real, name, sync);
}

/* The file is the real one's; only its table of methods is ours. */
static int fault_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *out) {
    (void)vfs;
    file->pMethods = NULL;
    if (fails_whole())
        return SQLITE_CANTOPEN;
    int rc = fault.real->xOpen(fault.real, name, file, flags, out);
    if (rc != SQLITE_OK || file->pMethods == NULL)
        return rc;
    int i = 0;
    while (i < TABLES_MAX && fault.real_methods[i] != NULL && fault.real_methods[i] != file->pMethods)
        i++;
    assert_true(i < TABLES_MAX);
    fault.real_methods[i] = file->pMethods;
    fault.methods[i] = *file->pMethods;
    fault.methods[i].xWrite = fault_write;
    fault.methods[i].xRead = fault_read;
    fault.methods[i].xSync = fault_sync;
    fault.methods[i].xTruncate = fault_truncate;
    fault.methods[i].xFileSize = fault_size;
    fault.methods[i].xLock = fault_lock;
    fault.methods[i].xShmLock = fault_shm_lock;
    fault.methods[i].xShmMap = fault_shm_map;
    file->pMethods = &fault.methods[i];
    return rc;
}

static bool begin(void) {
    fault.real = sqlite3_vfs_find(NULL);
    fault.vfs = *fault.real;
    fault.vfs.pNext = NULL;
    fault.vfs.zName = "fault";
    fault.vfs.xOpen = fault_open;
    fault.vfs.xDelete = fault_delete;
    return sqlite3_vfs_register(&fault.vfs, 1) == SQLITE_OK;
}

static void arm(enum deed deed, long nth) {
    fault.deed = deed;
    fault.fired = false;
    fault.left = nth;
}

static void arm_once(long nth) { arm(DEED_ONCE, nth); }
static void arm_on(long nth) { arm(DEED_ON, nth); }
static void arm_full(long nth) { arm(DEED_FULL, nth); }
static void arm_kill(long nth) { arm(DEED_KILL, nth); }

static bool disarm(void) {
    fault.left = -1;
    return fault.fired;
}

#define WAY(text, armed, kill)                                                                               \
    {                                                                                                        \
        .name = text, .begin = begin, .arm = armed, .disarm = disarm, .statuses = 1U << PAWL_UNAVAILABLE,    \
        .kills = kill                                                                                        \
    }
const struct sweep_way sweep_ways_files[] = {
    WAY("files", arm_once, false),
    WAY("files_on", arm_on, false),
    WAY("files_full", arm_full, false),
    WAY("files_kill", arm_kill, true),
    {.name = NULL},
};
