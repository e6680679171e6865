-- instance_evict: see functions/instance_evict.sql
SELECT pawl.instance_evict($1)
