-- spine_delete: an event was passed on.
DELETE FROM spine WHERE id = ?1
