"""Where is the repository whose tests run?"""

from pathlib import Path

ROOT = Path(__file__).parents[1]
