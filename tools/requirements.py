"""Prints the requirements of the package and of the named extras, one on each line."""

import sys
import tomllib
from pathlib import Path

project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]
for requirement in project["dependencies"]:
    print(requirement)
for extra in sys.argv[1:]:
    for requirement in project["optional-dependencies"][extra]:
        print(requirement)
