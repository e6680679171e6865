-- schedule_delete: removes a schedule.
DELETE FROM schedule WHERE name = ?1
