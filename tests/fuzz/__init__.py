"""Random steps against a model: the life of sessions, what stands in Redis, and the operators' API.

``make test`` plays some thousand steps, ``make fuzz`` as many as ``FUZZ_STEPS`` says.
"""
