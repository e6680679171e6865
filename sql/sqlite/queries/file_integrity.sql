-- file_integrity: as file_damage, and whether every index has what its table has.
SELECT c.integrity_check FROM pragma_integrity_check(1) c WHERE c.integrity_check <> 'ok'
