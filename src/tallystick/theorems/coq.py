"""Where each theorem stands in Coq: the file, its name there and its line, under `proofs/` of the source repository.

The proofs are compiled by `make proofs`, not by this package, which does not even carry them; hence the lines are data, and
the build and the tests hold them equal to the files. This module imports nothing of the package, so that the build can read it
without installing anything.
"""

from typing import NamedTuple


class CoqTheorem(NamedTuple):
    """A theorem in a Coq file."""

    file: str
    line: int
    name: str

    @property
    def path(self) -> str:
        """The file's place in the source repository."""
        return f"proofs/{self.file}"

    def __str__(self) -> str:
        return f"{self.path}:{self.line} {self.name}"


class CoqOnly(NamedTuple):
    """A result that no solver step covers, in words and symbols, with its theorems in Coq."""

    title: str
    statement: str
    theorems: tuple[CoqTheorem, ...]


COQ_THEOREMS: dict[str, tuple[CoqTheorem, ...]] = {
    "theorem1": (
        CoqTheorem("Theorem1.v", 71, "theorem_1"),
        CoqTheorem("Theorem1.v", 87, "theorem_1_network"),
        CoqTheorem("Selective.v", 111, "theorem_1_from_selective"),
    ),
    "six-strings": (
        CoqTheorem("SixStrings.v", 20, "six_strings_decide"),
        CoqTheorem("SixStrings.v", 6, "length_two_decides"),
    ),
    "selective": (
        CoqTheorem("Selective.v", 90, "selective_cells"),
        CoqTheorem("Selective.v", 99, "selective_short_strings_decide"),
        CoqTheorem("Selective.v", 106, "gates_below_one_never_count"),
    ),
    "relu": (CoqTheorem("Relu.v", 157, "relu_cells"),),
    "dyck1-state": (
        CoqTheorem("Dyck1State.v", 90, "parity_counter_accepts_dyck1"),
        CoqTheorem("Dyck1State.v", 179, "stateless_dyck1_needs_both"),
    ),
}
"""The Coq theorems behind each theorem that the solver goes through; the others it has alone."""

COQ_ONLY: dict[str, CoqOnly] = {
    "counter": CoqOnly(
        "The Balanced Bracket Counter",
        "A General Counter Machine with one counter, +1 for `(` and −1 for `)`, accepts exactly BB; a linear cell with a/b = −1 "
        "and U = 1 has h = a·c at every step, and a linear cell accepts exactly BB iff it holds the counter on some scale. "
        "A table with one state that adds these accepts exactly BB too; that of the ready machine is one, as Coq computes.",
        (
            CoqTheorem("Counter.v", 75, "balanced_bracket_counter"),
            CoqTheorem("Counter.v", 91, "linear_cell_simulates_the_counter"),
            CoqTheorem("Counter.v", 101, "counting_is_simulation"),
            CoqTheorem("CounterTable.v", 36, "tables_that_count_brackets"),
        ),
    ),
    "extremes": CoqOnly(
        "The extremes of h",
        "If the map of each token is monotone, rising or falling, the recursion over the numbers of brackets gives the least and "
        "the greatest h over all strings with these numbers; so it does with rounding.",
        (
            CoqTheorem("Extremes.v", 105, "extremes_are_exact"),
            CoqTheorem("Extremes.v", 116, "rising_after_affine_is_monotone"),
            CoqTheorem("Extremes.v", 124, "extremes_as_executed"),
        ),
    ),
    "sorted-strings": CoqOnly(
        "The sorted strings",
        "For a linear cell with U > 0 and a > b, )ᵐ(ⁿ and (ⁿ)ᵐ attain the extremes: the greatest is the first for U ≤ 1 and the "
        "second for U ≥ 1.",
        (
            CoqTheorem("SortedStrings.v", 82, "sorted_strings_are_extreme"),
            CoqTheorem("SortedStrings.v", 9, "closed_form"),
        ),
    ),
    "verdict": CoqOnly(
        "The verdict on all strings up to a length",
        "If each class of a readout is an interval of h, all strings up to length N are right iff for every count both extremes "
        "are; an extreme in a wrong class is a failing string.",
        (
            CoqTheorem("Verdict.v", 102, "verdict_is_sound_and_complete"),
            CoqTheorem("Verdict.v", 117, "wrong_extreme_gives_failing_string"),
            CoqTheorem("Verdict.v", 28, "binary_classes_are_intervals"),
            CoqTheorem("Verdict.v", 58, "ternary_classes_are_intervals"),
        ),
    ),
    "all-lengths": CoqOnly(
        "A threshold that is right at every length",
        "h > θ is right on every string iff U = 1, b = −a and 0 ≤ θ < a, and v·h + c > 0 iff U = 1, b = −a and 0 ≤ −c < v·a; "
        "for even lengths alone with 2a and 2va; otherwise some string fails.",
        (
            CoqTheorem("AllLengths.v", 127, "all_lengths"),
            CoqTheorem("AllLengths.v", 138, "even_lengths"),
            CoqTheorem("AllLengths.v", 169, "all_lengths_binary_readout"),
            CoqTheorem("AllLengths.v", 177, "even_lengths_binary_readout"),
            CoqTheorem("FiniteHorizon.v", 51, "otherwise_some_string_fails"),
            CoqTheorem("FiniteHorizon.v", 58, "otherwise_some_even_string_fails"),
        ),
    ),
    "any-readout": CoqOnly(
        "Every readout at every length",
        "Let the classes be intervals of h, each right for the counts of some sign. A linear or selective cell whose "
        "closing map undoes its opening map, P·Q = 1 and b = −Q·a, with P > 0 or at even lengths, is right at every "
        "length if it is on strings of at most two tokens. A linear cell with U ≤ 0 fails at length 2, and one that is "
        "right at every length has U = 1 and b = −a.",
        (
            CoqTheorem("ExactCounters.v", 112, "exact_counters_at_all_lengths"),
            CoqTheorem("ExactCounters.v", 134, "exact_counters_at_even_lengths"),
            CoqTheorem("AnyReadout.v", 9, "no_weight_up_to_zero"),
            CoqTheorem("AnyReadout.v", 150, "only_exact_counters"),
            CoqTheorem("AllLengthsAnyReadout.v", 13, "all_lengths_any_readout"),
            CoqTheorem("AllLengthsAnyReadout.v", 36, "even_lengths_any_readout"),
            CoqTheorem("AllLengthsAnyReadout.v", 59, "all_lengths_ternary_readout"),
            CoqTheorem("AllLengthsAnyReadout.v", 68, "even_lengths_ternary_readout"),
            CoqTheorem("Greatest.v", 58, "greatest_classes_are_intervals"),
            CoqTheorem("Greatest.v", 78, "lines_change_places_once"),
        ),
    ),
    "linear-networks": CoqOnly(
        "Theorem 1 in d dimensions",
        "The output of h' = U·h + s(x) with d units is s·(n − m) and a constant on every string iff δ_0 = … = δ_d = 2·s and "
        "2·γ_k + δ_k = 0 for k < d, over every field in which 2 ≠ 0; strings of at most d + 1 tokens decide.",
        (
            CoqTheorem("LinearNetworks.v", 213, "theorem_1_in_d_dimensions"),
            CoqTheorem("LinearNetworks.v", 223, "strings_of_d_plus_one_tokens_decide"),
            CoqTheorem("LinearNetworks.v", 208, "unrolled"),
        ),
    ),
    "sorting": CoqOnly(
        "Sorting",
        "Over all strings of T tokens of which n open, the extremes of a linear network's output are a constant and the n "
        "least or the n greatest of δ_0 … δ_(T−1); one such sum decides what a class asks for at a length.",
        (
            CoqTheorem("Sorting.v", 150, "sorting"),
            CoqTheorem("Sorting.v", 43, "opened_at_least"),
            CoqTheorem("SortingDecides.v", 59, "sorting_decides_a_demand"),
            CoqTheorem("SortingDecides.v", 83, "sorting_decides_binary"),
            CoqTheorem("SortingDecides.v", 109, "error_of_the_count"),
            CoqTheorem("RoundedTerms.v", 7, "rounded_sums"),
            CoqTheorem("RoundedTerms.v", 36, "rounded_rows"),
            CoqTheorem("Networks.v", 103, "output_is_a_sum"),
            CoqTheorem("Networks.v", 119, "linear_networks_unrolled"),
            CoqTheorem("Networks.v", 138, "drift_is_a_sum"),
            CoqTheorem("Networks.v", 152, "differences_are_outputs"),
            CoqTheorem("Networks.v", 170, "start_may_be_zero"),
        ),
    ),
    "lattice-paths": CoqOnly(
        "Lattice paths",
        "With a matrix for each token, where the two commute, the extremes of the output over all strings with n opening "
        "and m closing brackets follow from those that are one token shorter.",
        (
            CoqTheorem("LatticePaths.v", 72, "lattice_paths"),
            CoqTheorem("LatticePaths.v", 132, "commuting_networks_are_paths"),
            CoqTheorem("LatticePaths.v", 141, "paths_give_the_extremes"),
            CoqTheorem("RoundedTerms.v", 20, "rounded_paths"),
            CoqTheorem("RoundedTerms.v", 60, "rounded_products"),
        ),
    ),
    "limits": CoqOnly(
        "Right at every length without counting",
        "Let the terms δ_k of a linear network tend to a level L, or let the units of a network with diagonal matrices "
        "fade. Then what the network does on the last K tokens, and a bound on the rest, bound the output on every string "
        "of K or more tokens: 2·y ≥ 2·C + (n − m)·L less what does not depend on the string.",
        (
            CoqTheorem("Limits.v", 24, "levels_bound_all_lengths"),
            CoqTheorem("Limits.v", 106, "powers_bound_the_tail"),
            CoqTheorem("LimitsDecide.v", 58, "limits_bound_all_lengths"),
            CoqTheorem("LimitsDecide.v", 103, "right_at_every_length"),
            CoqTheorem("Fading.v", 154, "fading_bounds_all_lengths"),
            CoqTheorem("MonotoneNetworks.v", 30, "monotone_networks"),
        ),
    ),
    "few-strings": CoqOnly(
        "The horizon of a linear cell by a few strings a length",
        "For U > 0, a range of counts has one class if the sorted strings at its ends have it, so that a few strings "
        "decide a length; along the lengths of one parity a comparison is a quadratic in U^k, and three numbers decide "
        "for all k between two.",
        (
            CoqTheorem("FewStrings.v", 129, "few_strings_decide_a_length"),
            CoqTheorem("FewStrings.v", 110, "sorted_strings_decide_a_range"),
            CoqTheorem("ManyLengths.v", 7, "sorted_string_in_powers"),
            CoqTheorem("ManyLengths.v", 21, "quadratic_between"),
            CoqTheorem("ManyLengths.v", 45, "powers_between"),
        ),
    ),
    "groups": CoqOnly(
        "Groups of strings, length by length",
        "Where a token changes a group in a known way, such as the number of opening brackets or κ, the ends of h over "
        "each group follow from those one token shorter; if all between them, or all states of a group, are of the right "
        "class, every string is right.",
        (
            CoqTheorem("Groups.v", 147, "groups_are_exact"),
            CoqTheorem("Groups.v", 162, "verdict_by_groups"),
            CoqTheorem("Groups.v", 181, "kappa_is_a_group"),
        ),
    ),
    "floats": CoqOnly(
        "Floating point",
        "Every rounding to a nearest number keeps the numbers of the format and rises. A counter with a = s·2^e is exact "
        "to depth k while k·s ≤ 2^p, and a readout that is right next to zero is right to that depth. Rounded outputs "
        "whose lines are far enough apart at two states keep their order between them.",
        (
            CoqTheorem("ExactDepth.v", 94, "exact_depth"),
            CoqTheorem("ExactDepth.v", 103, "exact_depth_relu"),
            CoqTheorem("ExactDepth.v", 112, "exact_depth_decides"),
            CoqTheorem("Rounding.v", 19, "rounding_keeps_floats"),
            CoqTheorem("Rounding.v", 28, "rounding_rises"),
            CoqTheorem("RoundedOutputs.v", 11, "executed_maps_are_monotone"),
            CoqTheorem("RoundedOutputs.v", 91, "rounded_outputs_stay_apart"),
            CoqTheorem("Greatest.v", 82, "rounded_outputs_change_places_once"),
        ),
    ),
    "matrices": CoqOnly(
        "Exact counters with any two matrices",
        "With a matrix for each token, the output is s·(n − m) and a constant on every string iff the first token adds s "
        "or takes it and no product of less than d matrices lets the rows v·(A − I) see what a token adds. What is 0 modulo a "
        "number above all that such whole numbers can be is 0.",
        (
            CoqTheorem("TokenMatrices.v", 169, "exact_counters_with_any_matrices"),
            CoqTheorem("Modulo.v", 43, "size_of_times"),
            CoqTheorem("Modulo.v", 55, "size_after_tokens"),
            CoqTheorem("Modulo.v", 67, "dot_is_bounded"),
            CoqTheorem("Modulo.v", 76, "zero_modulo_a_large_number_is_zero"),
        ),
    ),
    "zero-check": CoqOnly(
        "The zero check in d dimensions",
        "A linear network's output is 0 on exactly the strings of BB, the empty string aside, iff all δ_k are one δ ≠ 0, "
        "balanced strings of every even length end at 0, and no string of odd length does; strings of at most 2·d + 2 "
        "tokens decide all even lengths. Odd ones stay right where what decides them comes to rest.",
        (
            CoqTheorem("ZeroCheck.v", 176, "zero_check_in_d_dimensions"),
            CoqTheorem("ZeroCheck.v", 204, "even_lengths_of_the_zero_check"),
            CoqTheorem("OddLengths.v", 103, "odd_lengths_stay_right"),
            CoqTheorem("LinearNetworks.v", 233, "d_terms_decide_a_recurrence"),
        ),
    ),
    "accuracy": CoqOnly(
        "Exact accuracy",
        "The strings of T tokens with n opening brackets whose output is above a threshold are counted by pairs of a sum "
        "of the older half and one of the younger half.",
        (CoqTheorem("Accuracy.v", 85, "counted_by_halves"),),
    ),
    "regions": CoqOnly(
        "Regions",
        "Without a bias only b/a and U matter to a binary readout, and at each U the b/a that are right on any set of "
        "strings are an interval, whose ends at each length have closed forms for U ≥ 1.",
        (
            CoqTheorem("Regions.v", 14, "only_the_ratio_matters"),
            CoqTheorem("Regions.v", 20, "regions_are_intervals"),
            CoqTheorem("RegionEnds.v", 17, "ends_of_a_length"),
            CoqTheorem("RegionEnds.v", 56, "closed_forms_of_the_ends"),
        ),
    ),
    "checker": CoqOnly(
        "The proven checker",
        "If the checker lets a certificate pass, then its claim holds for the network that it describes, on every string that "
        "the claim speaks of.",
        (CoqTheorem("checker/Check.v", 235, "check_sound"),),
    ),
    "checker-floats": CoqOnly(
        "The proven checker in floating point",
        "The same for cells with one unit as executed in float16, bfloat16, float32 and float64, which are Flocq's formats, with "
        "Flocq's multiplication, addition and comparison, overflows included.",
        (
            CoqTheorem("checker/FloatCheck.v", 23, "check_float_sound"),
            CoqTheorem("checker/FloatClasses.v", 142, "outputs_that_overflow_stay_apart"),
            CoqTheorem("checker/FloatDepth.v", 171, "exact_to_depth"),
            CoqTheorem("checker/FloatIeee.v", 82, "floats_are_ieee"),
            CoqTheorem("checker/FloatIeee.v", 93, "outputs_are_ieee"),
            CoqTheorem("checker/FloatIeee.v", 107, "formats_are_flocqs"),
        ),
    ),
    "checker-gated": CoqOnly(
        "The proven checker of gated networks",
        "The same for tanh cells, GRUs, LSTMs and other programs in real numbers, by proved bounds of tanh and the logistic "
        "function on boxes.",
        (CoqTheorem("checker/GatedCheck.v", 155, "check_gated_sound"),),
    ),
}
"""What is proved in Coq alone, in the order in which a reader meets it."""

ALL_COQ_THEOREMS: tuple[CoqTheorem, ...] = tuple(
    theorem
    for theorems in (*COQ_THEOREMS.values(), *(result.theorems for result in COQ_ONLY.values()))
    for theorem in theorems
)
