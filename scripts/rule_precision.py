"""How well the rules of a user are found, by language, on the labelled texts in ``tests/core/lexicon``.

A found sentence is right if it holds the main part of a labelled one, or the labelled one holds its main
part; any other is false. What is found in a text that takes a rule back is neither: to hear those is wanted
too, so they are counted on their own.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from difflib import SequenceMatcher

from gateway_compaction.core.pins.pins import find_rules
from tests.core.lexicon import CLAIMED, LATER, SKETCHED, SPLITS, Labelled, labelled

__all__ = ["Figures", "figures", "main"]

# Of the shorter of two sentences, so much in one piece is its main part.
MAIN_PART = 0.6
HEAD = ("", "n", "rules", "right", "false", "missed", "precision", "recall", "F1", "taken back")


@dataclass(slots=True)
class Figures:
    """What was found in some texts.

    Attributes:
        n: how many texts there are.
        rules: how many sentences are labelled as rules.
        right: how many found sentences are one of them.
        recalled: how many of them were found.
        withdrawals: how many texts take a rule back.
        heard: in how many of those anything was found.
        missed: the labelled rules that were not found.
        false: what was found and is no rule, each with the kind of its text.
    """

    n: int = 0
    rules: int = 0
    right: int = 0
    recalled: int = 0
    withdrawals: int = 0
    heard: int = 0
    missed: list[str] = field(default_factory=list)
    false: list[tuple[str, str]] = field(default_factory=list)

    @property
    def precision(self) -> float:
        """The share of what was found that is right; one if nothing was."""
        found = self.right + len(self.false)
        return self.right / found if found else 1.0

    @property
    def recall(self) -> float:
        """The share of the labelled rules that was found; one if there are none."""
        return self.recalled / self.rules if self.rules else 1.0

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall."""
        both = self.precision + self.recall
        return 2 * self.precision * self.recall / both if both else 0.0

    def add(self, other: Figures) -> None:
        """Count what another one counted as well."""
        for name in ("n", "rules", "right", "recalled", "withdrawals", "heard"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.missed += other.missed
        self.false += other.false


def figures(texts: Iterable[Labelled]) -> Figures:
    """Count what was found, missed and wrongly found in labelled texts."""
    told = Figures()
    for text in texts:
        found = [rule.text for rule in find_rules({"role": "user", "content": text.text})]
        told.n += 1
        told.rules += len(text.rules)
        if text.kind == "withdrawal":
            told.withdrawals += 1
            told.heard += bool(found)
            continue
        for rule in text.rules:
            if any(_same(rule, one) for one in found):
                told.recalled += 1
            else:
                told.missed.append(rule)
        for one in found:
            if any(_same(rule, one) for rule in text.rules):
                told.right += 1
            else:
                told.false.append((text.kind, one))
    return told


def _same(labelled_rule: str, found: str) -> bool:
    """Whether one of two sentences holds the main part of the other."""
    one, other = (" ".join(said.lower().split()) for said in (labelled_rule, found))
    shared = SequenceMatcher(None, one, other, autojunk=False).find_longest_match()
    return shared.size > 0 and shared.size >= MAIN_PART * min(len(one), len(other))


def _row(name: str, told: Figures) -> tuple[str, ...]:
    counts = (told.n, told.rules, told.right, len(told.false), len(told.missed))
    shares = (told.precision, told.recall, told.f1)
    taken_back = f"{told.heard}/{told.withdrawals}"
    return (name, *map(str, counts), *(f"{share:.3f}" for share in shares), taken_back)


def _table(rows: Sequence[tuple[str, ...]]) -> str:
    widths = [max(len(row[i]) for row in rows) for i in range(len(HEAD))]
    lines = []
    for row in rows:
        cells = [row[0].ljust(widths[0])]
        cells += [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
        lines.append("  ".join(cells))
    return "\n".join(lines)


def _shown(name: str, told: Figures) -> str:
    missed = [f"{name} missed: {' '.join(rule.split())}" for rule in told.missed]
    return "\n".join([*missed, *(f"{name} false ({kind}): {said}" for kind, said in told.false)])


def _as_json(told: Figures) -> dict[str, object]:
    shares = {"precision": told.precision, "recall": told.recall, "f1": told.f1}
    return {**asdict(told), **{name: round(share, 4) for name, share in shares.items()}}


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the figures of every language, of the seven that came first, and of the later ones."""
    parser = argparse.ArgumentParser(description="How well the rules of a user are found, by language.")
    parser.add_argument("--split", choices=(*SPLITS, "all"), default="all", help="which half of the texts")
    parser.add_argument("--json", action="store_true", help="print JSON, with all that was missed or false")
    parser.add_argument("--show", action="store_true", help="list all that was missed or false")
    options = parser.parse_args(arguments)
    splits = SPLITS if options.split == "all" else (options.split,)
    told: dict[str, Figures] = {}
    for group, languages in (("claimed", CLAIMED), ("later", LATER), ("sketched", SKETCHED)):
        whole = Figures()
        for language in languages:
            told[language] = figures(text for text in labelled(language) if text.split in splits)
            whole.add(told[language])
        told[group] = whole
    if options.json:
        print(json.dumps({name: _as_json(one) for name, one in told.items()}, ensure_ascii=False, indent=2))
        return
    print(_table([HEAD, *(_row(name, one) for name, one in told.items())]))
    if options.show:
        shown = [_shown(name, told[name]) for name in (*CLAIMED, *LATER, *SKETCHED)]
        print("\n" + "\n".join(part for part in shown if part))


if __name__ == "__main__":
    main()
