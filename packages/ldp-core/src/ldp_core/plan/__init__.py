"""A config and the state of its target, as the stages that ``run`` executes and ``plan`` explains."""
