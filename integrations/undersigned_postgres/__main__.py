"""Write the schema to standard output, for psql."""

import sys

from undersigned_postgres.schema import SCHEMA

sys.stdout.write(SCHEMA)
