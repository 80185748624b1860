"""`flightsrv`, or `python -m flightsrv`."""

from flightsrv.cli import main

if __name__ == "__main__":
    main()
