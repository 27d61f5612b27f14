"""Comparison of the types in `_native.pyi` with the compiled module."""

import ast
import inspect
import types
from functools import cache
from typing import Any

import pytest

import fadeout
from conftest import ROOT, SCENARIO
from fadeout import _native

LINK_INFO = SCENARIO + 'link-info = { link = "access", prediction = "50 ms" }\n'


@cache
def stub() -> dict[str, ast.ClassDef | ast.FunctionDef]:
    """Returns the declarations of the stub by name."""
    tree = ast.parse((ROOT / "python/fadeout/_native.pyi").read_text(encoding="utf-8"))
    declared = [node for node in tree.body if isinstance(node, ast.ClassDef | ast.FunctionDef)]
    return {node.name: node for node in declared}


def attributes(declared: ast.ClassDef) -> dict[str, str]:
    """Returns the types of a stub class's attributes: properties, and annotated names."""
    found = {}
    for node in declared.body:
        if isinstance(node, ast.FunctionDef):
            if not node.decorator_list:
                continue
            assert node.returns is not None, node.name
            found[node.name] = ast.unparse(node.returns)
        elif isinstance(node, ast.AnnAssign):
            found[ast.unparse(node.target)] = ast.unparse(node.annotation)
    return found


def getters(kind: type) -> set[str]:
    """Returns the names of the attributes that the module computes."""
    return {
        name
        for name, value in vars(kind).items()
        if isinstance(value, types.GetSetDescriptorType) and not name.startswith("__")
    }


def classes_with_getters() -> list[str]:
    return [
        name for name, value in vars(_native).items() if isinstance(value, type) and getters(value)
    ]


def is_made_by_users(name: str) -> bool:
    """Returns True if the class has a constructor."""
    declared = stub()[name]
    assert isinstance(declared, ast.ClassDef)
    return any(
        isinstance(node, ast.FunctionDef) and node.name == "__init__" for node in declared.body
    )


def test_the_stub_declares_what_the_module_offers():
    offered = {name for name in vars(_native) if not name.startswith("_")}
    typed_dicts = {"ErrorDetail", "Outcome"}
    assert offered == set(stub()) - typed_dicts


@pytest.mark.parametrize("name", classes_with_getters())
def test_a_class_has_the_attributes_of_the_stub_and_they_are_documented(name: str):
    declared = stub()[name]
    assert isinstance(declared, ast.ClassDef)
    assert getters(getattr(_native, name)) == set(attributes(declared))
    for node in declared.body:
        if isinstance(node, ast.FunctionDef) and node.name != "__init__":
            assert ast.get_docstring(node), f"{name}.{node.name}"


@pytest.mark.parametrize(
    "name", [name for name, value in vars(_native).items() if inspect.isbuiltin(value)]
)
def test_a_function_takes_the_arguments_of_the_stub(name: str):
    declared = stub()[name]
    assert isinstance(declared, ast.FunctionDef)
    given = inspect.signature(getattr(_native, name)).parameters.values()
    positional = [each.name for each in given if each.kind is not each.KEYWORD_ONLY]
    keywords = {each.name: each.default for each in given if each.kind is each.KEYWORD_ONLY}
    assert positional == [argument.arg for argument in declared.args.args]
    assert list(keywords) == [argument.arg for argument in declared.args.kwonlyargs]
    for argument, default in zip(declared.args.kwonlyargs, declared.args.kw_defaults, strict=True):
        if default is None:
            assert keywords[argument.arg] is inspect.Parameter.empty, argument.arg
            continue
        # An empty list of the module is an empty tuple in the stub.
        stated = ast.literal_eval(default)
        actual = keywords[argument.arg]
        assert actual is ... or (list(actual) if stated == () else actual) == (stated or actual)


def test_every_value_has_the_type_that_the_stub_states():
    seen: dict[tuple[str, str], set[type]] = {}

    def look(value: Any) -> None:
        kind = type(value).__name__
        for name in attributes(stub()[kind]):  # pyright: ignore[reportArgumentType]
            part = getattr(value, name)
            seen.setdefault((kind, name), set()).add(type(part))
            if type(part).__name__ in classes_with_getters():
                look(part)

    class Looks(fadeout.CongestionControl):
        def on_ack(self, window, ack):
            look(window)
            look(ack)

        def on_congestion(self, window, event):
            look(event)
            window.cwnd = window.ssthresh = max(2.0, window.cwnd / 2)

        def on_sent(self, window, sent):
            look(sent)

        def on_link_info(self, window, info):
            look(info)

    text = LINK_INFO.replace('"cubic"', '"looks"')
    fadeout.run(text, congestion_controls={"looks": Looks})

    class LooksAtReports:
        def on_report(self, report):
            look(report)
            return next(iter(report.cells), None)

        def on_handover(self, handover):
            look(handover)

    own = {"duration": "20 s", "mobility-management.policy": "looks"}
    policies = {"looks": LooksAtReports}
    for changes in (own, {**own, "mobility-management.max-ues": 5}):
        fadeout.run(ROOT / "scenarios/handover.toml", set=changes, handover_policies=policies)
    link = '[link.path]\nfrom = "one"\nto = "two"\nrate = "unlimited"\ndelay = "1 ms"\n'
    flow = '[flow.app]\nfrom = "one"\nto = "two"\ntransport = "port"\n'
    simulation = _native.Simulation(f'duration = "1 s"\n{link}{flow}')
    one, other = simulation.port("app")
    look(one)
    simulation.send(one, b"", 0)
    simulation.advance(0.5)
    look(simulation.receive(other)[0])
    values = {name for name in classes_with_getters() if not is_made_by_users(name)}
    assert {kind for kind, _ in seen} == values
    for (kind, name), found in seen.items():
        declared = stub()[kind]
        assert isinstance(declared, ast.ClassDef)
        # For a container only its own type is compared.
        stated = [each.partition("[")[0] for each in attributes(declared)[name].split(" | ")]
        names = {"None" if each is type(None) else each.__name__ for each in found}
        assert names <= set(stated), f"{kind}.{name}: {names}, stated {stated}"


def test_an_outcome_has_the_keys_of_the_stub():
    declared = stub()["Outcome"]
    assert isinstance(declared, ast.ClassDef)
    assert set(_native.run(SCENARIO)) == set(attributes(declared))


def test_a_mistake_has_the_keys_of_the_stub():
    declared = stub()["ErrorDetail"]
    assert isinstance(declared, ast.ClassDef)
    with pytest.raises(fadeout.ScenarioError) as caught:
        fadeout.check(SCENARIO.replace("cubic", "cubik"))
    for mistake in caught.value.errors:
        assert set(mistake) == set(attributes(declared))
