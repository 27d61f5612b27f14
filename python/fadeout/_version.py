"""The version and the build, from the native module: one place for both languages."""

from fadeout import _native

__version__: str = _native.build_info()["version"]


def describe_build() -> str:
    """Version and build in one line, as `fadeout --version` prints it."""
    info = _native.build_info()
    # The compiler says its own name.
    details = ", ".join(
        value if value.startswith(f"{key} ") else f"{key} {value}"
        for key, value in info.items()
        if key != "version"
    )
    return f"fadeout {info['version']}" + (f" ({details})" if details else "")
