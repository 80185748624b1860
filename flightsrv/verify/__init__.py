"""`flightsrv verify`: every checksum, row and index entry of SSTables, held against each other."""

from flightsrv.verify.findings import Finding
from flightsrv.verify.folder import Verification, verify_folder

__all__ = ["Finding", "Verification", "verify_folder"]
