"""A page as a browser would take it apart: tags, attributes, text."""

from __future__ import annotations

from html.parser import HTMLParser

__all__ = ["Looked", "looked"]


class Looked(HTMLParser):
    """What was found in a page."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str, str]] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]

    def handle_data(self, data: str) -> None:
        self.text += data

    def values(self, name: str) -> list[str]:
        """All values of an attribute."""
        return [value for _, found, value in self.attributes if found == name]

    @property
    def words(self) -> str:
        """The text with its white space made single."""
        return " ".join(self.text.split())


def looked(page: str) -> Looked:
    """A page taken apart."""
    found = Looked()
    found.feed(str(page))  # Markup would escape what is sliced out of it
    found.close()
    return found
