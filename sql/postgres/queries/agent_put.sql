-- agent_put: see functions/agent_put.sql
SELECT pawl.agent_put($1, $2, $3)
