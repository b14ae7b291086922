"""My own functions for the course, one a lesson."""


def ridge(peak, bandwidth):
    return peak / bandwidth


def attainable(intensity, peak, bandwidth):
    return min(peak, intensity * bandwidth)
