-- refused_delete: forget a refused message.
-- params: number
DELETE FROM pawl_refused WHERE number = ?1
