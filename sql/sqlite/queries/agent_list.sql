-- agent_list: all agents.
SELECT name, scopes, disabled, updated_ms FROM agent ORDER BY name
