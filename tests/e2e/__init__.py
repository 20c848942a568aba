"""The product through a real proxy, a real Redis and a scripted upstream."""
