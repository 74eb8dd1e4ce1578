"""Tests of the recipe: `python -m unittest discover -s training`.

They write a tiny random model with Retort's own tools and hold what is computed here against Retort's engine, so `cargo`
must be there. With RETORT_TEST_MODEL set to the default model's file, its tokens and probabilities are checked too.
"""

from __future__ import annotations

import itertools
import json
import math
import os
import random
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
sys.path.insert(0, str(Path(__file__).parent))

import torch

from retort_training import TrainingError
from retort_training.base import Base, File
from retort_training.calibrate import (FEWEST, Fit, Rows, bins_of, calibrate, calibration_error, cross_fitted, fit, folds_of, of_rows,
                                       table, write)
from retort_training.forest import Forest
from retort_training.learn import Example, Judged, Reader, difference, judge, log_odds, losses, micro_batches
from retort_training.lora import Adapter, Plan, plan_of
from retort_training.mixture import Mixture, Sampler, held_out
from retort_training.model import Batch, Model
from retort_training.readout import Ask, Tries, read
from retort_training.run import Interrupt, Run, Settings, rate
from retort_training.tokenizer import Tokenizer

ROOT = Path(__file__).resolve().parent.parent
CPU = torch.device("cpu")
WORDS = "the a in on then there other one thing water stone bird sings rain falls over hills and nobody hears it".split()


def example(name: str, *arguments: str) -> str:
    """What one of the engine's examples prints."""
    command = ["cargo", "run", "--quiet", "-p", "retort-lm", "--example", name, "--", *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: {done.stderr}")
    return done.stdout


def probabilities(logs: list[float], shared: bool) -> list[float]:
    """Of the options; as shares of their sum if wanted."""
    values = [math.exp(log) for log in logs]
    return [value / sum(values) for value in values] if shared else values


def spelled(label: str) -> list[str]:
    """As Retort spells an option."""
    return [label, f" {label}"]


def rows(seed: int, count: int, tokenizer: Tokenizer) -> list[dict]:
    """Rows with something to learn: answers that name a bird are good, and of two the one that does."""
    chance = random.Random(seed)
    sentence = lambda bird: " ".join(chance.choices(WORDS, k=chance.randint(3, 9)) + (["bird"] if bird else ["stone"]))
    out = []
    for number in range(count):
        kind = ("options", "pair", "options")[number % 3]
        scale = number % 3 == 2
        question = "How much of a bird is it?" if scale else "Does it name a bird?"
        before = [["t", "<|im_start|>user\nInstruction:\n\"\"\"\n"], ["u", f"Say what sings, {chance.choice(WORDS)} <|im_end|>."],
                  ["t", "\n\"\"\"\n\nResponse:\n\"\"\"\n"]]
        after = [["t", "\n\"\"\"\n\nAnswer the question below. "], ["u", question], ["t", "<|im_end|>\n<|im_start|>assistant\nAnswer:"]]
        birds = [chance.random() < 0.5 for _ in range(2)]
        if kind == "pair" and birds[0] == birds[1]:
            birds[1] = not birds[0]
        texts = [[*before, ["u", sentence(bird)], *after] for bird in birds]
        good = birds[0]
        row = {"task": "scale" if scale else kind, "id": f"row-{number}", "group": f"{number:016x}",
               "part": "validation" if number % 8 == 7 else "train", "kind": kind, "wording": "short"}
        if kind == "pair":
            row |= {"order": "ab", "first": texts[0], "second": texts[1], "options": [spelled("no"), spelled("yes")],
                    "target": [float(good), float(not good)]}
        elif scale:
            row |= {"segments": texts[0], "options": [spelled(str(level)) for level in range(1, 6)],
                    "target": [0, 0, 0.125, 0.125, 0.75] if good else [0.75, 0.25, 0, 0, 0]}
        else:
            row |= {"segments": texts[0], "options": [spelled("no"), spelled("yes")],
                    "target": [float(not good), float(good)]}
        prompts = texts if kind == "pair" else texts[:1]
        out.append(row | {"weight": 1.0, "tokens": sum(len(tokenizer.prompt(text)) for text in prompts)})
    return out


class Tiny(unittest.TestCase):
    """Everything on a tiny model."""

    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = Path(cls.temporary.name)
        cls.path = cls.folder / "tiny.gguf"
        example("tiny-gguf", str(cls.path), "5", "--layers=3")
        cls.file = File(cls.path)
        cls.tokenizer = Tokenizer(cls.file)
        cls.reader = Reader(cls.tokenizer)
        cls.base = Base(cls.file, CPU, torch.float32)
        cls.rows = rows(1, 96, cls.tokenizer)
        cls.mixture_path = cls.folder / "mixture.jsonl"
        cls.mixture_path.write_text("".join(json.dumps(row) + "\n" for row in cls.rows))

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def adapter(self, seed: int = 0, filled: bool = False, **plan) -> Adapter:
        adapter = Adapter(self.base.config, Plan(**{"first_layer": 1, "last_layer": 2, "rank": 4, "alpha": 8.0, **plan}), seed)
        if filled:
            generator = torch.Generator().manual_seed(seed + 1)
            for b in adapter.b.values():
                b.data = 0.1 * torch.randn(b.shape, generator=generator)
        return adapter

    def mixture(self, tasks: set[str] | None = None) -> Mixture:
        return Mixture(self.mixture_path, None, tasks, 2048)

    def run_in(self, name: str, **settings) -> Run:
        settings = Settings(**{"batch": 8, "window": 3, "warmup": 4, "micro_tokens": 700, **settings})
        adapter, mixture = self.adapter(settings.seed), self.mixture()
        sampler = Sampler([(mixture, None)], "train", settings.batch, settings.window, settings.seed)
        return Run(Model(self.base, adapter), self.reader, sampler, held_out([mixture], "validation", 20, 0), settings,
                   self.folder / name, {"base": "", "mixtures": [mixture.sha256], "settings": {}})

    # The forward and the backward pass.

    def plainly(self, tokens: list[int], adapter: Adapter | None) -> torch.Tensor:
        """Logits of one sequence by the equations of the Llama paper, with adapters merged into the matrices: nothing is
        shared with what is tested but the weights."""
        config, base = self.base.config, self.base
        x = base.embedding[tokens]
        norm = lambda x, weight: x / (x.pow(2).mean(-1, keepdim=True) + config.epsilon).sqrt() * weight
        size, each = config.head_size, config.heads // config.kv_heads

        def turned(x):
            out = x.clone()
            for pair in range(size // 2):
                angle = torch.arange(len(tokens)) * config.rotary_base ** (-2 * pair / size)
                a, b = x[:, :, 2 * pair], x[:, :, 2 * pair + 1]
                out[:, :, 2 * pair] = a * angle.cos()[:, None] - b * angle.sin()[:, None]
                out[:, :, 2 * pair + 1] = a * angle.sin()[:, None] + b * angle.cos()[:, None]
            return out

        for index in range(config.layers):
            def weight(name):
                value = torch.from_numpy(self.file.weights(f"blk.{index}.{name}.weight"))
                key = f"{index}_{name}"
                if adapter and key in adapter.a:
                    value = value + adapter.plan.alpha / adapter.plan.rank * adapter.b[key] @ adapter.a[key]
                return value

            layer = base.layers[index]
            y = norm(x, layer.attention_norm)
            heads = lambda name: (y @ weight(name).t()).view(len(tokens), -1, size)
            q, k, v = turned(heads("attn_q")), turned(heads("attn_k")), heads("attn_v")
            k, v = k.repeat_interleave(each, 1), v.repeat_interleave(each, 1)
            scores = torch.einsum("qhd,khd->hqk", q, k) / size**0.5
            scores = scores.masked_fill(torch.ones(len(tokens), len(tokens), dtype=torch.bool).triu(1), float("-inf"))
            x = x + torch.einsum("hqk,khd->qhd", scores.softmax(-1), v).reshape(len(tokens), -1) @ weight("attn_output").t()
            y = norm(x, layer.feed_forward_norm)
            gate = y @ weight("ffn_gate").t()
            x = x + (gate * gate.sigmoid() * (y @ weight("ffn_up").t())) @ weight("ffn_down").t()
        return norm(x, base.output_norm) @ base.output.t()

    def plain_options(self, ask: Ask, options: list[list[str]], adapter: Adapter | None) -> torch.Tensor:
        """Log-probabilities of options none of which begins another: the sum over spellings of products over tokens."""
        out = []
        for spellings in options:
            ways = []
            for spelling in {tuple(self.tokenizer.user(spelling)) for spelling in spellings}:
                logs = self.plainly([*ask.tokens, *spelling], adapter).log_softmax(-1)
                ways.append(sum(logs[len(ask.tokens) - 1 + at, token] for at, token in enumerate(spelling)))
            out.append(torch.stack(ways).logsumexp(0))
        return torch.stack(out)

    def test_probabilities_and_gradients_are_those_of_the_equations(self):
        chosen = self.rows[:3]
        for plan in ({}, {"first_layer": 0, "matrices": ("attn_k", "ffn_up", "ffn_down")}):
            adapter = self.adapter(3, filled=True, **plan)
            examples = [self.reader.example(row) for row in chosen]
            answers = read(Model(self.base, adapter), [ask for each in examples for ask in each.asks], with_mass=True)
            sum(losses(examples, answers)).backward()
            ours = {name: parameter.grad for name, parameter in adapter.named_parameters()}
            adapter.zero_grad()
            total, at = 0, 0
            for row, each in zip(chosen, examples):
                logs = [self.plain_options(ask, row["options"], adapter) for ask in each.asks]
                for found in logs:
                    mine = answers.options[at, : len(found)] + answers.mass[at]
                    self.assertLess((mine - found).abs().max().item(), 2e-4)
                    at += 1
                if row["kind"] == "pair":
                    d = (logs[0][1] - logs[0][0]) - (logs[1][1] - logs[1][0])
                    total = total - row["target"][0] * torch.log(torch.sigmoid(d)) - row["target"][1] * torch.log(torch.sigmoid(-d))
                else:
                    total = total - (torch.tensor(row["target"]) * logs[0].log_softmax(0)).sum()
            total.backward()
            for name, parameter in adapter.named_parameters():
                scale = parameter.grad.abs().max().item()
                self.assertGreater(scale, 0, name)
                self.assertLess((ours[name] - parameter.grad).abs().max().item(), 2e-3 * scale + 1e-6, name)

    def test_a_forest_is_its_sequences_apart(self):
        chance = random.Random(7)
        draw = lambda count: [chance.randrange(200) for _ in range(count)]
        shared, inner = draw(20), draw(18)
        sequences = [shared + inner + draw(5), shared + inner + draw(1), shared + draw(30), shared, draw(3), shared + inner]
        sequences.append(list(sequences[0]))
        forest = Forest(sequences)
        self.assertEqual(forest.rows, 20 + 18 + 5 + 1 + 30 + 3)
        tokens = forest.tokens().tolist()
        for number, sequence in enumerate(sequences):
            self.assertEqual([tokens[forest.row(number, at)] for at in range(len(sequence))], sequence)
            self.assertEqual(forest.row(number, -1), forest.row(number, len(sequence) - 1))
        model = Model(self.base, self.adapter(3, filled=True))
        last = torch.tensor([forest.row(number, -1) for number in range(len(sequences))])
        with torch.no_grad():
            found = [model.states(Batch(forest, self.base, by_mask), last) for by_mask in (False, True)]
            apart = []
            for sequence in sequences:
                alone = Forest([sequence])
                apart.append(model.states(Batch(alone, self.base), torch.tensor([len(sequence) - 1])))
        for states in found:
            self.assertLess((states - torch.cat(apart)).abs().max().item(), 1e-4)

    def test_an_option_that_begins_another_keeps_what_does_not_go_on(self):
        # P(1) = P("1")(1 - P("0" | "1")), P(10) = P("1")P("0" | "1"), each plus nothing: one spelling each.
        ask = Ask(self.tokenizer.prompt([["u", "How many birds?"]]), Tries(self.tokenizer)([["1"], ["10"], ["7"]]))
        with torch.no_grad():
            answers = read(Model(self.base, None), [ask], with_mass=True)
            logs = self.plainly(ask.tokens + self.tokenizer.user("1"), None).softmax(-1)
        one, zero, seven = (self.tokenizer.user(digit)[0] for digit in "107")
        first, second = logs[len(ask.tokens) - 1], logs[len(ask.tokens)]
        right = torch.stack([first[one] * (1 - second[zero]), first[one] * second[zero], first[seven]])
        found = (answers.options[0] + answers.mass[0]).exp()
        self.assertLess((found / right - 1).abs().max().item(), 1e-3)

    def test_mass_does_not_change_the_shares(self):
        ask = self.reader.example(self.rows[2]).asks[0]
        with torch.no_grad():
            with_mass, without = (read(Model(self.base, None), [ask], wanted) for wanted in (True, False))
        self.assertLess((with_mass.options - without.options).abs().max().item(), 1e-4)
        self.assertIsNone(without.mass)

    def test_text_is_learned_by_its_own_tokens(self):
        row = {"task": "t", "id": "x", "kind": "text", "segments": [["u", "Say it."]], "answer": [["u", " the bird"], ["t", "<|im_end|>"]]}
        row["tokens"] = len(self.tokenizer.prompt(row["segments"]))
        each = self.reader.example(row)
        with torch.no_grad():
            answers = read(Model(self.base, None), each.asks)
            logs = self.plainly(each.asks[0].tokens + each.asks[0].answer, None).log_softmax(-1)
        at = len(each.asks[0].tokens) - 1
        right = -sum(logs[at + place, token] for place, token in enumerate(each.asks[0].answer)) / len(each.asks[0].answer)
        self.assertAlmostEqual(losses([each], answers)[0].item(), right.item(), places=4)

    def test_loss_of_a_pair_by_hand(self):
        pair = self.reader.example({**self.rows[1], "target": [0.75, 0.25]})
        answers = read(Model(self.base, None), pair.asks)
        # Log-odds of 2 and -1, so d = 3: 0.75 ln(1 + e^-3) + 0.25 ln(1 + e^3) = 0.75 × 0.048587 + 0.25 × 3.048587.
        answers.options = torch.tensor([[-1.0, 1.0], [-0.5, -1.5]])
        self.assertEqual(difference(answers, 0, pair.places).item(), 3.0)
        self.assertAlmostEqual(losses([pair], answers)[0].item(), 0.798587, places=5)

    def test_the_score_of_a_scale_by_hand(self):
        # 0.1 + 0.4 + 0.9 + 1.0 + 0.75 = 3.15 of 1 to 5 is the place 0.5375, and ln(0.5375 / 0.4625) = 0.150282.
        shares = torch.tensor([0.1, 0.2, 0.3, 0.25, 0.15])
        self.assertAlmostEqual(log_odds(shares.log(), [0, 0.25, 0.5, 0.75, 1]).item(), 0.150282, places=5)
        # What does not apply says nothing of the score, and of two options it is their log-odds.
        halved = torch.cat([shares / 2, torch.tensor([0.5])])
        self.assertAlmostEqual(log_odds(halved.log(), [0, 0.25, 0.5, 0.75, 1, None]).item(), 0.150282, places=5)
        self.assertAlmostEqual(log_odds(torch.tensor([-2.0, -0.5]), [0.0, 1.0]).item(), 1.5, places=6)

    def test_a_scale_without_values_is_refused(self):
        row = {**self.rows[1], "options": [["1"], ["2"], ["7"]]}
        with self.assertRaisesRegex(TrainingError, "`values` for each of its 3 options"):
            self.reader.example(row)
        self.assertEqual(self.reader.example({**row, "values": [1, 3, None]}).places, [0.0, 1.0, None])

    # Order and rates.

    def test_every_row_comes_once_in_an_epoch(self):
        mixture = self.mixture()
        sampler = Sampler([(mixture, None)], "train", 7, 4, 3)
        ids = [row["id"] for _ in range(24) for row in sampler.next()]
        train = [row["id"] for row in self.rows if row["part"] == "train"]
        self.assertEqual((len(ids), len(train)), (168, 84))
        self.assertEqual(sorted(ids[:84]), sorted(train))
        self.assertEqual(sorted(ids[84:]), sorted(train))
        self.assertNotEqual(ids[:84], ids[84:])

    def test_mixtures_come_by_their_weights(self):
        scale, pairs = self.mixture({"scale"}), self.mixture({"pair"})
        sampler = Sampler([(scale, 3.0), (pairs, 1.0)], "train", 8, 2, 0)
        tasks = [row["task"] for _ in range(10) for row in sampler.next()]
        self.assertEqual((tasks.count("scale"), tasks.count("pair")), (60, 20))

    def test_a_sampler_goes_on_where_it_stood(self):
        for steps in range(9):
            one, other = (Sampler([(self.mixture(), None)], "train", 8, 3, 5) for _ in range(2))
            for _ in range(steps):
                one.next()
            other.restore(json.loads(json.dumps(one.state())))
            for _ in range(5):
                self.assertEqual([row["id"] for row in one.next()], [row["id"] for row in other.next()])

    def test_rates_by_hand(self):
        settings = Settings(warmup=10)
        self.assertEqual(rate(settings, 0, 110), 0.1)
        self.assertEqual(rate(settings, 9, None), 1.0)
        # Half of the way: the middle between 1 and 0.05.
        self.assertAlmostEqual(rate(settings, 60, 110), 0.525)
        self.assertAlmostEqual(rate(settings, 110, 110), 0.05)
        trapezoid = Settings(warmup=10, schedule="trapezoid")
        self.assertAlmostEqual(rate(trapezoid, 90, 110), 1.0)
        self.assertAlmostEqual(rate(trapezoid, 100, 110), 0.5)

    def test_micro_batches_hold_so_many_tokens(self):
        examples = [self.reader.example(row) for row in self.rows[:12]]
        runs = micro_batches(examples, 700)
        self.assertEqual(list(itertools.chain(*runs)), examples)
        self.assertTrue(all(len(run) == 1 or sum(each.tokens for each in run) <= 700 for run in runs))
        self.assertGreater(max(map(len, runs)), 1)

    # Bad input.

    def test_rows_for_another_tokenizer_are_refused(self):
        row = {**self.rows[0], "tokens": self.rows[0]["tokens"] + 3}
        with self.assertRaisesRegex(TrainingError, "row-0: .* made for another base"):
            self.reader.example(row)

    def test_a_file_that_is_not_its_manifest_s_is_refused(self):
        path = self.folder / "other.jsonl"
        path.write_text(json.dumps(self.rows[0]) + "\n")
        path.with_suffix(".json").write_text(json.dumps({"form": 1, "sha256": "0" * 64}))
        with self.assertRaisesRegex(TrainingError, "not the file that its manifest describes"):
            Mixture(path, None, None, 2048)
        path.with_suffix(".json").write_text(json.dumps({"form": 1, "model": {"sha256": "1" * 64}}))
        with self.assertRaisesRegex(TrainingError, "made for another base"):
            Mixture(path, "2" * 64, None, 2048)

    # The whole.

    def test_what_was_trained_is_what_retort_reads(self):
        run = self.run_in("trained", mass_weight=0.3)
        before = run.validate()["tasks"]["mean"]
        self.assertEqual(run.train(40, None, 60, 60, "Tiny judge", Interrupt()), "done")
        events = [json.loads(line) for line in open(run.folder / "log.jsonl")]
        steps = [event["loss"] for event in events if event["event"] == "step"]
        self.assertEqual(len(steps), 40)
        self.assertLess(sum(steps[-5:]), 0.8 * sum(steps[:5]))
        after = [event for event in events if event["event"] == "validation"][-1]["tasks"]["mean"]
        self.assertLess(after["loss"], before["loss"])

        adapter = run.folder / "adapter.gguf"
        self.assertEqual(plan_of(adapter), run.adapter.plan)
        self.assertEqual(File(adapter).get("retort.training.steps"), "40")
        written = self.adapter()
        written.read(adapter)
        chosen = self.rows[:24]
        path = run.folder / "rows.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in chosen))
        judged, _ = judge(Model(self.base, run.adapter), [self.reader.example(row) for row in chosen], 1000)
        base, _ = judge(Model(self.base, None), [self.reader.example(row) for row in chosen], 1000)
        lines = example("answers", str(self.path), str(path), str(adapter)).splitlines()
        self.assertEqual(len(lines), len(chosen))
        worst, moved = [0.0, 0.0], 0.0
        for line, row, mine, untrained in zip(map(json.loads, lines), chosen, judged, base):
            self.assertEqual(line["id"], row["id"])
            self.assertEqual(sum(answer["tokens"] for answer in line["answers"]), row["tokens"])
            for answer, logs, plain in zip(line["answers"], mine.log_probabilities, untrained.log_probabilities):
                for place, shared in enumerate((False, True)):
                    found, log, other = (probabilities(each, shared) for each in (answer["log_probabilities"], logs, plain))
                    worst[place] = max(worst[place], *(abs(a - b) for a, b in zip(found, log)))
                    moved = max(moved, *(abs(a - b) for a, b in zip(other, log)))
        # As probabilities of all that could be said, and as shares of what was offered.
        print("largest difference from Retort:", worst)
        self.assertLess(max(worst), 1e-2)
        # The comparison could fail: without its adapter the model answers otherwise.
        self.assertGreater(moved, 5e-2)

    def test_an_interrupted_run_ends_bit_by_bit_as_an_uninterrupted_one(self):
        whole, first = self.run_in("whole"), self.run_in("parts")
        whole.train(12, None, 60, 60, "t", Interrupt())

        class Soon:
            """Ctrl-C within the fifth step."""

            @property
            def wanted(self):
                return first.step == 5

        self.assertEqual(first.train(12, None, 60, 60, "t", Soon()), "interrupted")
        second = self.run_in("parts")
        second.restore()
        self.assertEqual(second.step, 5)
        second.train(12, None, 60, 60, "t", Interrupt())
        for name, value in whole.adapter.state_dict().items():
            self.assertTrue(torch.equal(value, second.adapter.state_dict()[name]), name)
        tensors = lambda name: {t.name: t.data.tobytes() for t in File(self.folder / name / "adapter.gguf").reader.tensors}
        self.assertEqual(tensors("whole"), tensors("parts"))
        # The comparison could fail: another seed ends elsewhere.
        other = self.run_in("other", seed=1)
        other.train(12, None, 60, 60, "t", Interrupt())
        self.assertFalse(torch.equal(other.adapter.b["1_attn_q"], whole.adapter.b["1_attn_q"]))

    def test_another_mixture_does_not_go_on_with_a_run(self):
        run = self.run_in("sources")
        run.save()
        run.sources = {**run.sources, "mixtures": ["another"]}
        with self.assertRaisesRegex(TrainingError, "made with mixtures"):
            run.restore()

    def test_time_is_kept_from_the_command_line(self):
        command = [sys.executable, str(Path(__file__).parent / "train.py"), "train", "--model", str(self.path),
                   "--mixture", str(self.mixture_path), "--run", str(self.folder / "command"), "--minutes", "0.2",
                   "--layers", "1-2", "--rank", "2", "--warmup", "3", "--threads", "1", "--batch", "4"]
        done = subprocess.run(command, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        events = [json.loads(line) for line in open(self.folder / "command" / "log.jsonl")]
        self.assertIn(events[-1]["stopped"], ("time", "done"))
        self.assertLess(events[-1]["elapsed"], 20)
        self.assertIn("left", [event for event in events if event["event"] == "step"][-1])
        out = self.folder / "exported.gguf"
        export = [*command[:2], "export", "--model", str(self.path), "--run", str(self.folder / "command"), "--out", str(out)]
        subprocess.run(export, check=True, capture_output=True)
        trained = {t.name: t.data.tobytes() for t in File(self.folder / "command" / "adapter.gguf").reader.tensors}
        self.assertEqual({t.name: t.data.tobytes() for t in File(out).reader.tensors}, trained)
        further = [*command[:7], "--run", str(self.folder / "further"), "--init", str(out), "--steps", "0", "--threads", "1"]
        subprocess.run(further, check=True, capture_output=True)
        begun = {t.name: t.data.tobytes() for t in File(self.folder / "further" / "adapter.gguf").reader.tensors}
        self.assertEqual(begun, trained)
        # Everything but the calibration is copied, and without one there is no such key.
        calibrated = self.folder / "calibrated.gguf"
        calibrate = [*command[:2], "calibrate", "--model", str(self.path), "--mixture", str(self.mixture_path), "--adapter", str(out),
                     "--out", str(calibrated), "--dtype", "float32", "--part", "train"]
        table = subprocess.run(calibrate, check=True, capture_output=True, text=True).stdout
        # 28 rows of each kind: too few for a temperature of its own.
        self.assertRegex(table, r"difference of pairs +28 .*fewer than 30 rows")
        form = json.loads(File(calibrated).get("retort.calibration"))
        self.assertEqual(form["rows"], 84)
        self.assertEqual(form["mixture_sha256"], File(out).get("retort.mixture.sha256"))
        self.assertEqual({t.name: t.data.tobytes() for t in File(calibrated).reader.tensors}, trained)
        kept = lambda path: {key: field.contents() for key, field in File(path).reader.fields.items()
                             if not key.startswith("GGUF.") and key != "retort.calibration"}
        self.assertEqual(kept(calibrated), kept(out))
        self.assertIsNone(File(out).get("retort.calibration"))
        # An adapter may replace itself.
        write(calibrated, calibrated, {**form, "rows": 1})
        self.assertEqual(json.loads(File(calibrated).get("retort.calibration"))["rows"], 1)
        self.assertEqual(kept(calibrated), kept(out))
        judged = [*command[:2], "evaluate", "--model", str(self.path), "--mixture", str(self.mixture_path), "--adapter",
                  str(out), "--out", str(self.folder / "judged.jsonl"), "--dtype", "float32"]
        found = subprocess.run(judged, check=True, capture_output=True, text=True).stdout
        self.assertEqual(json.loads(found)["mean"]["tasks"], 3)
        self.assertEqual(len((self.folder / "judged.jsonl").read_text().splitlines()), 12)


def drawn(seed: int, count: int, temperature: float, bias: list[float], groups: int = 10**9) -> Rows:
    """Answers of a model whose probabilities are off in a known way: people answer by exp(log p / T + bias)."""
    chance = torch.Generator().manual_seed(seed)
    logs = (2 * torch.randn(count, len(bias), generator=chance, dtype=torch.float64)).log_softmax(-1)
    right = torch.multinomial((logs / temperature + torch.tensor(bias, dtype=torch.float64)).softmax(-1), 1, generator=chance)[:, 0]
    out = Rows()
    for number, (log, answer) in enumerate(zip(logs.tolist(), right.tolist())):
        out.add(log, [float(place == answer) for place in range(len(bias))], 1.0, f"group {number % groups}")
    return out


class Calibrating(unittest.TestCase):
    """Temperatures, corrections and errors, without a model."""

    def test_a_known_temperature_and_bias_are_found(self):
        # Over 40 seeds T was 2.006 with a standard deviation of 0.047, biases had one of 0.024, and T = 0.5 below one of 0.016.
        found = fit([drawn(1, 6000, 2.0, [0.5, 0.0, -0.5])], True)
        self.assertAlmostEqual(found.temperature, 2.0, delta=0.19)
        for bias, right in zip(found.bias, [0.5, 0.0, -0.5]):
            self.assertAlmostEqual(bias, right, delta=0.1)
        self.assertAlmostEqual(sum(found.bias), 0.0, places=9)
        alone = fit([drawn(2, 6000, 0.5, [0.0, 0.0])], False)
        self.assertAlmostEqual(alone.temperature, 0.5, delta=0.065)
        self.assertEqual(alone.bias, ())

    def test_a_temperature_by_hand(self):
        # All say 3/4 (log-odds ln 3) and 2/3 are right (log-odds ln 2), so without the pull T = ln 3 / ln 2 = 1.58496. The pull's
        # slope there is ln T = 0.4606 and the likelihood's curvature in ln T (ln 2)² 2/3 1/3 = 0.1068 for each of 3,000 rows, so
        # ln T moves by 0.4606 / 321 = 0.00143 and T by 0.0023.
        rows = Rows()
        for number in range(3000):
            rows.add([math.log(0.25), math.log(0.75)], [1.0, 0.0] if number % 3 == 0 else [0.0, 1.0], 1.0, str(number))
        self.assertAlmostEqual(fit([rows], False).temperature, math.log(3) / math.log(2) - 0.0023, delta=0.0002)
        # Of one row the pull leaves little: without it T would be 0, since the row says what is right and could say it surer.
        self.assertGreater(fit([rows.only([1])], False).temperature, 0.7)
        # Weights count as rows: each wrong row twice makes half of the weight right, and T is drawn to infinity.
        rows.weights = [2.0 if number % 3 == 0 else 1.0 for number in range(3000)]
        self.assertGreater(fit([rows], False).temperature, 5)

    def test_the_calibration_error_by_hand(self):
        # Two rows say 0.9 and are right by 1 and 0: |0.9 - 0.5|. One says 0.6, and 0.6 of the people say so: 0. Mean 0.8/3.
        rows = Rows()
        for log, target in (([0.1, 0.9], [0.0, 1.0]), ([0.9, 0.1], [0.0, 1.0]), ([0.6, 0.4], [0.6, 0.4])):
            rows.add([math.log(share) for share in log], target, 1.0, "g")
        self.assertAlmostEqual(calibration_error([bins_of(Fit().shares(rows), rows)]), 0.8 / 3, places=9)
        # The third row counted twice: 0.8/4.
        rows.weights[2] = 2.0
        self.assertAlmostEqual(calibration_error([bins_of(Fit().shares(rows), rows)]), 0.8 / 4, places=9)

    def test_what_is_measured_was_not_fitted_to(self):
        groups = [f"group {number % 23}" for number in range(200)]
        places = folds_of(groups, 5)
        self.assertEqual(len({(group, place) for group, place in zip(groups, places)}), 23)
        sizes = [len({group for group, place in zip(groups, places) if place == fold}) for fold in range(5)]
        self.assertEqual(sorted(sizes), [4, 4, 5, 5, 5])
        self.assertEqual(folds_of(groups[::-1], 5), places[::-1])
        rows = drawn(3, 400, 2.0, [0.0, 0.0], groups=20)
        found = cross_fitted(rows, True, 5)
        # A fold's answers turned round change what is fitted to the others, and not what the fold itself is set right by.
        places = folds_of(rows.groups, 5)
        turned = rows.only(range(400))
        turned.targets = [target[::-1] if place == 0 else target for target, place in zip(rows.targets, places)]
        other = cross_fitted(turned, True, 5)
        same = [bool(torch.equal(a, b)) for a, b in zip(found, other)]
        self.assertEqual(same, [place == 0 for place in places])
        self.assertIsNone(cross_fitted(drawn(3, 50, 2.0, [0.0, 0.0], groups=1), False, 5))

    def test_overconfidence_becomes_less(self):
        report = of_rows("no, yes", drawn(4, 3000, 3.0, [0.4, -0.4]), True, 5)
        self.assertGreater(report.ece_before, 0.1)
        self.assertLess(report.ece_after, 0.04)
        self.assertLess(report.loss_after, report.loss_before)

    def test_few_rows_have_a_temperature_alone_or_nothing(self):
        def judged(count: int, labels: list[str]) -> list[tuple[dict, Judged]]:
            rows = drawn(count, count, 2.0, [0.3] + [0.0] * (len(labels) - 1))
            out = []
            for number, (log, target) in enumerate(zip(rows.logs, rows.targets)):
                row = {"kind": "options", "options": [spelled(label) for label in labels], "id": f"{labels}{number}"}
                out.append((row, Judged(Example("t", row["id"], "options", [], target, 1.0), 0.0, [log], [1.0])))
            return out

        def pair(number: int) -> tuple[dict, Judged]:
            # The first has log-odds of 2 and the second of 0, and of four people three prefer the first: T = 2 / ln 3.
            example = Example("p", f"p{number}", "pair", [], [0.75, 0.25], 1.0)
            return {"kind": "pair", "id": f"p{number}"}, Judged(example, 0.0, [[-3.0, -1.0], [-2.0, -2.0]], [1.0, 1.0])

        every = judged(FEWEST - 1, ["a", "b"]) + judged(FEWEST, ["1", "2", "NA"]) + judged(150, ["no", "yes"])
        every += [pair(number) for number in range(2000)]
        form, reports = calibrate([row for row, _ in every], [each for _, each in every], ["m"], 5)
        self.assertEqual([scale["labels"] for scale in form["scales"]], [["no", "yes"], ["1", "2", "NA"]])
        self.assertEqual(form["scales"][1]["bias"], [0.0, 0.0, 0.0])
        self.assertNotEqual(form["scales"][0]["bias"], [0.0, 0.0])
        self.assertEqual((form["form"], form["rows"], form["mixture_sha256"]), (1, 2000 + 2 * FEWEST - 1 + 150, "m"))
        self.assertEqual(form["other"]["rows"], 2 * FEWEST - 1 + 150)
        self.assertAlmostEqual(form["difference"]["temperature"], 2 / math.log(3), places=2)
        # σ(2) = 0.8808 against 0.75.
        self.assertAlmostEqual(form["difference"]["ece_before"], 0.8808 - 0.75, places=4)
        self.assertLess(form["difference"]["ece_after"], 0.01)
        self.assertIn("fewer than 30 rows", table(reports))
        few = judged(FEWEST - 1, ["a", "b"])
        with self.assertRaisesRegex(TrainingError, "29 rows are too few"):
            calibrate([row for row, _ in few], [each for _, each in few], ["m"], 5)


@unittest.skipUnless(os.environ.get("RETORT_TEST_MODEL"), "RETORT_TEST_MODEL is not set")
class Real(unittest.TestCase):
    """The default model, against numbers that transformers gave."""

    def test_tokens_and_probabilities_of_the_fixture(self):
        file = File(Path(os.environ["RETORT_TEST_MODEL"]))
        tokenizer = Tokenizer(file)
        cases = json.loads((ROOT / "crates/retort-lm/tests/fixtures/options.json").read_text())["cases"]
        trie = Tries(tokenizer)([[str(level)] for level in range(1, 6)])
        asks = []
        for case in cases:
            ids = tokenizer.prompt([("t" if piece["special"] else "u", piece["text"]) for piece in case["segments"]])
            self.assertEqual(ids, case["ids"], case["name"])
            asks.append(Ask(ids, trie))
        with torch.no_grad():
            answers = read(Model(Base(file, CPU, torch.float32), None), asks, with_mass=True)
        for number, case in enumerate(cases):
            found = answers.options[number] + answers.mass[number]
            right = torch.tensor(case["option_log_probs"])
            self.assertLess((found - right).abs().max().item(), 1e-3, case["name"])


if __name__ == "__main__":
    unittest.main()
