"""The sections of a config's ``metadata`` that the core understands."""
