-- sweep_fires: fire rows older than a week that the schedule has passed.
DELETE FROM pawl_schedule_fire WHERE (schedule, instant_ms) IN (
    SELECT f.schedule, f.instant_ms FROM pawl_schedule_fire f JOIN pawl_schedule s ON s.name = f.schedule
     WHERE f.fired_ms < ?1 - 604800000 AND f.instant_ms <= s.last_ms LIMIT ?2)
