"""Engines that answer plans about rows where they lie; see ``ldp_quality.plan.Executor``."""
