"""Partitions that become coarser once they are old."""
