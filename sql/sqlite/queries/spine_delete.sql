-- spine_delete: an event was passed on.
DELETE FROM pawl_spine WHERE id = ?1
