"""Small networks as ONNX files."""

import json
from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from fadeout.gym._controller import SETTINGS_KEY

LIMIT = 10.0
"""Largest absolute value of a feature at the input of a policy."""

Layer = tuple[Any, Any]
"""The weights of a layer, an array of its inputs and outputs, and its biases."""


def save_network(
    path: str | PathLike[str],
    layers: Sequence[Layer],
    settings: Mapping[str, Any] | None = None,
    *,
    limit: float = LIMIT,
) -> None:
    """Writes a network of dense layers as an ONNX file, for `fadeout.gym.controller`.

    The inputs are limited to the range from -`limit` to `limit`. The function between two layers is
    the hyperbolic tangent. The output is limited to -1 to 1. The same layers give the same file.

    Args:
        path: the file.
        layers: weights and biases of each layer. The weights have a row for each input.
        settings: arguments of `controller`, which are written as metadata.
        limit: the largest absolute value of an input.

    Raises:
        ImportError: the package onnx is missing.
        ValueError: the sizes of layers do not fit, or a weight is not a number.
        OSError: the file cannot be written.
    """
    try:
        import onnx
    except ImportError as error:
        raise ImportError("save_network needs the package onnx; pip install onnx") from error
    helper, floats = onnx.helper, onnx.TensorProto.FLOAT

    def constant(name: str, values: Any) -> Any:  # noqa: ANN401
        array = np.asarray(values, np.float32)
        return helper.make_tensor(name, floats, array.shape, array.reshape(-1).tolist())

    arrays = _checked(layers)
    constants = [constant("low", -limit), constant("high", limit)]
    nodes = [helper.make_node("Clip", ["observation", "low", "high"], ["value-0"])]
    for number, (weights, biases) in enumerate(arrays, 1):
        constants += [constant(f"weights-{number}", weights), constant(f"biases-{number}", biases)]
        inputs = [f"value-{number - 1}", f"weights-{number}", f"biases-{number}"]
        is_last = number == len(arrays)
        out = f"value-{number}"
        nodes.append(helper.make_node("Gemm", inputs, [out if is_last else f"sum-{number}"]))
        if not is_last:
            nodes.append(helper.make_node("Tanh", [f"sum-{number}"], [out]))
    constants += [constant("least", -1), constant("most", 1)]
    nodes.append(helper.make_node("Clip", [f"value-{len(arrays)}", "least", "most"], ["action"]))
    shapes = [None, arrays[0][0].shape[0]], [None, arrays[-1][0].shape[1]]
    graph = helper.make_graph(
        nodes,
        "policy",
        [helper.make_tensor_value_info("observation", floats, shapes[0])],
        [helper.make_tensor_value_info("action", floats, shapes[1])],
        constants,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 8
    helper.set_model_props(model, {SETTINGS_KEY: json.dumps(dict(settings or {}))})
    Path(path).write_bytes(model.SerializeToString(deterministic=True))


def _checked(layers: Sequence[Layer]) -> list[tuple[np.ndarray, np.ndarray]]:
    """Returns the layers as arrays."""
    if not layers:
        raise ValueError("there is no layer; expected at least one")
    arrays = [tuple(np.asarray(part, np.float32) for part in layer) for layer in layers]
    width = arrays[0][0].shape[0] if arrays[0][0].ndim == 2 else 0
    for number, (weights, biases) in enumerate(arrays, 1):
        if weights.ndim != 2 or weights.shape[0] != width or biases.shape != weights.shape[1:]:
            raise ValueError(
                f"layer {number} has weights of the shape {weights.shape} and biases of the shape "
                f"{biases.shape}; expected ({width}, n) and (n,)"
            )
        if not (np.isfinite(weights).all() and np.isfinite(biases).all()):
            raise ValueError(f"layer {number} has a weight that is NaN or infinite")
        width = weights.shape[1]
    return arrays  # pyright: ignore[reportReturnType]
