"""Tests of the ablations and of the learning curve: `python -m unittest discover -s training`."""

from __future__ import annotations

import contextlib
import io
import json
import math
import os
import sys
import tempfile
import unittest
from pathlib import Path

os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
sys.path.insert(0, str(Path(__file__).parent))

import numpy as np
import torch

import ablate
from curve import by_family, read_evaluated, read_log, table, thinned
from retort_training import TrainingError
from retort_training.ablation import (
    VARIANTS, Interval, Outcome, Pool, difference_of, macro, majority, outcome_of_options, outcome_of_pair, outcomes, question_first, texts,
)
from retort_training.annotator import SplitMix64, set_f1, spearman
from retort_training.base import Base, File
from retort_training.beside import MEASURES, Case, Lean, Tasks, crossed, measures
from retort_training.encoder import Scorer, further_pass
from retort_training.frozen import Differences, Softmax, spans_of, states
from retort_training.full import Full, FullModel
from retort_training.learn import Judged, Reader, losses
from retort_training.lora import Adapter, Plan
from retort_training.model import Batch, Model
from retort_training.forest import Forest
from retort_training.readout import read
from retort_training.tokenizer import Tokenizer
from test_training import CPU, example, spelled

SYSTEM = "<|im_start|>system\nYou judge.<|im_end|>\n<|im_start|>user\n"
END = "<|im_end|>\n<|im_start|>assistant\nAnswer:"


def pieces(text: str, question: str = "Is a bird named?", context: str = "Say what sings.", fence: str = '"""') -> list:
    """A prompt in the shape that `retort mixture` writes."""
    return [["t", f"{SYSTEM}Instruction:\n\"\"\"\n"], ["u", context], ["t", f"\n\"\"\"\n\nResponse:\n{fence}\n"], ["u", text],
            ["t", f"\n{fence}\n\nRate the response above on the criterion below. "], ["u", "Answer only with one of: no, yes.\n\n"],
            ["u", f"{question} What is the answer?"], ["t", END]]


def together(a: str, b: str) -> list:
    """Both responses."""
    return [["t", f"{SYSTEM}Instruction:\n\"\"\"\n"], ["u", "Say what sings."], ["t", "\n\"\"\"\n\nResponse A:\n\"\"\"\n"], ["u", a],
            ["t", "\n\"\"\"\n\nResponse B:\n\"\"\"\n"], ["u", b], ["t", "\n\"\"\"\n\nCompare the two responses above. "],
            ["u", "Answer only with one of: B, A.\n\n"], ["u", "Which names a bird? What is the answer?"], ["t", END]]


def mixture(count: int, part: str, tokenizer: Tokenizer) -> list[dict]:
    """Pairs both ways and questions: a text is good if it names the bird."""
    words = "stone water thing rain hills".split()
    out = []
    for number in range(count):
        good, bad = f"The bird on {words[number % 5]}", f"The {words[number % 5]} on hills {number}"
        shared = {"id": f"{part}-{number}", "group": f"{part}-{number // 2}", "part": part, "wording": "short", "weight": 1.0}
        first_good = number % 3 > 0
        one, other = (good, bad) if first_good else (bad, good)
        # "a" is the good one; "ba" says that the second of the data stands first.
        order = "ab" if first_good else "ba"
        target = [float(first_good), float(not first_good)]
        out.append({"task": "pair", **shared, "kind": "pair", "order": order, "first": pieces(one), "second": pieces(other),
                    "options": [spelled("no"), spelled("yes")], "target": target})
        for name, a, b, share in (("ab", good, bad, [0.0, 1.0]), ("ba", bad, good, [1.0, 0.0])):
            out.append({"task": "pair", **shared, "kind": "options", "order": name, "segments": together(a, b),
                        "options": [spelled("B"), spelled("A")], "target": share})
        yes = number % 2 == 0
        out.append({"task": "question", **shared, "kind": "options", "segments": pieces(good if yes else bad),
                    "options": [spelled("no"), spelled("yes")], "target": [0.25 * yes, 1 - 0.25 * yes] if yes else [1.0, 0.0]})
    for row in out:
        prompts = [row["first"], row["second"]] if row["kind"] == "pair" else [row["segments"]]
        row["tokens"] = sum(len(tokenizer.prompt(each)) for each in prompts)
    return out


class Tiny(unittest.TestCase):
    """On a tiny model."""

    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = Path(cls.temporary.name)
        cls.path = cls.folder / "tiny.gguf"
        example("tiny-gguf", str(cls.path), "5", "--layers=3")
        file = File(cls.path)
        cls.tokenizer = Tokenizer(file)
        cls.reader = Reader(cls.tokenizer)
        cls.base = Base(file, CPU, torch.float32)
        cls.rows = mixture(12, "train", cls.tokenizer)
        for part, count in (("train", 12), ("validation", 8)):
            (cls.folder / part).mkdir()
            text = "".join(json.dumps(row) + "\n" for row in mixture(count, part, cls.tokenizer))
            (cls.folder / part / "mixture.jsonl").write_text(text)
            # As of rows made against biases: pairs alone, whose tasks say what was made.
            made = [{**row, "task": "variant_padded"} for row in mixture(count, part, cls.tokenizer) if row["kind"] == "pair"]
            (cls.folder / f"made-{part}").mkdir()
            (cls.folder / f"made-{part}" / "mixture.jsonl").write_text("".join(json.dumps(row) + "\n" for row in made))
        cls.pool = Pool.read([cls.folder / "train"], {"pair": 1, "question": 1}, 1000)

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    # Rows in other forms.

    def test_the_question_moves_before_the_texts_and_nothing_is_lost(self):
        row = next(row for row in self.rows if row["kind"] == "pair")
        turned = question_first(row, self.tokenizer)
        text = lambda pieces: "".join(text for _, text in pieces)
        self.assertEqual(text(turned["first"]), (
            f"{SYSTEM}Rate the response below on a criterion. Answer only with one of: no, yes.\n\nIs a bird named? What is the "
            f"answer?\n\nInstruction:\n\"\"\"\nSay what sings.\n\"\"\"\n\nResponse:\n\"\"\"\n{row['first'][3][1]}\n\"\"\"{END}"))
        # The reader counts tokens itself, and refuses a row whose count is another.
        self.reader.example(turned)
        with self.assertRaisesRegex(TrainingError, "question is not found"):
            question_first(turned, self.tokenizer)
        longer = {**row, "first": pieces("a \"\"\" b", fence='""""'), "second": pieces("c", fence='""""')}
        self.assertTrue(text(question_first(longer, self.tokenizer)["first"]).endswith(f'a """ b\n""""{END}'))

    def test_layers_go_with_their_number(self):
        self.assertEqual([VARIANTS[1].layers_of(count) for count in (30, 3, 24)], [(10, 29), (1, 2), (8, 23)])

    def test_a_majority_is_all_of_it_and_a_tie_stays(self):
        self.assertEqual(majority([0.2, 0.5, 0.3]), [0.0, 1.0, 0.0])
        self.assertEqual(majority([0.5, 0.5]), [0.5, 0.5])

    def test_a_pool_holds_whole_examples_only(self):
        self.assertEqual(len(self.pool.alone), 24)
        names = [("pair", "train-0"), ("question", "train-0")]
        rows = self.pool.rows(names, "together", self.tokenizer)
        self.assertEqual([(row["kind"], row["weight"]) for row in rows], [("options", 0.5), ("options", 0.5), ("options", 1.0)])
        path = self.folder / "half.jsonl"
        cut = [["t", SYSTEM], ["u", "a"], ["t", "\n[... the middle of this text was left out ...]\n"], *pieces("b")[3:]]
        lines = [row for row in self.rows if row["id"] == "train-0" and row.get("order") != "ba"]
        lines += [{**row, "id": "cut", "segments": cut} for row in self.rows if row["task"] == "question"][:1]
        path.write_text("".join(json.dumps(row) + "\n" for row in lines))
        # Of the pair one order is missing, and of the other row something was left out: one question is left.
        self.assertEqual(list(Pool.read([path], {"pair": 1, "question": 1}, 1000).alone), [("question", "train-0")])

    def test_plain_texts_hold_names_and_no_words_of_the_template(self):
        self.assertEqual(texts(pieces("It is.")), ("Is a bird named? Instruction: Say what sings. Response:", "It is."))

    # What came out.

    def test_a_letter_counts_for_its_response_in_both_orders(self):
        names = [("pair", "train-0"), ("pair", "train-1")]
        rows = self.pool.rows(names, "together", self.tokenizer)
        judged = []
        # Log-odds of A over B: 2 and -1 for the first pair, 1 and 3 for the second.
        for row, odds in zip(rows, (2.0, -1.0, 1.0, 3.0)):
            self.assertEqual(row["options"][0][0], "B")
            judged.append(Judged(self.reader.example(row), 0.0, [[0.0, odds]], [1.0]))
        first, second = outcomes(judged, rows, self.pool)
        # Train-0 begins with the bad one: the good one, first in "ab", is better by (2 + 1) / 2; no flip; -ln σ(1.5).
        self.assertEqual((first.right, first.flip), (1.0, 0.0))
        self.assertAlmostEqual(first.loss, 0.201413, places=5)
        # Train-1: (1 - 3) / 2 against the good one, and A was chosen in both orders.
        self.assertEqual((second.right, second.flip), (0.0, 1.0))
        self.assertAlmostEqual(second.loss, 1.313262, places=5)

    def test_the_mass_outside_the_options_costs_nothing(self):
        row = self.pool.alone["question", "train-1"]
        # Shares of 0.03 and 0.01 of all that could be said: no has 3/4 of both, and people said no.
        judged = Judged(self.reader.example(row), 0.0, [[math.log(0.03), math.log(0.01)]], [0.04])
        (found,) = outcomes([judged], [row], self.pool)
        self.assertAlmostEqual(found.loss, -math.log(0.75))
        self.assertEqual(found.right, 1.0)

    def test_outcomes_by_hand(self):
        pair = {"task": "t", "id": "1", "group": "g", "kind": "pair", "target": [0.75, 0.25], "first": pieces("ab"), "second": pieces("abc")}
        found = outcome_of_pair(pair, 3.0)
        # 0.75 ln(1 + e^-3) + 0.25 ln(1 + e^3).
        self.assertAlmostEqual(found.loss, 0.798587, places=5)
        self.assertEqual((found.right, found.longer), (1.0, 0.0))
        self.assertEqual(outcome_of_pair({**pair, "target": [0.5, 0.5]}, 3.0).right, None)
        options = {**pair, "kind": "options", "target": [0.0, 0.5, 0.5]}
        found = outcome_of_options(options, [-math.inf, math.log(0.5), math.log(0.5)])
        self.assertEqual(found.right, None)
        self.assertAlmostEqual(found.loss, math.log(2))

    def test_intervals_draw_groups_whole(self):
        # Two tasks: 3/4 and 1/2 right; the plain mean is 0.625 though the first has twice the rows.
        values = [("a", f"{n // 2}", float(n < 3)) for n in range(4)] + [("b", "x", 1.0), ("b", "y", 0.0)]
        self.assertEqual(macro(values).estimate, 0.625)
        # One group: every draw is the whole, and the interval a point.
        found = macro([("a", "g", 1.0), ("a", "g", 0.0)])
        self.assertEqual((found.n, found.estimate, found.low, found.high), (2, 0.5, 0.5, 0.5))
        # 400 groups of one row each, half right: the normal interval is 0.5 ± 1.96 × 0.5 / 20 = ± 0.049.
        found = macro([("a", str(n), float(n % 2)) for n in range(400)])
        self.assertAlmostEqual(found.low, 0.451, delta=0.008)
        self.assertAlmostEqual(found.high, 0.549, delta=0.008)
        self.assertIsNone(macro([]))

    def test_differences_are_taken_example_by_example(self):
        row = lambda id, right: Outcome("t", id, id, "pair", 0.0, right)
        one = [row("1", 1.0), row("2", 0.0), row("3", None)]
        other = [row("2", 0.0), row("1", 0.0), row("3", 1.0), row("4", 1.0)]
        found = difference_of(one, other)
        self.assertEqual((found.n, found.estimate), (2, 0.5))

    # Learners.

    def test_full_fine_tuning_begins_at_the_base_and_reaches_every_matrix(self):
        examples = [self.reader.example(row) for row in self.rows if row["kind"] == "pair" or "order" not in row][:4]
        asks = [ask for each in examples for ask in each.asks]
        full = Full(self.base, 0, 2)
        answers = read(FullModel(self.base, full), asks)
        with torch.no_grad():
            plain = read(Model(self.base, None), asks)
        self.assertLess((answers.options - plain.options).abs().max().item(), 1e-5)
        sum(losses(examples, answers)).backward()
        for name, parameter in full.named_parameters():
            self.assertGreater(parameter.grad.abs().max().item(), 0, name)
        # The gradient of a matrix by that of an adapter: dB = s dW A' with alpha = rank, so s = 1.
        adapter = Adapter(self.base.config, Plan(1, 1, ("ffn_down",), 4, 4.0), 0)
        sum(losses(examples, read(Model(self.base, adapter), asks))).backward()
        right = full.a["1_down"].grad @ adapter.a["1_ffn_down"].detach().t()
        found = adapter.b["1_ffn_down"].grad
        self.assertLess((found - right).abs().max().item(), 1e-3 * right.abs().max().item())
        upper = Full(self.base, 2, 2)
        self.assertEqual(len(upper.a), 4)
        read(FullModel(self.base, upper), asks).options[:, 0].sum().backward()

    def test_frozen_states_are_those_of_prompts_alone(self):
        row = next(row for row in self.rows if row["kind"] == "pair")
        tokens, (start, end) = spans_of(self.tokenizer, row["first"])
        self.assertEqual(tokens[start:end], self.tokenizer.user(row["first"][-5][1]))
        prompts = [spans_of(self.tokenizer, row[side]) for side in ("first", "second")]
        found = states(self.base, prompts, [1, 3])
        for number, (ids, span) in enumerate(prompts):
            model, alone = Model(self.base, None), Batch(Forest([ids]), self.base)
            every, x = torch.arange(len(ids)), self.base.embedding[alone.tokens]
            with torch.no_grad():
                for index in range(3):
                    x = model._layer(index, x, alone, every)
                    if index in (0, 2):
                        place = (0, None, 1)[index]
                        self.assertLess(np.abs(found[number, place, 0] - x[-1].numpy()).max(), 1e-4)
                        self.assertLess(np.abs(found[number, place, 1] - x[span[0] : span[1]].mean(0).numpy()).max(), 1e-4)

    def test_readouts_find_a_direction(self):
        random = np.random.default_rng(0)
        direction = random.normal(size=8)
        x = random.normal(size=(200, 8)).astype(np.float32)
        y = (x @ direction > 0).astype(float)
        model = Softmax(x[:150], np.stack([1 - y, y], 1)[:150], 1e-3)
        self.assertGreater(np.mean(model.logs(x[150:]).argmax(1) == y[150:]), 0.9)
        self.assertAlmostEqual(np.exp(model.logs(x[:1])).sum(), 1.0, places=6)
        first, second = x[:100], x[100:]
        better = (first @ direction > second @ direction).astype(float)
        pairs = Differences(first[:70], second[:70], better[:70], 1e-3)
        self.assertGreater(np.mean((pairs.differences(first[70:], second[70:]) > 0) == better[70:]), 0.9)
        # Turned around, a difference has the other sign and nothing else.
        self.assertLess(np.abs(pairs.differences(first, second) + pairs.differences(second, first)).max(), 1e-9)

    # The whole, from the command line.

    def command(self, *arguments: str) -> tuple[int, str, str]:
        """What `ablate.py` returns, says and complains."""
        said, complained = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(complained):
            code = ablate.main(list(arguments))
        return code, said.getvalue(), complained.getvalue()

    def test_variants_are_made_once_and_tabled(self):
        out = self.folder / "out"
        run = ["run", "--model", str(self.path), "--mixture", str(self.folder / "train"), "--held-out",
               str(self.folder / "validation"), "--out", str(out), "--tasks", "pair=8:6,question=8:6", "--batch", "4",
               "--max-tokens", "1000", "--warmup", "2", "--dtype", "float32"]
        for _ in range(2):
            code, _, complaint = self.command(*run, "--variants", "base,lora,letter,full,readout,cured", "--cured",
                                              str(self.folder / "made-train"), "--cured-held-out", str(self.folder / "made-validation"))
            self.assertEqual(code, 0, complaint)
        results = {result["variant"]: result for result in map(json.loads, (out / "results.jsonl").read_text().splitlines())}
        self.assertEqual(list(results), ["base", "lora", "letter", "full", "readout", "cured"])
        # Once each.
        self.assertEqual(len((out / "results.jsonl").read_text().splitlines()), 6)
        # 16 examples, of which the 8 pairs are two rows each; as many steps as 16 in batches of 4.
        self.assertEqual((results["letter"]["learned"]["rows"], results["letter"]["learned"]["steps"]), (24, 4))
        self.assertEqual((results["cured"]["learned"]["rows"], results["cured"]["learned"]["steps"]), (16, 4))
        learned = [json.loads(line) for line in (out / "cured" / "mixture.jsonl").read_text().splitlines()]
        self.assertEqual(sum(row["task"] == "variant_padded" for row in learned), 4)
        count = lambda name: len((out / f"{name}.outcomes.jsonl").read_text().splitlines())
        self.assertEqual([count(name) for name in ("base", "letter", "longer", "lora.made", "cured.made")], [12, 12, 12, 8, 8])
        # Both variants of the adapter learned something, and not the same.
        losses_of = lambda name: [json.loads(line)["loss"] for line in (out / f"{name}.outcomes.jsonl").read_text().splitlines()]
        self.assertNotEqual(losses_of("base"), losses_of("lora"))
        self.assertNotEqual(losses_of("full"), losses_of("lora"))
        code, _, complaint = self.command(*run, "--variants", "base", "--seed", "1")
        self.assertEqual((code, "other settings or rows" in complaint), (1, True))
        code, _, complaint = self.command(*run, "--held-out", str(self.folder / "train"), "--variants", "base")
        self.assertEqual((code, "groups that are learned" in complaint), (1, True))
        code, said, complaint = self.command("table", "--out", str(out))
        self.assertEqual(code, 0, complaint)
        for line in ("| pairs shown together, a letter chosen, both orders |", "the same letter in both orders",
                     "| variant | padded | mean | less the reference |"):
            self.assertIn(line, said)


class Encoder(unittest.TestCase):
    """What of the encoder needs no encoder."""

    def test_further_passes_go_on_by_task_and_begin_again(self):
        names = [("a", "1"), ("a", "2"), ("b", "1")]
        further = [("b", "2"), ("a", "3")]
        self.assertEqual(further_pass(names, further, 1), [("a", "3"), ("a", "1"), ("b", "2")])
        self.assertEqual(further_pass(names, further, 2), [("a", "2"), ("a", "3"), ("b", "1")])

    def test_its_losses_are_those_of_the_language_model(self):
        # As above: 0.75 ln(1 + e^-3) + 0.25 ln(1 + e^3); and of yes with logits 0 and 2: ln(1 + e^-2).
        self.assertAlmostEqual(Scorer.loss({"kind": "pair", "target": [0.75, 0.25]}, torch.tensor(3.0)).item(), 0.798587, places=5)
        self.assertAlmostEqual(Scorer.loss({"kind": "options", "target": [0.0, 1.0]}, torch.tensor([0.0, 2.0])).item(), 0.126928, places=5)
        self.assertEqual(Scorer.options({"options": [spelled("no"), spelled("yes")]}), "score")
        self.assertEqual(Scorer.options({"options": [spelled("1"), spelled("2")]}), ("1", "2"))


class Curve(unittest.TestCase):
    """Learning curves."""

    def test_a_log_and_its_continuation(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "log.jsonl"
            point = lambda rows, a, b: {"event": "validation", "rows_seen": rows, "tasks": {
                "mean": {"accuracy": 0}, "a": {"accuracy": a, "decided": 10}, "b": {"accuracy": b, "decided": 30}, "text": {"loss": 1}}}
            path.write_text("".join(json.dumps(each) + "\n" for each in (
                {"event": "step", "step": 1}, point(0, 0.5, 0.5), point(100, 0.6, 0.5), point(100, 0.7, 0.5))))
            points, rows = read_log(path)
            self.assertEqual((list(points), rows, points[100]), ([0, 100], 100, {"a": (0.7, 10), "b": (0.5, 30)}))
            further, rows = read_log(path, rows)
            self.assertEqual((list(further), rows), ([100, 200], 200))
            path.write_text("no line\n")
            with self.assertRaisesRegex(TrainingError, "line 1"):
                read_log(path)
        # The plain mean over tasks, and rows together.
        self.assertEqual(by_family({"a": (0.7, 10), "b": (0.5, 30)}, {"a": "f", "b": "f"}), {"f": (0.6, 40), "all": (0.6, 40)})
        shown = table({"0 rows": {"f": (0.5, 40), "all": (0.5, 40)}, "9 rows": {"f": Interval(40, 0.6, 0.4, 0.8), "all": (0.6, 40)}})
        self.assertEqual(shown.splitlines()[2], "| f | 0.500 (n 40) | 0.600 (0.400 to 0.800) | 40 |")

    def test_a_curve_is_thinned_by_ratios(self):
        points = {size: {} for size in [0, *range(100, 10_001, 100)]}
        self.assertEqual(list(thinned(points, 4)), [0, 100, 1000, 10_000])
        self.assertEqual(len(thinned({0: {}, 5: {}}, 4)), 2)

    def test_answers_of_an_adapter(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "answers.jsonl"
            path.write_text("".join(json.dumps(each) + "\n" for each in (
                # Log-odds 1 and 3: the second is better, as people said.
                {"task": "p", "id": "1", "kind": "pair", "target": [0.0, 1.0], "log_probabilities": [[-2, -1], [-4, -1]]},
                {"task": "q", "id": "2", "kind": "options", "target": [0.2, 0.8], "log_probabilities": [[-1, -2]]},
                {"task": "q", "id": "3", "kind": "options", "target": [0.5, 0.5], "log_probabilities": [[-1, -2]]})))
            self.assertEqual(read_evaluated(path, {("p", "1"): "g"}), [("p", "g", 1.0), ("q", "2", 0.0)])
            # On a scale the expected worth decides: 0.5·1 + 0.5·3 = 2 against 0.9·2 + 0.1·1 = 1.9; "does not apply" is left out.
            logs = [[[math.log(each) for each in shares] for shares in ((0.25, 1e-9, 0.25, 0.5), (0.09, 0.81, 1e-9, 0.1))]][0]
            path.write_text(json.dumps({"task": "p", "id": "1", "kind": "pair", "target": [1.0, 0.0], "log_probabilities": logs}) + "\n")
            self.assertEqual(read_evaluated(path, {}, {("p", "1"): [1.0, 2.0, 3.0, None]}), [("p", "1", 1.0)])
            with self.assertRaisesRegex(TrainingError, "line 1: 4 options, but 2 of them"):
                read_evaluated(path, {})


class Annotator(unittest.TestCase):
    """The measurement on FLASK's rows, without them."""

    def test_figures_by_hand(self):
        self.assertAlmostEqual(set_f1({1, 2, 3}, {2, 3, 4, 5}), 4 / 7)
        self.assertIsNone(set_f1(set(), set()))
        # Ranks 1, 2.5, 2.5, 4 and 1, 3, 2, 4: centred products 2.25 + 0 + 0 + 2.25, norms √4.5 and √5.
        self.assertAlmostEqual(spearman(np.array([1, 2, 2, 3]), np.array([1, 3, 2, 4])), 4.5 / math.sqrt(4.5 * 5))
        self.assertTrue(math.isnan(spearman(np.array([1, 1]), np.array([1, 2]))))

    def test_folds_are_drawn_as_the_annotator_s_measurement_draws_them(self):
        # The generator's first numbers for the seed 1234567, from its authors' reference program.
        known = (6457827717110365317, 3203168211198807973, 9817491932198370423)
        random = SplitMix64(1234567)
        self.assertEqual([random.below(1 << 64) for _ in known], list(known))



class Beside(unittest.TestCase):
    """What readouts beside an adapter would add."""

    def cases(self, count: int) -> tuple[list[Case], list[np.ndarray]]:
        """Questions to which the adapter knows nothing, and of which the first of three measures knows the answer."""
        random = np.random.default_rng(1)
        out, measured = [], []
        for index in range(count):
            x = random.normal(size=(1, 3))
            good = float(x[0, 0] > 0)
            row = {"task": "t", "id": str(index), "group": str(index // 2), "kind": "options", "target": [1 - good, good]}
            out.append(Case(row, "f", ["readability"], [0.0, 1.0], np.log([[0.5, 0.5]]), 1.0, x, x))
            measured.append(x)
        return out, measured

    def test_what_the_answers_lack_is_found(self):
        cases, measured = self.cases(200)
        without = [case.outcome(np.zeros(1)) for case in cases]
        # Nothing is known: ln 2.
        self.assertAlmostEqual(np.mean([each.loss for each in without]), math.log(2), places=12)
        found = crossed(cases, measured, [index // 2 % 5 for index in range(200)], (0.001, 0.001))
        self.assertGreater(np.mean([each.right for each in found]), 0.95)
        # What means nothing adds nothing: random measures that know of no answer.
        noise = [np.random.default_rng(index).normal(size=(1, 3)) for index in range(200)]
        lost = crossed(cases, noise, [index // 2 % 5 for index in range(200)], (0.01, 0.01))
        self.assertGreater(np.mean([each.loss for each in lost]), math.log(2) - 0.02)

    def test_a_pair_is_judged_by_the_difference(self):
        row = {"task": "t", "id": "1", "group": "g", "kind": "pair", "target": [1.0, 0.0], "first": pieces("a"), "second": pieces("b")}
        case = Case(row, "f", ["overall"], [0.0, 1.0], np.log([[0.5, 0.5], [0.5, 0.5]]), 2.0, np.zeros((2, 1)), np.zeros((2, 1)))
        # z adds its half to "yes" and takes it from "no", so the log-odds are z: 2 x (1.5 - 0.5) = 2, and ln(1 + e^-2) is lost.
        self.assertAlmostEqual(case.outcome(np.array([1.5, 0.5])).loss, math.log1p(math.exp(-2)), places=12)
        # A skill that was not learned has the shared part alone.
        cases, measured = self.cases(50)
        lean = Lean(cases, measured, (0.01, 0.01))
        alone = lean.features(np.ones((2, 3))) @ lean.weights[:, 0]
        np.testing.assert_allclose(lean.z(case, np.ones((2, 3))), alone)

    def test_places_and_skills_are_those_of_the_task_files(self):
        tasks = Tasks(Path(__file__).parent.parent / "crates" / "retort-bench" / "tasks")
        row = {"task": "diasafety_safe", "kind": "options", "options": [["no", " no"], ["yes", " yes"]]}
        self.assertEqual((tasks.skills(row), tasks.places(row)), (["harmlessness"], [0.0, 1.0]))
        asked = {"task": "summedits", "asked": "factuality", "options": [[each] for each in ("1", "2", "3", "4", "5", "NA")]}
        self.assertEqual((tasks.skills(asked), tasks.places(asked)), (["factuality"], [0.0, 0.25, 0.5, 0.75, 1.0, None]))
        self.assertEqual(tasks.skills({"task": "variant_longer_worse_harmless_reply"}), ["harmlessness", "overall"])
        self.assertIsNone(tasks.places({"task": "begin_attribution", "options": [["red"], ["green"]]}))

    def test_measures_by_hand(self):
        found = dict(zip(MEASURES, measures(pieces("Robin sings. He has 3 eggs.", context="Say what Robin sings to 3 hens."))))
        # Content words, stemmed: robin, sing, 3, egg (more than three letters, or a number); the prompt has all but egg.
        self.assertAlmostEqual(found["words"], 3 / 4)
        # Of the second sentence 3 of "3, eggs".
        self.assertAlmostEqual(found["worst sentence"], 1 / 2)
        # What, Robin, sings, 3 and hens were to be covered; "what" and "hens" are not.
        self.assertAlmostEqual(found["prompt covered"], 3 / 5)
        self.assertEqual((found["numbers"], found["has numbers"], found["names"], found["has names"]), (1.0, 1.0, 0.0, 1.0))
        self.assertEqual((found["ends"], found["declines"], found["repeated"]), (1.0, 0.0, 0.0))
        self.assertAlmostEqual(found["length"], math.log(7))


if __name__ == "__main__":
    unittest.main()
