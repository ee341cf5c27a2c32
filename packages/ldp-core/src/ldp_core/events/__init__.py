"""What happened: the event model, the JSON lines ledger, and folding events into run state."""
