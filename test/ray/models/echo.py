"""A command: reads its parameters, prints, writes a result."""

import json
import os
import sys

parameters = json.load(sys.stdin)
print("a line of output")
if parameters.get("exit"):
    sys.exit(parameters["exit"])
with open(os.environ["HOLDFAST_PROGRESS"], "a") as file:
    file.write('{"half": true}\n')
with open(os.environ["HOLDFAST_RESULT"], "w") as file:
    json.dump({"echo": parameters, "seed": int(os.environ["HOLDFAST_SEED"]), "greeting": os.environ["GREETING"]}, file)
