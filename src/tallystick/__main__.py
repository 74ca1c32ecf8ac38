"""`python -m tallystick` is the command line."""

from tallystick.cli import main

if __name__ == "__main__":
    main()
