-- fire_delete: the fire rows of a removed schedule.
DELETE FROM pawl_schedule_fire WHERE schedule = ?1
