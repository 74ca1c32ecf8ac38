"""A forger of certificates about languages, who knows how the digest is made; a careless check would miss each of the changes."""

from copy import deepcopy
from fractions import Fraction


def alterations(content, generator, times=1):
    """Go through altered certificates, each with the name of what was done to it; what does not apply alters nothing."""
    for name, alter in ALTERATIONS.items():
        for _ in range(times):
            forged = deepcopy(content)
            alter(forged, generator)
            if forged != content:
                yield name, forged


def _horizon(content, generator):
    if content["horizon"] == "unlimited":
        return
    stride = {"all": 1, "even": 2}[content["lengths"]]
    content["horizon"] += generator.choice((-1, 1)) * stride


def _further(content, generator):
    """Forget the counterexample, and claim its length or more."""
    if content["counterexample"] is None:
        return
    stride = {"all": 1, "even": 2}[content["lengths"]]
    length = sum(size for _, size in content["counterexample"]["runs"])
    content |= {"verdict": "BOUNDED", "counterexample": None, "horizon": length + stride * generator.randint(0, 1)}


def _proved(content, generator):
    method = generator.choice(("exact states", "live prefixes", "grouped prefixes", "whole tree"))
    content |= {"verdict": "PROVED", "counterexample": None, "horizon": "unlimited", "evidence": {"method": method}}


def _method(content, generator):
    content["evidence"] = {
        "method": generator.choice(("exact states", "live prefixes", "grouped prefixes", "whole tree"))
    }


def _first(content, generator):
    first = generator.choice((0, 1, 2, 3))
    content.pop("first", None)
    if first != 1:
        content["first"] = first


def _lengths(content, _):
    content["lengths"] = "even" if content["lengths"] == "all" else "all"


def _string(content, generator):
    """Another string of the same length."""
    if content["counterexample"] is None:
        return
    length = sum(size for _, size in content["counterexample"]["runs"])
    runs = []
    for token in (generator.choice(content["model"]["alphabet"]) for _ in range(length)):
        if runs and runs[-1][0] == token:
            runs[-1][1] += 1
        else:
            runs.append([token, 1])
    content["counterexample"]["runs"] = runs


def _longer_string(content, generator):
    if content["counterexample"] is None or not content["counterexample"]["runs"]:
        return
    generator.choice(content["counterexample"]["runs"])[1] += 1
    if generator.random() < 0.5 and content["lengths"] == "all":
        content["horizon"] += 1


def _classes(content, generator):
    example = content["counterexample"]
    if example is None:
        return
    names = content["model"]["readout"].get("outputs", content["model"]["task"]["classes"])
    example[generator.choice(("class", "right_class"))] = generator.choice(names)


def _weight(content, generator):
    """Change a number of a program or of the readout."""
    sums = [op for program in _programs(content) for op in program["operations"] if op[0] == "sum"]
    rows = [*content["model"]["readout"].get("weight", ()), content["model"]["readout"].get("bias", [])]
    spots = [(row, place) for row in (*rows, content["model"]["start"]) for place in range(len(row))]
    spots += [(op, 2) for op in sums] + [(term, 0) for op in sums for term in op[1]]
    row, place = generator.choice(spots)
    row[place] = _changed(row[place], generator)


def _programs(content):
    model = content["model"]
    found = [*model["step"].values(), model["hidden"], *model.get("first", ())]
    return found + ([model["padding"]["program"]] if "padding" in model else [])


def _changed(number, generator):
    changed = Fraction(number) * generator.choice((-1, 2, Fraction(1, 2), Fraction(9, 10))) + generator.choice(
        (0, 1, -1)
    )
    return changed.numerator if changed.denominator == 1 else str(changed)


def _threshold(content, generator):
    readout = content["model"]["readout"]
    if "threshold" not in readout:
        return
    readout["threshold"] = str(Fraction(generator.randint(1, 98), 99))


def _outputs(content, generator):
    readout = content["model"]["readout"]
    if "outputs" not in readout:
        return
    generator.shuffle(readout["outputs"])


def _end(content, generator):
    readout = content["model"]["readout"]
    if "outputs" not in readout:
        return
    readout["end"] = generator.choice(readout["outputs"])


def _alphabet(content, generator):
    generator.shuffle(content["model"]["alphabet"])


def _machine_alphabet(content, generator):
    generator.shuffle(content["model"]["alphabet"])
    content["model"]["task"]["machine"]["alphabet"] = list(content["model"]["alphabet"])


def _steps(content, generator):
    """Exchange what two tokens do."""
    steps = content["model"]["step"]
    one, other = generator.sample(list(steps), 2)
    steps[one], steps[other] = steps[other], steps[one]


def _padding(content, generator):
    padding = content["model"].get("padding")
    if padding is None:
        return
    padding["to"] = max(1, padding["to"] + generator.choice((-2, -1, 1, 2)))


def _no_padding(content, _):
    content["model"].pop("padding", None)


def _no_first(content, _):
    content["model"].pop("first", None)


def _update(content, generator):
    case = generator.choice(content["model"]["task"]["machine"]["cases"])
    case["update"][generator.randrange(len(case["update"]))] = generator.choice(("+1", "-1", "+2", "+0", "×0"))


def _next_state(content, generator):
    machine = content["model"]["task"]["machine"]
    generator.choice(machine["cases"])["next_state"] = generator.choice(machine["states"])


def _initial(content, generator):
    machine = content["model"]["task"]["machine"]
    machine["initial_state"] = generator.choice(machine["states"])


def _member(content, generator):
    """Drop what is accepted somewhere, in the machine and in what is right."""
    task = content["model"]["task"]
    accepting = task["machine"]["accepting"]
    if not accepting or "rejected" not in task["classes"]:
        return
    dropped = accepting.pop(generator.randrange(len(accepting)))
    if generator.random() < 0.7:
        for entry in task["right"]:
            if entry[:2] == [dropped["state"], dropped["zero_check"]]:
                entry[2] = "rejected"


def _right(content, generator):
    task = content["model"]["task"]
    generator.choice(task["right"])[2] = generator.choice(task["classes"])


def _empty(content, generator):
    content["model"]["task"]["empty"] = generator.choice((True, False))


ALTERATIONS = {
    alter.__name__.strip("_"): alter
    for alter in (
        *(
            _horizon,
            _further,
            _proved,
            _method,
            _first,
            _lengths,
            _string,
            _longer_string,
            _classes,
            _weight,
            _threshold,
        ),
        *(_outputs, _end, _alphabet, _machine_alphabet, _steps, _padding, _no_padding, _no_first, _update, _next_state),
        *(_initial, _member, _right, _empty),
    )
}
