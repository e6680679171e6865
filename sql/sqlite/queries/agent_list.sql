-- agent_list: all agents.
SELECT name, scopes, disabled, updated_ms FROM pawl_agent ORDER BY name
