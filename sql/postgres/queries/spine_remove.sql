-- spine_remove: see functions/spine_remove.sql
SELECT pawl.spine_remove($1)
