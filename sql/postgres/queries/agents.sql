-- agents: see functions/agents.sql
SELECT * FROM pawl.agents()
