-- fire_delete: the fire rows of a removed schedule.
DELETE FROM schedule_fire WHERE schedule = ?1
