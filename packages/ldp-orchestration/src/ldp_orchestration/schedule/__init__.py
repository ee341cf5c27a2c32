"""Schedules with no service to run: a tick does what is due, and others look at it."""
