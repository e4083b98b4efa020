"""Trials to verdicts, charts and reports. Knows only the files of a run, never the programs."""
