"""Tokens: the only place that counts them.

Messages and texts come in, numbers go out: ``counter`` counts and remembers, ``estimate`` says what a
message consists of and what it embeds costs, ``pictures`` what a picture does, ``calibration`` by how much an
encoding is off for a model, ``session_surplus`` by how much the count of one conversation is. Counted in two
places, a view that fits by one count would be too long by the other.

Its words: *raw* tokens are those of the encoding; *calibrated* ones are raw tokens times the model's
*factor*, which is learned from the usage that providers report; a *family* of models shares an encoding
and a first factor; a *measure* is a request's count, part by part; the *reserve* is kept free for the
answer. Imports ``conversation``.
"""
