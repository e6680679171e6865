-- schedule_delete: removes a schedule.
DELETE FROM pawl_schedule WHERE name = ?1
