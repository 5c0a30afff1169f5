"""Operators that come with pytest-rmsperf, one folder each."""
