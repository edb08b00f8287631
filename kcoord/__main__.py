"""The entry point of `python -m kcoord`."""

from kcoord.cli import main

if __name__ == "__main__":
    main()
