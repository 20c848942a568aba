-- Reads the row of a session: the line that operators see of it in a list, as JSON; empty where there is none.
--
-- Writes nothing. Without atomicity its fields could be of two moments, under one revision.
--
-- KEYS  1 session  2 claims

return build_row(KEYS[1], KEYS[2])
