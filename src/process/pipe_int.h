/* Shared by the files of pipes only. Everything here is guarded by the lock of its pipes. */
#ifndef PROCESS_PIPE_INT_H
#define PROCESS_PIPE_INT_H

#include <pthread.h>

#include "base/arena.h"
#include "process/lines.h"
#include "process/pipe.h"

enum pipe_state {
    PIPE_ABSENT = 0,
    PIPE_STARTING, /* it has not said that it is ready */
    PIPE_READY,
    PIPE_LEAVING /* its input has ended */
};

/* An item that a process works on; it lives in the thread that waits for it. */
struct pipe_item {
    struct pipe_item *next; /* of the same process */
    const struct pipe_call *call;
    struct pipe_answer *answer;
    struct pipe_process *process;
    int64_t id;
    pthread_cond_t changed;
    bool over;             /* answered, or its process has ended */
    bool again;            /* over: it was not to blame, and runs again … */
    bool alone;            /* … alone, because it may have been */
    enum stop_reason stop; /* it was told to end, */
    int64_t kill_at_ms;    /* and then its process is killed */
    bool to_blame;         /* its process was killed for it */
    struct buf progress;   /* not passed on yet */
};

struct pipe_process {
    struct pipe *pipe;
    enum pipe_state state;
    struct process process;
    struct lines lines;
    int at_once, taken, in_flight;
    bool retiring;                    /* it gets nothing more */
    const struct pipe_item *reserved; /* for this one, which runs alone; NULL = for any */
    bool awaits_write;                /* the loop watches its stdin */
    int64_t last_id;
    int64_t due_ms;    /* when starting, it must be ready; when leaving, it gets SIGTERM; else it has closed a
                          pipe and is killed. 0 = nothing is due */
    int64_t memory_ms; /* when its memory is looked at next */
    char fault[320];   /* what it did wrong; "" = nothing */
    struct pipe_item *items;
};

struct pipe {
    struct pipes *pipes;
    struct pipe *next;
    struct pipe_config config;
    struct arena *arena; /* owns the texts of config */
    char command[256];
    struct pipe_process *processes; /* twice processes_max: those that leave have a place, too */
    int process_count;
    int used;              /* the first of them, of which any has been started yet */
    int at_once;           /* of the process that was ready last; 0 = none was yet */
    int waiting;           /* items for which there is no room */
    int failures;          /* processes that ended in a row without completing an item */
    int64_t restart_at_ms; /* none is started before */
    char trouble[512];     /* why the last one ended */
    pthread_cond_t room;
};

struct pipes {
    pthread_mutex_t lock;
    pthread_t thread;
    struct launcher *launcher;
    struct log *log;
    struct pipe *first;
    struct arena *scratch; /* one line at a time */
    int epoll_fd, wake_fd;
    bool closing;
};

enum pipe_fd { PIPE_FD_OUT = 0, PIPE_FD_ERR, PIPE_FD_IN, PIPE_FD_PID, PIPE_FD_BITS = 3 };

/* pipe_loop.c */
void *pipe_loop_main(void *pipes);
void pipe_wake(struct pipes *pipes);
/* How many of its processes are starting or ready. */
int pipe_live(const struct pipe *pipe);
/* Writes what is pending; the loop goes on when it does not fit. */
void pipe_write(struct pipe_process *process);
/* It has done something wrong (why), or must end for an item: it is killed. */
void pipe_kill(struct pipe_process *process, const char *why);
/* It has had enough: no more items, and when it has none, the end of its input. */
void pipe_retire(struct pipe_process *process);

/* pipe_protocol.c */
void pipe_take_line(struct pipe_process *process, pawl_str line);
/* The item is no longer the process's. */
void pipe_item_over(struct pipe_item *item);

#endif
