"""`python -m fadeout` is the `fadeout` command."""

from fadeout.cli import main

main()
