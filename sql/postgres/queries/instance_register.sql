-- instance_register: see functions/instance_register.sql
SELECT r.now_ms, r.lease_until_ms, r.epoch, r.lanes_owned
  FROM pawl.instance_register($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) r
