"""Settings of all tests."""

from hypothesis import HealthCheck, settings

# A law's time says nothing on a machine that does other things too; faulthandler_timeout still ends what hangs.
settings.register_profile("laws", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("laws")
