"""Runs scenarios: plans, prepares the host, starts service and load, samples, records.

Knows the two binaries only through their command lines and files. Only `harness.reporting`
imports `analysis`; nothing there imports this package.
"""
