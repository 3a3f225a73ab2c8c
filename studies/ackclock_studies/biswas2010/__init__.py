"""Biswas et al. (2010): window validation after silence and after limited periods (RFC 2861)."""

from __future__ import annotations

from ackclock.studies.framework.study import listed

FIGURES = {
    "f1": "The window over time, with and without validation",
    "f3": "Received rate, mixed flows, 1.5 s of silence",
    "f4": "Received rate, alike flows, 1.5 s of silence",
    "f5": "Drop rate, alike flows, 1.5 s of silence",
    "f6": "Received rate on the long path, 2 s of silence",
    "f7": "Drop rate on the long path, 2 s of silence",
    "f8": "Delay from application to application, 25 flows",
    "f9": "Received rate, mixed flows, 5 s at 12 kbit/s",
    "f10": "Received rate, alike flows, 5 s at 12 kbit/s",
    "f11": "Drop rate, alike flows, 5 s at 12 kbit/s",
    "silence": "From half a second to half a minute of silence",
    "limits": "From half a second to five seconds at 12 kbit/s",
    "choices": "What the paper leaves open",
    "trade": "Rate against drops: every rule, Reno and CUBIC",
    "video": "Video over HTTP: four-second segments",
    "live": "On real packets: the kernel's restart, on and off",
    "linux": "On Linux in virtual time: figures 1 and 3 to 11, and table 3",
}

STUDY = listed(
    __name__,
    key="biswas2010",
    title="Analysing TCP for bursty traffic",
    citation=(
        "I. Biswas, A. Sathiaseelan, R. Secchi and G. Fairhurst, “Analysing TCP for Bursty "
        "Traffic”, Int. J. Communications, Network and System Sciences 3, 2010."
    ),
    figures=FIGURES,
)
