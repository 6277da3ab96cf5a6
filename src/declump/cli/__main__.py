"""``python -m declump.cli``."""

from declump.cli import main

if __name__ == "__main__":
    main()
