/* The shapes of alerts: rules, turns, changes and deliveries. */
#include "store/rows/shapes.h"

SHAPE(alert, struct alert_row, M(rule.name), M(rule.metric), M(rule.summary), M(rule.targets),
      SMALL(rule.side), SMALL(rule.severity), M(rule.threshold), M(rule.clear_threshold), M(rule.for_ms),
      M(rule.clear_ms), M(rule.enabled), M(rule.version), M(rule.updated_ms), M(state.phase),
      M(state.since_ms), M(state.turning_ms), M(state.told), M(state.value), M(silence_until_ms),
      M(silence_reason), M(silence_by));
/* The rule alone: as it is kept, and as it is put. */
SHAPE_FIRST(alert_rule, struct alert_row, alert, 13);
SHAPE_FIRST(alert_rule_new, struct alert_row, alert, 12);
SHAPE(alert_silence, struct alert_silence, M(name), M(until_ms), M(reason), M(actor));
SHAPE(alert_turn, struct alert_turn, M(taken), M(token), M(now_ms), M(next_ms), M(window), M(due));
SHAPE(alert_verdict, struct alert_verdict, M(rule), M(version), SMALL(state.phase), M(state.since_ms),
      M(state.turning_ms), M(state.told), M(state.value));
SHAPE(alert_change, struct alert_change, M(number), M(id), M(rule), M(event), M(value), M(at_ms), M(detail),
      M(waiting), M(delivered), M(failed), M(error));
/* Without its deliveries. */
SHAPE_WITHOUT(alert_told, struct alert_change, alert_change, 4);
SHAPE(alert_change_new, struct alert_change, M(id), M(rule), SMALL(event), M(value), M(detail));
SHAPE(alert_delivery, struct alert_delivery, M(change), M(target));
SHAPE(alert_notice, struct alert_notice, M(number), M(token), M(attempt), M(change.number), M(change.id),
      M(change.rule), M(change.event), M(change.value), M(change.at_ms), M(change.detail), M(age_ms));
