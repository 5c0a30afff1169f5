"""The only store: baselines as files, what may enter them, their noise and their names."""
