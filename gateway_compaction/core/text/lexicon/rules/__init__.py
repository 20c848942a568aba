"""The words by which standing rules are told, a file a language.

Each file holds one ``RuleWords``: what orders, what forbids, what makes an order last, what is only about
what is at hand. They stand apart from the rest of a language, since they are as many as all of it and change
most often: a rule that is pinned wrongly, or missed, is mended here. ``core.pins.rules`` weighs them. Imports
nothing.
"""
