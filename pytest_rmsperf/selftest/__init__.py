"""Proof that the gate fires on this machine: faults are planted, and each must be told rightly."""
