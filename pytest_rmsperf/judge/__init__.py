"""The judge: measurements and thresholds in, a verdict with its reason out. Pure."""
