-- Reads what one request can use of a session. Writes nothing. Returns what read_session returns.
--
-- KEYS  1 compactions  2 claims  3 session
-- ARGV  1 the first 16 characters of every digest of the request, each between line feeds

return read_session(KEYS[1], KEYS[2], KEYS[3], ARGV[1])
