"""Conformance: run published vectors through the library and compare the results to the byte.

`find` reads the vectors in a directory, and `grade` runs one of them. Request vectors are verified by the gate that the
middlewares use. Any directory gives grades, never an exception.
"""

from undersigned.conformance.corpus import Corpus, SetAside, VectorSet, find
from undersigned.conformance.difference import Difference
from undersigned.conformance.grade import Gradable, Grade, grade

__all__ = ["Corpus", "Difference", "Gradable", "Grade", "SetAside", "VectorSet", "find", "grade"]
