"""The rules of the documents that this project grew from, each as a test of the preset that follows it."""
