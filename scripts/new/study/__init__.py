"""Probe: TODO the paper in one line."""

from __future__ import annotations

from ackclock.studies.framework.study import listed

FIGURES = {"utilisation": "TODO the figure of the paper"}


STUDY = listed(
    __name__,
    key="probe",
    title="TODO the title of the study",
    citation="TODO authors, title, conference or journal, year.",
    figures=FIGURES,
)
