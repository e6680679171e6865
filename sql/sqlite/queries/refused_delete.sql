-- refused_delete: forget a refused message.
-- params: number
DELETE FROM refused WHERE number = ?1
