"""What rows show: numbers about each column, and the contract that they suggest."""
