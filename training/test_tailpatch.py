"""What a patch's effect is and what it is rated, by hand."""

import tempfile
import unittest
from pathlib import Path

from retort_training import TrainingError
from tailpatch import effect, kind_of, rating, read_plan


class Patching(unittest.TestCase):
    def test_an_effect_and_its_error_by_hand(self):
        # The loss fell by 0.5, 0.5, 0 and 0: 0.25 on average. The two groups' deviations sum to 0.5 and -0.5; squared, summed and
        # times 2 / 1 for two groups that is 1, and the root of it over four rows 0.25.
        self.assertEqual(effect([1, 1, 1, 1], [0.5, 0.5, 1, 1], ["a", "a", "b", "b"]), (0.25, 0.25))
        # Rows of their own: deviations of ±0.25, four squares of 0.0625 times 4 / 3, root over four: 0.144338.
        mean, error = effect([1, 1, 1, 1], [0.5, 0.5, 1, 1], ["a", "b", "c", "d"])
        self.assertEqual(mean, 0.25)
        self.assertAlmostEqual(error, 0.144338, places=6)

    def test_ratings_by_hand(self):
        self.assertEqual([rating(mean, 0.1) for mean in (0.21, 0.15, 0.1, -0.1, -0.11)], [2, 1, 0, 0, -1])
        self.assertEqual(kind_of([2, 1, 0, -1]), "general")
        self.assertEqual(kind_of([1, 0, 0, -1]), "special")
        self.assertEqual(kind_of([1, -1, -1, 0]), "harmful")
        self.assertEqual(kind_of([0, 0, 0]), "unseen")

    def test_the_plan_names_tasks_that_there_are(self):
        here = Path(__file__)
        bundles, categories = read_plan(here.with_name("tailpatch.toml"))
        files = {path.stem for path in (here.parent.parent / "crates/retort-bench/tasks").glob("*.toml")}
        named = {task for tasks in [*bundles.values(), *categories.values()] for task in tasks if not task.startswith("variant_")}
        self.assertEqual(named - files, set())
        each = [task for tasks in bundles.values() for task in tasks]
        self.assertEqual(len(each), len(set(each)), "a task is in one bundle")

    def test_a_plan_without_bundles_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "plan.toml"
            path.write_text("[categories]\na = [\"b\"]\n")
            with self.assertRaisesRegex(TrainingError, r"has no \[bundles\]"):
                read_plan(path)


if __name__ == "__main__":
    unittest.main()
