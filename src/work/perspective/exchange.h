/* What a worker and the store tell each other about the streams that perspectives lag behind. */
#ifndef WORK_PERSPECTIVE_EXCHANGE_H
#define WORK_PERSPECTIVE_EXCHANGE_H

#include "store/store.h"

struct perspectives_exchange {
    pawl_uuid instance;
    const struct checkpoint_ref *renewals;
    size_t renewal_count;
    const struct checkpoint_report *reports;
    size_t report_count;
    int claim_max; /* 0 = nothing is claimed */
    int64_t lease_ms;
};

struct perspectives_answer {
    struct answer_list renewed; /* of each renewal */
    /* What can be applied now. Without a token: whatever is due of a perspective inside the store, which
     * claims, applies and moves in one transaction and leases nothing. */
    struct checkpoint_grant *granted;
    size_t count;
    bool more; /* ask again at once */
};

#endif
