-- block_list_id: every block, by id.
SELECT id, chain, number, entries FROM pawl_audit_block ORDER BY id
