"""Measured tables: logs of drive tests, measured rates, delays, channels and positions.

polars reads the tables. This package finds their columns, units, missing values and times, and
writes plain files for the simulator.
"""
