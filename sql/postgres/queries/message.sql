-- message: putting and receiving messages, their lanes, and pauses.

-- name: pause_clear
SELECT pawl.pause_clear($1, $2)

-- name: pause_set
SELECT pawl.pause_set($1, $2, $3, $4)

-- name: put
SELECT pawl.put($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)

-- name: put_one
SELECT pawl.put_one($1, $2, $3, $4, $5, $6, $7, $8, $9)

-- name: receive_many
SELECT pawl.receive_many($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)

-- name: refuse_many
SELECT pawl.refuse_many($1, $2, $3, $4, $5, $6, $7, $8, $9)

-- name: refused_remove
SELECT pawl.refused_remove($1)

-- name: view_pauses
SELECT v.* FROM pawl.view_pauses() v

-- name: view_refused
SELECT v.* FROM pawl.view_refused($1, $2) v
