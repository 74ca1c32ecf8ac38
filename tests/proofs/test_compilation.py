"""The Coq proofs compile as they stand, and not once a hypothesis is weakened: only what is needed for that is compiled.

`make proofs` compiles all files and looks at what every theorem rests on.
"""

import re
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest
from compiled_copies import CHECK, PROOFS, compile_copy

compile_file, check, Refused = CHECK["compile_file"], CHECK["check"], CHECK["Refused"]

needs_coq = pytest.mark.skipif(shutil.which("coqc") is None, reason="coqc is not installed (Debian's package coq)")


@dataclass(frozen=True)
class Falsified:
    """A theorem made false by a small change, with a Coq script that refutes what it says then."""

    file: str
    theorem: str
    old: str
    new: str
    refutation: str
    imports: str = ""
    """Whatever else the refutation speaks of, as Coq's own commands."""

    def split(self) -> tuple[str, str, str]:
        """The file before the statement, the statement, and its proof with all that follows."""
        text = (PROOFS / self.file).read_text(encoding="utf-8")
        found = re.search(rf"^Theorem {self.theorem} :.*?\.$", text, flags=re.DOTALL | re.MULTILINE)
        assert found is not None
        return text[: found.start()], found[0], text[found.end() :]

    def statement(self) -> str:
        """The statement as changed; that it did change is asserted."""
        _, true, _ = self.split()
        assert true.count(self.old) == 1
        false = true.replace(self.old, self.new)
        assert false != true
        return false


FALSIFIED = {
    "a ≠ 0 dropped": Falsified(
        "Selective.v",
        "selective_cells",
        old=" /\\ a <> 0",
        new="",
        refutation="""
            assert (accepts_exactly (selective 0 0 1 1) BB) as accepts by (apply claim; repeat split; lra).
            apply selective_cells in accepts. now destruct accepts as (_ & _ & not_zero & _).""",
    ),
    "P ≠ −1 dropped": Falsified(
        "Selective.v",
        "selective_cells",
        old=" /\\ P <> -1",
        new="",
        refutation="""
            assert (accepts_exactly (selective 1 1 (-1) (-1)) BB) as accepts by (apply claim; repeat split; lra).
            apply selective_cells in accepts. now destruct accepts as (_ & _ & _ & not_minus_one).""",
    ),
    "a strict threshold": Falsified(
        "AllLengths.v",
        "all_lengths",
        old="0 <= theta < a",
        new="0 < theta < a",
        refutation="""
            assert (0 <= 0 < 1) as between by lra.
            pose proof (proj1 (claim 1 (Ropp 1) 1 0) (fun s _ => exact_counter_is_right 1 0 s between)). lra.""",
    ),
    "a class that is never right": Falsified(
        "ExactCounters.v",
        "exact_counters_at_all_lengths",
        old=" -> all_asked_for below zero above",
        new="",
        imports="From Tallystick Require Import Verdict Selective.",
        # h is the count, and beyond 2 it has a third class, which strings of two tokens do not meet.
        refutation="""
            pose (readout := fun h => if Rlt_dec 0 h then if Rlt_dec 2 h then 2%nat else 1%nat else 0%nat).
            assert (is_right nat (selective 1 (-1) 1 1) readout (by_sign 0 0 1)%nat [Open; Open; Open]) as wrong.
            { apply (claim nat readout 0%nat 0%nat 1%nat 1 (-1) 1 1); try lra; try discriminate.
              - intros x y z between. unfold readout. repeat destruct Rlt_dec; (reflexivity || discriminate || lra).
              - intros s some short. unfold is_right, readout. destruct s as [|x [|y [|]]]; try contradiction;
                  try (cbn in short; lia); destruct x; try destruct y; cbn; repeat destruct Rlt_dec;
                  (reflexivity || lra). }
            unfold is_right, readout in wrong. cbn in wrong. repeat destruct Rlt_dec; (discriminate || lra).""",
    ),
    "U up to 1": Falsified(
        "AnyReadout.v",
        "no_weight_up_to_zero",
        old="U <= 0",
        new="U <= 1",
        imports="From Coq Require Import ZArith. From Tallystick Require Import Verdict.",
        refutation="""
            destruct (claim binary_class (binary 1 (-1)) (fun d => if Z.ltb 0 d then Pos else ZeroNeg) 1 (-1) 1)
              as [wrong _]; [apply binary_classes_are_intervals | lra | | discriminate].
            intros s two. unfold is_right, binary. destruct s as [|x [|y [|]]]; try discriminate.
            destruct x, y; cbv [run run_from fold_left linear]; cbn; destruct Rlt_dec; (reflexivity || lra).""",
    ),
    "U not positive": Falsified(
        "FewStrings.v",
        "sorted_strings_decide_a_range",
        old="0 < U -> ",
        new="",
        imports="From Tallystick Require Import Verdict.",
        # With U = -1, a = 1 and b = 0 the sorted strings of one `(` and two `)` end at 1, and `)()` at -1.
        refutation="""
            assert (binary 1 0 (run (linear 1 0 (-1)) [Close; Open; Close]) = Pos) as wrong.
            { apply (claim binary_class (binary 1 0) Pos 1 0 (-1) 3%nat 1%nat 1%nat);
                [apply binary_classes_are_intervals | lia | | reflexivity | cbv; lia].
              intros s listed. unfold binary. cbn in listed. destruct listed as [<- | [<- | [<- | [<- | []]]]];
                cbv [run run_from fold_left linear]; destruct Rlt_dec; (reflexivity || lra). }
            cbv [binary run run_from fold_left linear] in wrong. destruct Rlt_dec; (discriminate || lra).""",
    ),
    "no third number": Falsified(
        "ManyLengths.v",
        "quadratic_between",
        old=" -> 0 <= third",
        new="",
        refutation="""
            destruct (claim 2 0 (-1) (-1) 1 0) as [wrong _]; [left; lra|].
            enough (0 < 2 * 0 ^ 2 + 0 * 0 + -1) by lra. apply wrong; lra.""",
    ),
    "one term too many": Falsified(
        "Sorting.v",
        "sorting",
        old="total (firstn n sorted)",
        new="total (firstn (S n) sorted)",
        imports="From Coq Require Import Permutation Sorting.Sorted. From Tallystick Require Import Extremes.",
        refutation="""
            destruct (claim (fun _ => 1) 1%nat 0%nat [1]) as [[(s & _ & opens & adds) _] _];
              [lia | apply Permutation_refl | repeat constructor |].
            assert (forall t, count Open t = 0%nat -> opened (fun _ => 1) t = 0) as none.
            { induction t as [|[] t IH]; cbn; intros; [reflexivity | discriminate | auto]. }
            rewrite (none s opens) in adds. cbn in adds. lra.""",
    ),
    "matrices that do not commute": Falsified(
        "LatticePaths.v",
        "commuting_networks_are_paths",
        old="\n  commute d (matrix N Open) (matrix N Close) ->",
        new="",
        imports="From Tallystick Require Import Sorting Networks.",
        # `(` exchanges two numbers and `)` forgets the second: from (1, 0) to (0, 1) and to (0, 0), but back to (1, 0) first.
        refutation="""
            pose (N := {| matrix := fun x i j => match x, i, j with
                            | Open, O, S O | Open, S O, O | Close, O, O => 1 | _, _, _ => 0 end;
                          step := fun _ _ => 0; start := fun i => match i with O => 1 | _ => 0 end;
                          weight := fun i => match i with O => 0 | _ => 1 end; bias := 0 |}).
            pose proof (claim 2%nat N [Open; Close]) as one. pose proof (claim 2%nat N [Close; Open]) as other.
            cbv -[Rplus Rmult IZR] in one, other. lra.""",
    ),
    "shorter than K": Falsified(
        "Limits.v",
        "levels_bound_all_lengths",
        old=" -> (K <= length s)%nat",
        new="",
        imports="From Tallystick Require Import Sorting Networks.",
        # A network that shows its last token alone, whichever it is.
        refutation="""
            pose (N := {| matrix := fun _ _ _ => 0; step := fun _ _ => 1; start := fun _ => 0; weight := fun _ => 1;
                          bias := 0 |}).
            assert (forall k x, dot 1 (row 1 N (S k)) x = 0) as forgets by (intros; cbn; unfold row_times; cbn; ring).
            assert (forall n, sum n (fun i => Rabs (excess 1 N 0 (1 + i))) <= 0) as none.
            { assert (forall i, excess 1 N 0 (1 + i) = 0) as zero
                by (intros; unfold excess, gamma, delta; rewrite !forgets, Rmax_left; lra).
              induction n as [|n IH]; cbn [sum]; [lra|]. rewrite zero, Rabs_R0. lra. }
            pose proof (claim 1%nat N 0 1%nat 0 [] eq_refl none) as wrong.
            cbv -[Rplus Rmult Rminus Rmax IZR] in wrong. rewrite Rmax_left in wrong; lra.""",
    ),
    "a depth of twice 2^p": Falsified(
        "ExactDepth.v",
        "exact_depth",
        old="Z.abs s <= 2 ^ p",
        new="Z.abs s <= 2 * 2 ^ p",
        imports="From Coq Require Import ZArith. From Tallystick Require Import Verdict Rounding.",
        # With one digit 3 is no float, and a rounding may leave every other number as it is.
        refutation="""
            pose (round := fun x => if Req_EM_T x 3 then 4 else x).
            assert (keeps_floats round 1 0 4) as keeps.
            { intros x (m & e & low & small & x_is) _. unfold round. destruct (Req_EM_T x 3) as [three|]; [exfalso|reflexivity].
              rewrite three, power_whole, <- mult_IZR in x_is by assumption. apply eq_IZR in x_is.
              destruct (Z.eq_dec e 0) as [-> | other]; [cbn in *; lia|].
              replace e with (1 + (e - 1))%Z in x_is by lia. rewrite Z.pow_add_r, Z.mul_assoc, Z.mul_shuffle0 in x_is by lia.
              change (2 ^ 1)%Z with 2%Z in x_is. lia. }
            destruct (claim round 1%Z 0%Z 1%Z 0%Z 4 [Open; Open; Open] keeps) as [_ wrong];
              [lia | cbn; lia | cbn; rewrite Rabs_right; lra |].
            cbv -[Rplus Rmult IZR Req_EM_T] in wrong. repeat destruct Req_EM_T; lra.""",
    ),
    "strings of two tokens": Falsified(
        "Dyck1State.v",
        "stateless_dyck1_needs_both",
        old="(length s <= 3)%nat",
        new="(length s <= 2)%nat",
        imports="From Coq Require Import ZArith. From Coq Require Vector. From Tallystick Require Import Counter.",
        # `(` adds 1 at zero and nothing elsewhere, `)` takes 1: the first string that it gets wrong is `(()`.
        refutation="""
            assert (exists M : counter_machine token unit 1, unit_steps M /\\
              forall s, (length s <= 2)%nat -> (machine_accepts M s <-> Dyck1 s)) as (M & steps & right).
            { unshelve eexists.
              { refine {| initial_state := tt; transition := fun _ q _ => q; accepting := fun _ check => check = one false;
                          update := fun x _ check => one (match x, Vector.hd check with
                            | Open, false => Add 1 | Open, true => Add 0 | Close, _ => Add (-1) end) |}.
                - exists [Open; Close]. intros []; cbn; tauto.
                - exists [tt]. intros []; cbn; tauto. }
              split.
              - intros x q check m. cbn. destruct x, (Vector.hd check); intros equal; inversion equal; lia.
              - assert (one true <> one false) as differ by (intros equal; apply (f_equal Vector.hd) in equal; discriminate).
                intros s short. unfold Dyck1, BB.
                destruct s as [|x [|y [|]]]; [| | |cbn in short; lia]; try destruct x; try destruct y; cbn; split;
                  try (intros; contradiction); try (intros [equal fine]; (reflexivity || discriminate equal ||
                    (specialize (fine 1%nat); cbn in fine; lia)));
                  intros _; (split; [reflexivity|]); intros [|[|[|t]]]; cbn; lia. }
            now apply (claim M right).""",
    ),
    "strings of d tokens": Falsified(
        "LinearNetworks.v",
        "strings_of_d_plus_one_tokens_decide",
        old="size s <= d'.+2",
        new="size s <= d'.+1",
        imports="""
            From mathcomp Require Import all_ssreflect all_algebra.
            Import GRing.Theory.
            Local Open Scope ring_scope.""",
        # One unit with U = 2, a = 1 and b = -1: right on one token, and 3 on `((`.
        refutation="""
            pose N := @Network [fieldType of rat] 0 (fun _ => 2%:M)
              (fun x => if x is Open then 1%:M else (-1)%:M) 0 1%:M 0.
            have out s : output N s = state N s 0 0 by rewrite /output /dot mul1mx addr0.
            have : counts_on N 1 [:: Open; Open].
              apply: (claim [fieldType of rat] 0%N N 1 erefl isT) => s; case: s => [_|x s].
                by rewrite /counts_on /= subrr mulr0 add0r.
              by case: s => // _; rewrite /counts_on !out /state /=; case: x; rewrite mulmx0 !mxE /=; apply/eqP.
            rewrite /counts_on !out /state /= !mulmx0 !add0r mul_scalar_mx !mxE /= => /eqP.
            by vm_compute.""",
    ),
    "even lengths to 2·d": Falsified(
        "ZeroCheck.v",
        "even_lengths_of_the_zero_check",
        old="d'.+2.*2",
        new="d'.+1.*2",
        imports="""
            From mathcomp Require Import all_ssreflect all_algebra.
            From Tallystick Require Import LinearNetworks.
            Import GRing.Theory.
            Local Open Scope ring_scope.""",
        # One unit that shows 1 less the number of `(`: right on two tokens, and wrong on `(())`.
        refutation="""
            pose N := @Network [numFieldType of rat] 0 (fun _ => 1%:M)
              (fun x => if x is Open then (-1)%:M else 0) 0 1%:M 1.
            have out s : output N s = state N s 0 0 + 1 by rewrite /output /dot mul1mx.
            have [_] : output N [:: Open; Open; Close; Close] = 0 <-> 2%N = 2%N.
              apply: (claim [numFieldType of rat] 0%N N) => // s.
              case: s => // x s; case: s => // y s; case: s => // _ _ _.
              by rewrite out /state /= !mul1mx; case: x; case: y; rewrite !mxE /=; split=> // /eqP; vm_compute.
            by move/(_ erefl)/eqP; rewrite out /state /= !mul1mx !mxE /=; vm_compute.""",
    ),
}

each_falsified = pytest.mark.parametrize("falsified", FALSIFIED.values(), ids=FALSIFIED)


@pytest.fixture(scope="module")
def compiled(tmp_path_factory) -> Path:
    """A copy of the proofs in which the files to be falsified, and what they need, compile as they stand."""
    needed = {name for falsified in FALSIFIED.values() for name in _needed(falsified.file)}
    return compile_copy(tmp_path_factory.mktemp("proofs") / "copy", needed)


def _needed(file: str) -> set[str]:
    """The file and whatever it requires, down to the last."""
    text = (PROOFS / file).read_text(encoding="utf-8")
    named = re.findall(r"^From Tallystick Require (?:Import )?(.*)\.$", text, flags=re.MULTILINE)
    return {file}.union(*(_needed(f"{name}.v") for names in named for name in names.split()))


@needs_coq
@each_falsified
def test_a_weakened_hypothesis_breaks_its_theorem(falsified, compiled, tmp_path):
    directory = tmp_path / "falsified"
    shutil.copytree(compiled, directory)
    before, _, after = falsified.split()
    path = directory / falsified.file
    path.write_text(before + falsified.statement() + after, encoding="utf-8")
    with pytest.raises(Refused, match="does not compile") as refused:
        compile_file(path)
    # Coq stops in the proof of the changed theorem, not before and not for a slip of the pen in its statement.
    failed = int(re.search(rf'"\./{falsified.file}", line (\d+)', str(refused.value))[1])
    first = (before + falsified.statement()).count("\n") + 1
    assert first < failed <= first + after[: after.index("Qed.")].count("\n")
    assert "Syntax error" not in str(refused.value)


@needs_coq
@each_falsified
def test_what_is_left_is_false_and_not_only_unproved(falsified, compiled):
    claim = re.split(r" :\s", falsified.statement(), maxsplit=1)[1].removesuffix(".")
    path = compiled / f"Refutation{list(FALSIFIED.values()).index(falsified)}.v"
    path.write_text(
        f"From Tallystick Require Import Brackets {falsified.file.removesuffix('.v')}.\n{falsified.imports}\n"
        f"Goal ~ ({claim}).\nProof. intros claim. {falsified.refutation}\nQed.\n"
    )
    compile_file(path)


def library(directory: Path, text: str) -> Path:
    """A library of one file."""
    (directory / "_CoqProject").write_text("Only.v\n")
    (directory / "Only.v").write_text(text)
    return directory


@needs_coq
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Theorem gap : 1 = 2. Proof. Admitted.\n", "Only.v has an Admitted"),
        ("Axiom no : False.\nTheorem gap : 1 = 2. Proof. destruct no. Qed.\n", "Only.v has an Axiom"),
        # Outside a section a variable is an axiom by another name; Coq's own answer shows it.
        ("Variable no : False.\nTheorem gap : 1 = 2. Proof. destruct no. Qed.\n", "Only.gap rests on .*no"),
        ("Theorem other : 1 = 1. Proof. reflexivity. Qed.\n", "coq.py and the proofs differ in .*Only.v:1 other"),
        ("Theorem gap : 1 = 2. Proof. reflexivity. Qed.\n", "Only.v does not compile"),
    ],
    ids=["admitted", "axiom", "variable", "not listed", "wrong"],
)
def test_the_build_refuses(text, message, tmp_path):
    with pytest.raises(Refused, match=message):
        check(library(tmp_path, text))


def test_the_build_refuses_a_file_that_the_project_does_not_list(tmp_path):
    (library(tmp_path, "") / "Other.v").write_text("")
    with pytest.raises(Refused, match="_CoqProject does not list"):
        check(tmp_path)


def test_without_coq_the_build_names_the_package(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", "")
    with pytest.raises(Refused, match="Debian has it in the package coq") as refused:
        check(library(tmp_path, ""))
    assert "\n" not in str(refused.value)
