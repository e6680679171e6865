/* pawl-sim: runs the worlds of many seeds, or one with a readable trace, or every seeded bug until it is
 * found. */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/world/world.h"

enum { JOBS_MAX = 64, MUTANTS_MAX = 200, SHOWN_MAX = 5, TRIALS_MAX = 99, REPLAY_EVERY = 100 };

struct options {
    uint64_t seed, first, runs, kill_max;
    int jobs, trials;
    bool one, trace, all_mutants, tap, list;
    const struct mutant *mutant;
};

/* Sums over the worlds that ran. */
struct totals {
    uint64_t schedules, replayed, replay_differs, violations, steps, requests, puts, effects, accepted,
        zombie_effects, stale_refused, duplicates, losses, dead, redriven, virtual_ms, drain_ms_max,
        drain_percent_max;
    uint64_t kinds[SWARM_KINDS], faults[FAULT_COUNT];
};

/* What the hunt for the mutants found; a median of 0 = not found, or not hunted here. */
struct hunt {
    uint64_t killed, most, medians[MUTANTS_MAX];
};

/* Work of several processes: each does its stripe and says what came of it, and that is summed up. */
struct crew {
    void (*stripe)(const struct options *options, int job, void *part);
    void (*add)(void *sum, const void *part);
    void *sum, *part;
    size_t size;
};

static void add_verdict(struct totals *totals, const struct verdict *verdict) {
    totals->schedules++;
    totals->violations += verdict->violated;
    totals->steps += verdict->steps;
    totals->requests += verdict->requests;
    totals->puts += verdict->puts;
    totals->effects += verdict->effects;
    totals->accepted += verdict->accepted;
    totals->zombie_effects += verdict->zombie_effects;
    totals->stale_refused += verdict->stale_refused;
    totals->duplicates += verdict->duplicates;
    totals->losses += verdict->losses;
    totals->dead += verdict->dead;
    totals->redriven += verdict->redriven;
    totals->virtual_ms += (uint64_t)verdict->virtual_ms;
    if (verdict->drain_ms > 0 && (uint64_t)verdict->drain_ms > totals->drain_ms_max)
        totals->drain_ms_max = (uint64_t)verdict->drain_ms;
    uint64_t percent = verdict->drain_ms > 0 ? (uint64_t)(verdict->drain_ms * 100 / verdict->bound_ms) : 0;
    if (percent > totals->drain_percent_max)
        totals->drain_percent_max = percent;
    for (int i = 0; i < FAULT_COUNT; i++)
        totals->faults[i] += verdict->faults[i];
    for (int i = 0; i < SWARM_KINDS; i++)
        totals->kinds[i] += verdict->traits >> i & 1;
}

static uint64_t greater(uint64_t a, uint64_t b) { return a > b ? a : b; }

static void add_numbers(void *sum, const void *part, size_t size) {
    const uint64_t *from = part;
    uint64_t *to = sum;
    for (size_t i = 0; i < size / sizeof(uint64_t); i++)
        to[i] += from[i];
}

static void add_totals(void *sum, const void *part) {
    const struct totals before = *(struct totals *)sum, *other = part;
    struct totals *totals = sum;
    add_numbers(sum, part, sizeof(*totals));
    totals->drain_ms_max = greater(before.drain_ms_max, other->drain_ms_max);
    totals->drain_percent_max = greater(before.drain_percent_max, other->drain_percent_max);
}

static void add_hunt(void *sum, const void *part) {
    struct hunt *hunt = sum;
    uint64_t most = greater(hunt->most, ((const struct hunt *)part)->most);
    add_numbers(sum, part, sizeof(*hunt));
    hunt->most = most;
}

static void print_violation(uint64_t seed, const struct mutant *mutant, const struct verdict *verdict) {
    printf("VIOLATION %s: %s\n  replay: pawl-sim --seed %" PRIu64 "%s%s --trace\n", verdict->rule,
           verdict->text, seed, mutant != NULL ? " --mutant " : "", mutant != NULL ? mutant->name : "");
}

/* One stripe of the seeds. */
static void run_stripe(const struct options *options, int job, void *part) {
    struct totals *totals = part;
    struct world_plan plan = {.ground = ground_new(), .mutant = options->mutant};
    for (uint64_t i = (uint64_t)job; i < options->runs; i += (uint64_t)options->jobs) {
        struct verdict verdict, again;
        plan.seed = options->first + i;
        world_run(&plan, &verdict);
        add_verdict(totals, &verdict);
        if (verdict.violated && totals->violations <= SHOWN_MAX)
            print_violation(plan.seed, options->mutant, &verdict);
        if (i % REPLAY_EVERY != 0)
            continue;
        world_run(&plan, &again);
        totals->replayed++;
        if (again.hash != verdict.hash) {
            totals->replay_differs++;
            printf("REPLAY seed %" PRIu64 " gave another trace\n", plan.seed);
        }
    }
    ground_free(plan.ground);
}

static void print_totals(const struct totals *t) {
    printf("sim: schedules=%" PRIu64 " virtual_hours=%.1f steps=%" PRIu64 " requests=%" PRIu64 "\n",
           t->schedules, (double)t->virtual_ms / 3600000.0, t->steps, t->requests);
    printf("sim: puts=%" PRIu64 " effects=%" PRIu64 " accepted=%" PRIu64 " zombie_effects=%" PRIu64
           " stale_refused=%" PRIu64 " duplicates=%" PRIu64 " lost_grants=%" PRIu64 " dead=%" PRIu64
           " redriven=%" PRIu64 "\n",
           t->puts, t->effects, t->accepted, t->zombie_effects, t->stale_refused, t->duplicates, t->losses,
           t->dead, t->redriven);
    printf("sim: schedules of each kind:");
    for (int i = 0; i < SWARM_KINDS; i++)
        printf(" %s=%" PRIu64, swarm_kind_names[i], t->kinds[i]);
    printf("\nsim: faults:");
    for (int i = 0; i < FAULT_COUNT; i++)
        printf(" %s=%" PRIu64, fault_names[i], t->faults[i]);
    printf("\nsim: replayed=%" PRIu64 " replay_differs=%" PRIu64 " drain_ms_max=%" PRIu64
           " drain_percent_of_bound_max=%" PRIu64 " violations=%" PRIu64 "\n",
           t->replayed, t->replay_differs, t->drain_ms_max, t->drain_percent_max, t->violations);
}

static bool read_part(int fd, void *part, size_t size) {
    size_t got = 0;
    while (got < size) {
        ssize_t n = read(fd, (char *)part + got, size - got);
        if (n <= 0)
            return false;
        got += (size_t)n;
    }
    return true;
}

/* The child's part: its stripe, and what came of it into the pipe. */
static int child(const struct options *options, const struct crew *crew, int job, int fd) {
    crew->stripe(options, job, crew->part);
    fflush(stdout);
    ssize_t wrote = write(fd, crew->part, crew->size);
    close(fd);
    return wrote == (ssize_t)crew->size ? 0 : 1;
}

static bool run_crew(const struct options *options, const struct crew *crew) {
    int fds[JOBS_MAX];
    pid_t pids[JOBS_MAX];
    bool good = true;
    fflush(stdout);
    for (int i = 0; i < options->jobs; i++) {
        int ends[2];
        if (pipe(ends) != 0)
            return false;
        pids[i] = fork();
        if (pids[i] < 0)
            return false;
        if (pids[i] == 0) {
            close(ends[0]);
            exit(child(options, crew, i, ends[1]));
        }
        close(ends[1]);
        fds[i] = ends[0];
    }
    for (int i = 0; i < options->jobs; i++) {
        int status = 0;
        if (read_part(fds[i], crew->part, crew->size))
            crew->add(crew->sum, crew->part);
        else
            good = false;
        close(fds[i]);
        if (waitpid(pids[i], &status, 0) != pids[i] || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
            good = false;
    }
    return good;
}

static int run_many(const struct options *options) {
    struct totals totals = {0}, part = {0};
    const struct crew crew = {run_stripe, add_totals, &totals, &part, sizeof(totals)};
    bool ran = run_crew(options, &crew);
    print_totals(&totals);
    printf("figures: {\"schedules\": %" PRIu64 ", \"replayed\": %" PRIu64
           ", \"virtual_hours\": %.1f, \"worker_deaths\": %" PRIu64 ", \"stale_refused\": %" PRIu64
           ", \"violations\": %" PRIu64 "}\n",
           totals.schedules, totals.replayed, (double)totals.virtual_ms / 3600000.0,
           totals.faults[FAULT_KILL], totals.stale_refused, totals.violations + totals.replay_differs);
    bool good = ran && totals.violations == 0 && totals.replay_differs == 0 &&
                totals.schedules == options->runs;
    if (options->tap) {
        /* A fault that never struck was not tested. */
        printf("1..%d\n", FAULT_COUNT + 1);
        printf("%s - no violation in %" PRIu64 " schedules\n", good ? "ok" : "not ok", totals.schedules);
        for (int i = 0; i < FAULT_COUNT; i++) {
            printf("%s - fault %s happened\n", totals.faults[i] > 0 ? "ok" : "not ok", fault_names[i]);
            good = good && totals.faults[i] > 0;
        }
    }
    return good ? 0 : 1;
}

static int run_one(const struct options *options) {
    struct verdict verdict;
    struct world_plan plan = {ground_new(), options->seed, options->mutant, options->trace};
    world_run(&plan, &verdict);
    ground_free(plan.ground);
    struct totals totals = {0};
    add_verdict(&totals, &verdict);
    print_totals(&totals);
    printf("sim: seed=%" PRIu64 " hash=%016" PRIx64 "\n", options->seed, verdict.hash);
    if (verdict.violated)
        print_violation(options->seed, options->mutant, &verdict);
    return verdict.violated ? 1 : 0;
}

static int compare_counts(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Whether the world of the plan's seed can show its bug. */
static bool shows(const struct world_plan *plan) {
    struct swarm swarm;
    struct rng rng;
    rng_seed(&rng, plan->seed);
    swarm_draw(&swarm, &rng);
    return swarm_fits(&swarm, plan->mutant->traits, plan->mutant->faults);
}

/* How many schedules it takes to find the bug, from a first seed on; 0 = it was not found. */
static uint64_t schedules_to_kill(const struct options *options, struct world_plan plan,
                                  struct verdict *verdict) {
    for (uint64_t ran = 0; ran < options->kill_max; plan.seed++) {
        if (!shows(&plan))
            continue;
        ran++;
        world_run(&plan, verdict);
        if (verdict->violated)
            return ran;
    }
    return 0;
}

static void hunt_one(const struct options *options, struct ground *ground, size_t index, struct hunt *hunt) {
    uint64_t counts[TRIALS_MAX];
    struct verdict verdict = {0};
    bool survived = false;
    for (int trial = 0; trial < options->trials; trial++) {
        struct world_plan plan = {
            .ground = ground, .seed = options->first + (uint64_t)trial * 1000000, .mutant = mutant_at(index)};
        counts[trial] = schedules_to_kill(options, plan, &verdict);
        survived = survived || counts[trial] == 0;
    }
    qsort(counts, (size_t)options->trials, sizeof(*counts), compare_counts);
    if (options->tap)
        printf("%s %zu - ", survived ? "not ok" : "ok", index + 1);
    if (survived) {
        printf("mutant %s survived %" PRIu64 " schedules: %s\n", mutant_at(index)->name, options->kill_max,
               mutant_at(index)->what);
    } else {
        hunt->killed++;
        hunt->medians[index] = counts[options->trials / 2];
        hunt->most = greater(hunt->most, counts[options->trials - 1]);
        printf("mutant %s killed after %" PRIu64 " schedules (by %s): %s\n", mutant_at(index)->name,
               hunt->medians[index], verdict.rule, mutant_at(index)->what);
    }
    fflush(stdout);
}

static void hunt_stripe(const struct options *options, int job, void *part) {
    struct ground *ground = ground_new();
    for (size_t i = (size_t)job; i < mutant_count(); i += (size_t)options->jobs) {
        if (options->mutant == NULL || options->mutant == mutant_at(i))
            hunt_one(options, ground, i, part);
    }
    ground_free(ground);
}

static int run_mutants(const struct options *options) {
    struct hunt hunt = {0}, part = {0};
    const struct crew crew = {hunt_stripe, add_hunt, &hunt, &part, sizeof(hunt)};
    size_t hunted = options->mutant != NULL ? 1 : mutant_count();
    if (mutant_count() > MUTANTS_MAX)
        return 1;
    if (options->tap)
        printf("1..%zu\n", hunted);
    bool ran = run_crew(options, &crew);
    qsort(hunt.medians, MUTANTS_MAX, sizeof(*hunt.medians), compare_counts);
    printf("sim: mutants=%zu killed=%" PRIu64 " median_schedules_to_kill=%" PRIu64 " most=%" PRIu64 "\n",
           hunted, hunt.killed, hunt.medians[MUTANTS_MAX - 1 - hunt.killed / 2], hunt.most);
    printf("figures: {\"mutants_found\": %" PRIu64 ", \"violations\": %" PRIu64 "}\n", hunt.killed,
           hunted - hunt.killed);
    return ran && hunt.killed == hunted ? 0 : 1;
}

static void usage(FILE *to) {
    fprintf(to, "Usage: pawl-sim [--first SEED] [--runs N] [--jobs N] [--mutant NAME] [--tap]\n"
                "       pawl-sim --seed N [--mutant NAME] [--trace]\n"
                "       pawl-sim --mutants [--mutant NAME] [--kill-max N] [--trials N] [--jobs N] [--tap]\n"
                "       pawl-sim --list\n"
                "Simulates workers on SQLite in memory under faults; exits 1 when a promise was broken.\n");
}

static uint64_t number_of(const char *text) {
    char *end = NULL;
    uint64_t number = strtoull(text, &end, 10);
    if (end == text || *end != '\0') {
        fprintf(stderr, "pawl-sim: '%s' is not a number\n", text);
        exit(2);
    }
    return number;
}

static void parse(int argc, char **argv, struct options *options) {
    static const struct option known[] = {{"seed", required_argument, NULL, 's'},
                                          {"first", required_argument, NULL, 'f'},
                                          {"runs", required_argument, NULL, 'r'},
                                          {"jobs", required_argument, NULL, 'j'},
                                          {"mutant", required_argument, NULL, 'm'},
                                          {"mutants", no_argument, NULL, 'M'},
                                          {"kill-max", required_argument, NULL, 'k'},
                                          {"trials", required_argument, NULL, 'T'},
                                          {"trace", no_argument, NULL, 't'},
                                          {"tap", no_argument, NULL, 'p'},
                                          {"list", no_argument, NULL, 'l'},
                                          {"help", no_argument, NULL, 'h'},
                                          {NULL, 0, NULL, 0}};
    for (int option; (option = getopt_long(argc, argv, "h", known, NULL)) != -1;) {
        switch (option) {
        case 's':
            options->one = true;
            options->seed = number_of(optarg);
            break;
        case 'f':
            options->first = number_of(optarg);
            break;
        case 'r':
            options->runs = number_of(optarg);
            break;
        case 'j':
            options->jobs = (int)number_of(optarg);
            break;
        case 'm':
            options->mutant = mutant_find(optarg);
            if (options->mutant == NULL) {
                fprintf(stderr, "pawl-sim: no mutant '%s'; --list names them\n", optarg);
                exit(2);
            }
            break;
        case 'M':
            options->all_mutants = true;
            break;
        case 'k':
            options->kill_max = number_of(optarg);
            break;
        case 'T':
            options->trials = (int)number_of(optarg);
            break;
        case 't':
            options->trace = true;
            break;
        case 'p':
            options->tap = true;
            break;
        case 'l':
            options->list = true;
            break;
        default:
            usage(option == 'h' ? stdout : stderr);
            exit(option == 'h' ? 0 : 2);
        }
    }
}

int main(int argc, char **argv) {
    struct options options = {.first = 1, .runs = 1000, .kill_max = 5000, .jobs = 1, .trials = 1};
    parse(argc, argv, &options);
    if (optind < argc || options.jobs < 1 || options.jobs > JOBS_MAX || options.trials < 1 ||
        options.trials > TRIALS_MAX) {
        usage(stderr);
        return 2;
    }
    if (options.list) {
        for (size_t i = 0; i < mutant_count(); i++)
            printf("%-20s %s\n", mutant_at(i)->name, mutant_at(i)->what);
        return 0;
    }
    if (options.one)
        return run_one(&options);
    return options.all_mutants ? run_mutants(&options) : run_many(&options);
}
