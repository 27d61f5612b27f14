"""The version and the build, which the native module has for both languages."""

from fadeout import _native

__version__: str = _native.build_info()["version"]


def describe_build() -> str:
    """Returns version and build in one line, as printed by `fadeout --version`."""
    info = _native.build_info()
    # The compiler's text includes its own name.
    details = ", ".join(
        value if value.startswith(f"{key} ") else f"{key} {value}"
        for key, value in info.items()
        if key != "version"
    )
    return f"fadeout {info['version']}" + (f" ({details})" if details else "")
