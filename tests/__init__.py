"""Everything that checks the product; ``lab`` holds the real servers it is checked against."""
