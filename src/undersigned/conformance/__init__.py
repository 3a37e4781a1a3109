"""Conformance: published vectors, run through the library and compared to the byte.

`find` reads what a directory holds, `grade` runs one vector of it. Request vectors are judged by the gate that the
middlewares drive; whatever stands in the directory, nothing but a grade comes out.
"""

from undersigned.conformance.corpus import Corpus, SetAside, VectorSet, find
from undersigned.conformance.difference import Difference
from undersigned.conformance.grade import Gradable, Grade, grade

__all__ = ["Corpus", "Difference", "Gradable", "Grade", "SetAside", "VectorSet", "find", "grade"]
