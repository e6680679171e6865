-- instance_deregister: see functions/instance_deregister.sql
SELECT pawl.instance_deregister($1)
