"""Random scenarios: drawn from the schema, run with limits, checked against invariants.

`schema` has the values of each key, `bases` scenarios to start from, `pairs` combinations of
features, `mutate` changes and their repair. `invariants` judges results, `run` runs and shrinks.
"""
