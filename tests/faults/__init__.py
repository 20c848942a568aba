"""The fault laboratory: faults on a schedule under a load of conversations, and what came of them."""
