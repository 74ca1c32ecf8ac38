"""The theorems, step by step, with the solver's word and their places in Coq, as `tallystick prove --json` gives them."""


def theorems() -> dict[str, object]:
    """Put every step to the solver; takes a second or two."""
    from tallystick.theorems import account  # noqa: PLC0415 -- z3 is an extra and slow to load
    from tallystick.theorems.account import THEOREMS  # noqa: PLC0415
    from tallystick.theorems.proof import prove  # noqa: PLC0415

    proved = [account.as_json(theorem, prove(theorem)) for theorem in THEOREMS.values()]
    return {"theorems": proved, "coq_only": account.coq_only_as_json()}
