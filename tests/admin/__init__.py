"""Tests of the API that the plugin mounts on the proxy."""
