"""The framework of studies: claims and verdicts, parts, statistics, reports, live runs."""
