"""A gateway under load for minutes: whether memory, tasks, claims and connections stay where they are.

``python -m tests.soak`` runs it, as ``make soak`` does; ``python -m tests.soak.cancelled`` cancels 10,000
calls.
"""
