"""Writes verify.jsonl: responses with the verdicts that they must get.

Every expected value stands here, counted or decided by a person; nothing is computed by the verifier. The counts in
COUNTED are turned into three limits each by a rule that can be checked by eye: exactly so many is met, at least one more
is not, at most one fewer is not.

Run: python3 make_verify.py > verify.jsonl
"""

import json

# Unit: (text, how many).
COUNTED = {
    "word": [
        ("One two three four five.", 5), ("", 0), ("   \n", 0), ("don't can’t o'clock", 3),
        ("A well-known, state-of-the-art idea", 8), ("Pi is 3.14159, not 22/7.", 6),
        ("Visit https://example.com/a-b now", 6), ("Dr. Smith's U.S. tour", 4), ("猫が好き", 4), ("カタカナ", 1),
        ("Hello 世界", 3), ("😀 smile 👩‍👩‍👧", 1), ("**bold** and _italic_", 3),
        ("snake_case kebab-case camelCase", 4), ("1. First\n2. Second", 4), ("e.g. this", 2),
        ("—dashes—everywhere—", 2), ("rock 'n' roll", 3), ("1,000,000 people", 2), ("user@example.com wrote", 3),
        ("Line one\r\nLine two", 4), ("```\nlet x = 1;\n```", 3), ("naïve café", 2), ("nai\u0308ve cafe\u0301", 2),
        ("10% off & more", 3), ("C++ and C#", 3), ("안녕하세요 세계", 2), ("Привет, мир!", 2),
        ("# Title\n\nSome text here.", 4), ("| a | b |\n|---|---|\n| 1 | 2 |", 4), ("a/b/c", 3), ("…", 0),
        ("it's 5 o'clock—isn't it?", 5), ("\ufeffBOM first", 2), ("soft\u00adhyphen", 1), ("tab\tnew\u00a0no-break", 4),
    ],
    "sentence": [
        ("One. Two! Three?", 3), ("Dr. Smith met Mrs. Jones at 5 p.m. They talked.", 2),
        ("The U.S. Navy sailed. It won.", 2), ("He moved to the U.S. The weather was fine.", 2),
        ("J. R. R. Tolkien wrote it.", 1), ("Use tools, e.g. Apple Notes. Done.", 2), ("Pi is 3.14. Nice.", 2),
        ("Visit example.com. Then stop.", 2), ("\"Stop!\" he said. She did.", 2), ("Wait... what? Yes.", 2),
        ("This is a\nwrapped sentence. And one more.", 2), ("no capitals here. still two sentences.", 2),
        ("First paragraph\n\nSecond paragraph", 2), ("- Apples\n- Pears\n- Figs are sweet. Eat them.", 4),
        ("# Heading. With stop.\n\nBody text.", 1), ("今日は晴れです。散歩に行きます。", 2), ("", 0), ("!!! ???", 0),
        ("What?! Really!", 2), ("(It rained.) We left.", 2), ("Mr. and Mrs. Hall arrived.", 1),
        ("He got a B. It was fine.", 2), ("1. Do this.\n2. Do that.", 2), ("```\nCode. Here. Now.\n```\nOne.", 1),
        ("**Note.** Read this.", 2), ("**Read this.**", 1), ("I like Vitamin C. It helps.", 2),
        ("Paris. London. Rome.", 3), ("She said: \"Go. Now.\" We went.", 3),
        ("> Quoted line one\n> goes on. Done.", 2), ("A line\r\ngoes on. Next.", 2), ("Wow! that is odd.", 2),
        ("Fig. 3 shows it. See pp. 4-5.", 2), ("John F. Kennedy spoke.", 1), ("Is it so? No! Yes…", 3),
        ("hello! how are you? i am fine.", 3),
    ],
    "paragraph": [
        ("One.\n\nTwo.\n\nThree.", 3), ("One.\nStill one.\n\n\n\nTwo.", 2), ("# Title\n\nText.", 1),
        ("Intro:\n- a\n- b\n\nOutro.", 2), ("Intro.\n\n- a\n- b\n\nOutro.", 2), ("- a\n- b", 0),
        ("```\ncode\n\nmore\n```", 0), ("One.\r\n\r\nTwo.", 2), ("**Title**\n\nText one.\n\nText two.", 2),
        ("One.\n   \nTwo.", 2), ("One.\n\n---\n\nTwo.", 2), ("", 0), ("One.\n\n***\n\nTwo.\n\n***\n\nThree.", 3),
        ("Text\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\nText", 2), ("> A quote.\n\nText.", 2),
        ("# A\nText right below.", 1), ("…\n\nText.", 1), ("\n\n  One.  \n\n", 1),
    ],
    "line": [
        ("a\nb\n\nc", 3), ("a\r\nb\r\n", 2), ("a\rb", 2), ("", 0), ("  \n x ", 1),
        ("Roses are red,\nViolets are blue,\nTea is hot\nAnd so are you.", 4), ("a\u2028b", 1), ("\ufeff\na", 1),
    ],
    "character": [
        ("abc", 3), ("abc  \n", 3), ("a b", 3), ("e\u0301", 1), ("👨‍👩‍👧‍👦", 1), ("🇫🇷🇩🇪", 2), ("a\r\nb", 3), ("日本", 2),
        ("", 0), ("  x  ", 1), ("e\u0301e", 2), ("\u1112\u1161\u11ab\u1100\u116e\u11a8", 2), ("👍🏽!", 2),
        ("a\nb", 3), ("\ufeffab", 2),
    ],
    "non_space_character": [("a b c", 3), ("a\n\nb", 2), ("日 本", 2), ("\tx y\u00a0z", 3), (" ", 0)],
    "item": [
        ("- a\n- b\n- c", 3), ("1. a\n2. b", 2), ("1. a\n   - x\n   - y\n2. b\n   - z", 2),
        ("- a\n  - b\n    - c\n- d", 2), ("- a\n   1. x\n   2. y\n- b", 2), ("plain text", 0),
        ("- a\n\n1. b", 2), ("1. a\n- b", 2),
    ],
    "bullet": [
        ("- a\n- b\n- c", 3), ("1. a\n2. b", 0), ("1. a\n   - x\n   - y\n2. b\n   - z", 3),
        ("- a\n  - b\n    - c\n- d", 2), ("* a\n+ b\n- c", 3), ("• a\n• b", 2), ("•a\n•b", 2), ("-a\n-b", 0),
        ("a - b\nc - d", 0), ("---\n***\n* * *", 0), ("```\n- a\n- b\n```\n- c", 1), ("- a\n\n- b\n\n- c", 3),
        ("- a\r\n- b\r\n", 2), ("- [ ] todo\n- [x] done", 2), ("- a\n\ntext\n\n- b", 2), ("\t- a\n\t- b", 2),
        ("- a\n   1. x\n   2. y\n- b", 2), ("**Bold text** and more", 0), ("* *emph*", 1), ("", 0),
        ("Text:\n- a\n- b\nlazy line\n- c", 3), ("-5 degrees\n-6 degrees", 0), ("~~~\n* x\n~~~", 0),
        ("- a\n  goes on\n  and on\n- b", 2),
    ],
    "numbered_item": [
        ("1. a\n2. b", 2), ("- a\n- b", 0), ("1. a\n   - x\n   - y\n2. b\n   - z", 2), ("1) a\n2) b\n3) c", 3),
        ("Text\n1. a\n2. b", 2), ("It happened in\n12. It was cold", 0), ("2019. A year", 0),
        ("**1. First**\ntext\n\n**2. Second**\ntext", 2), ("1. a\n\n   more on a\n\n2. b", 2), ("1. a\n1. b\n1. c", 3),
        ("- a\n   1. x\n   2. y\n- b", 2), ("**1.** a\n**2.** b", 2), ("# 1. Heading", 0), ("10. ten\n11. eleven", 2),
        ("3.14 is pi", 0), ("1. a\n   1. b\n   2. c\n2. d", 2), ("1.\ta\r\n2.\tb\r\n", 2),
        ("```\n1. a\n```", 0), ("1.a\n2.b", 0),
    ],
    "heading": [
        ("# A\n## B\n### C", 3), ("#A", 0), ("A\n===\n\nB\n---", 2), ("####### seven", 0), ("```\n# c\n```", 0),
        ("# A #", 1), ("**Bold title**", 0), ("text # not", 0), ("# A\r\n\r\ntext", 1), ("#", 1), ("text\n\n---\n\ntext", 0),
    ],
    "table": [
        ("| a | b |\n|---|---|\n| 1 | 2 |", 1), ("a | b\n--- | ---\n1 | 2", 1), ("| a |\n| 1 |", 0),
        ("```\n| a | b |\n|---|---|\n```", 0), ("| a | b |\n|---|---|\n| 1 | 2 |\n\n| c | d |\n|---|---|", 2),
        ("| a | b |\n|---|", 0), ("| a | b |\r\n|:--|--:|\r\n| 1 | 2 |\r\n", 1), ("this | that", 0),
        ("`a | b`\n---", 0),
    ],
    "code_block": [
        ("```\nx\n```", 1), ("~~~\nx\n~~~", 1), ("`x`", 0), ("```\nx", 1), ("```py\na\n```\ntext\n```py\nb\n```", 2),
        ("````\n```\n````", 1), ("```a```", 0), ("- item\n  ```\n  x\n  ```", 1),
    ],
    "formula": [
        ("$x^2$", 1), ("It costs $5 or $10.", 0), ("$$a+b$$", 1), ("\\(a\\) and \\[b\\]", 2),
        ("\\begin{align}a&=b\\end{align}", 1), ("`$x$`", 0), ("$ x $", 0), ("$x_{1$", 0), ("\\$5 and \\$6", 0),
        ("$a$ and $b$", 2), ("```\n$x$\n```", 0), ("$$\\begin{cases}a\\\\b\\end{cases}$$", 1),
        ("\\[ x \\]\n\n\\[ y \\]", 2), ("no formula", 0), ("$\\frac{1}{2}$", 1),
    ],
    "placeholder": [
        ("[name]", 1), ("Dear [name], on [date]", 2), ("[link](http://x.y)", 0), ("- [ ] a\n- [x] b", 0), ("{city}", 1),
        ("{{user_name}}", 1), ("<YOUR NAME>", 1), ("<your name>", 1), ("<b>bold</b>", 0), ("see [1] and [23]", 0),
        ("[^note]", 0), ("`[name]`", 0), ("$x_{ab}$", 0), ("\\[x\\]", 0), ("line<br>break", 0),
        ("[Your Name]\n[Your Address]", 2), ("1 < 2 and 3 > 2", 0), ("[", 0), ("[a\nb]", 0),
    ],
    "highlight": [
        ("*a* and **b**", 2), ("2 * 3 * 4", 0), ("snake_case_name", 0), ("_x_", 1), ("***both***", 1), ("`*x*`", 0),
        ("* item one\n* item two", 0), ("**a *b* c**", 1), ("*a", 0), ("**Title**\n\ntext", 1), ("\\*not\\*", 0),
        ("a*b*c", 1), ("*a\nb*", 0),
    ],
    "quotation": [
        ("She said \"hi\" and “bye”.", 2), ("it's 'fine'", 0), ("«oui» „nein“", 2), ("\"\"", 0), ("5\" pipe", 0),
        ("`\"x\"`", 0), ("「はい」", 1),
    ],
    "link": [
        ("http://a.b", 1), ("See https://x.org/p, and www.y.com.", 2), ("example.com", 0), ("[t](https://x.org)", 1),
        ("HTTP://A.B", 1), ("awww.b", 0), ("http://", 0),
    ],
    "emoji": [
        ("😀", 1), ("👨‍👩‍👧‍👦👍🏽", 2), ("❤\ufe0f", 1), ("❤", 0), ("© 2024", 0), ("🇫🇷", 1), ("1\ufe0f\u20e3", 1),
        ("✅ done ❌", 2), ("★ ✓", 0), ("plain :)", 0),
    ],
    "number": [
        ("3 cats and 4.5 dogs, 1,000 fish", 3), ("three", 0), ("v2.0.1", 1), ("1. a\n2. b", 2), ("½", 1), ("٣", 1),
        ("A1B2", 2), ("1, 2", 2), ("10.", 1),
    ],
    "uppercase_word": [
        ("NASA and the USA", 2), ("I am A", 0), ("Hello", 0), ("U.S. and EU", 2), ("COVID-19", 1), ("ÉTÉ", 1),
        ("iOS and macOS", 0), ("日本", 0),
    ],
    "question": [
        ("Why? Because. Really?", 2), ("\"Why?\" he asked.", 0), ("Is it?!", 1), ("本当？", 1), ("Who knows…", 0),
        ("He asked \"Why?\"", 1), ("**Ready?**", 1),
    ],
    "comma": [("a, b, c", 2), ("1,000", 1), ("日本、中国，韓国", 2), ("none", 0), ("a; b", 0), ("`a,b`", 1)],
}

CASES = []


def case(verdict, constraint, response, count=None, note=None):
    row = {"constraint": constraint, "response": response, "verdict": verdict}
    if count is not None:
        row["count"] = count
    if note:
        row["note"] = note
    CASES.append(row)


def met(*rest, **more):
    case("met", *rest, **more)


def no(*rest, **more):
    case("not_met", *rest, **more)


def na(*rest, **more):
    case("not_applicable", *rest, **more)


def c(kind, **fields):
    return {"kind": kind, **fields}


def count(what, **limit):
    (key, value), = limit.items()
    return c("count", what=what, limit={key: value})


for what, rows in COUNTED.items():
    for text, n in rows:
        met(count(what, exactly=n), text, n)
        no(count(what, at_least=n + 1), text, n)
        if n:
            no(count(what, at_most=n - 1), text, n)

# Whole answers as models write them, each unit counted by eye.
ANSWERS = [
    (
        "# Morning routine\n\nHere are three habits, based on experience:\n\n1. **Wake up early.** It gives you time.\n"
        "   - Set one alarm.\n   - Put the phone away.\n2. **Drink water.** Dr. Lee's advice: two glasses, i.e. about 0.5 "
        "litres.\n3. **Move!**\n\n```python\nprint(\"go, go\")\n```\n\nWant to know more? See "
        "https://example.com/habits.\n\n*Good luck!*",
        {"heading": 1, "numbered_item": 3, "bullet": 2, "item": 3, "code_block": 1, "link": 1, "question": 1,
         "paragraph": 3, "sentence": 11, "comma": 3, "highlight": 4, "number": 4, "emoji": 0, "quotation": 0, "line": 12},
    ),
    (
        "Sure! Here is the table:\r\n\r\n| City | Country |\r\n|:--|--:|\r\n| Porto | Portugal |\r\n| Turku | Finland |"
        "\r\n\r\nBoth are ports.\r\n",
        {"table": 1, "paragraph": 2, "sentence": 3, "line": 6, "word": 14, "comma": 0, "heading": 0, "item": 0},
    ),
    (
        "ok so 😀 first: buy milk. then, call mom!! see u 2morrow?",
        {"sentence": 3, "word": 11, "emoji": 1, "question": 1, "number": 1, "comma": 1, "uppercase_word": 0, "paragraph": 1},
    ),
    (
        "**Plan**\n\n* Day 1: Rome\n    * Morning: Forum\n    * Evening: Trastevere\n* Day 2: Naples\n\n---\n\n> Note: "
        "trains cost $20 to $30.\n\nDear [name], “enjoy” it!",
        {"bullet": 2, "item": 2, "paragraph": 2, "formula": 0, "placeholder": 1, "quotation": 1, "highlight": 1, "heading": 0,
         "sentence": 7, "number": 4, "line": 8},
    ),
]
for text, counts in ANSWERS:
    for what, n in counts.items():
        met(count(what, exactly=n), text, n)
        no(count(what, at_least=n + 1), text, n)

# Limits: the words are "w" so many times.
def words(n):
    return " ".join(["w"] * n)


for n, verdict in [(179, no), (180, met), (200, met), (220, met), (221, no)]:
    verdict(count("word", about=200), words(n), n)
for n, verdict in [(99, no), (100, met), (150, met), (151, no)]:
    verdict(count("word", between=[100, 150]), words(n), n)
for n, verdict in [(1, no), (2, met), (3, met), (4, met), (5, no)]:
    verdict(count("bullet", about=3), "\n".join(["- x"] * n), n)
for n, verdict in [(0, no), (1, met), (2, met), (3, no)]:
    verdict(count("word", about=1), words(n), n)
na(count("word", between=[5, 3]), "x", note="an empty range is no constraint")

# Words and phrases.
def phrase(text, **more):
    return c("phrase", text=text, **more)


def never(text, **more):
    return c("phrase", text=text, limit={"at_most": 0}, **more)


for verdict, constraint, response, n in [
    (met, phrase("art"), "Art is long.", 1), (no, phrase("art"), "The party started.", 0),
    (met, phrase("art", inside_words=True), "The party started.", 2), (no, never("art"), "Art!", 1),
    (met, never("art"), "A partial start", 0), (met, phrase("climate change"), "Climate\nchange is real.", 1),
    (no, phrase("climate change"), "climate-change", 0), (met, phrase("don't"), "I don’t know", 1),
    (met, phrase("Ann"), "Ann's hat", 1), (no, phrase("can"), "I can't", 0), (met, phrase("well"), "a well-known fact", 1),
    (no, phrase("run"), "running runs", 0), (met, phrase("café"), "Cafe\u0301 au lait", 1),
    (no, phrase("cafe"), "café", 0), (met, phrase("STRASSE"), "strasse", 1), (no, phrase("strasse"), "Straße", 0),
    (met, phrase("ΟΔΟΣ"), "οδος", 1), (met, phrase("NASA", case_sensitive=True), "NASA", 1),
    (no, phrase("NASA", case_sensitive=True), "nasa", 0), (met, phrase("猫"), "黒猫が好き", 1),
    (met, phrase("!", limit={"exactly": 2}), "Hi! Ho!", 2), (no, phrase("!", limit={"at_most": 0}), "Hi!", 1),
    (met, phrase("the", limit={"exactly": 2}), "The cat and the theme", 2),
    (no, phrase("the", limit={"at_least": 3}), "The cat and the theme", 2),
    (met, phrase("e", inside_words=True, limit={"at_most": 0}), "A foul fort", 0),
    (no, phrase("e", inside_words=True, limit={"at_most": 0}), "Extra", 1),
    (met, phrase("a", inside_words=True, limit={"at_least": 5}), "abracadabra", 5),
    (met, phrase("aa", inside_words=True, limit={"exactly": 2}), "aaaa", 2),
    (met, phrase("C++"), "I like C++.", 1), (no, phrase("C"), "Cpp", 0), (met, phrase("C"), "C++", 1),
    (met, phrase("user_id"), "the user_id field", 1), (no, phrase("user"), "user_id", 0),
    (met, phrase("3"), "I have 3 cats", 1), (no, phrase("3"), "I have 30 cats", 0),
    (no, phrase("word"), "", 0), (met, never("word"), "", 0), (met, phrase("\"quoted\""), "a “quoted” thing", 1),
    (met, phrase("e-mail"), "e‑mail", 1), (met, phrase("key"), "`key`", 1), (met, phrase("bold"), "**bold**", 1),
    (met, phrase("soft"), "so\u00adft", 1), (no, phrase("x"), "x\u0302", 0), (met, phrase("however", limit={"exactly": 1}), "However, it rained.", 1),
    (no, phrase("however", limit={"exactly": 1}), "However, however.", 2), (met, phrase("ice cream"), "ice\u00a0cream", 1),
    (met, phrase("naïve"), "NAÏVE", 1), (met, phrase("co-operate"), "They co-operate", 1), (no, phrase("operate"), "cooperate", 0),
    (met, phrase("https://example.com"), "see https://example.com/x", 1), (met, phrase("James"), "James' book", 1),
]:
    verdict(constraint, response, n)
na(phrase(""), "x", note="no text")

# Beginnings and ends.
for verdict, text, response in [
    (met, "Dear Sir", "Dear Sir, hello"), (met, "dear sir", "  **Dear Sir**"), (no, "Dear Sir", "Hello Dear Sir"),
    (no, "Dear", "Dearest"), (met, "Once upon a time", "Once  upon\na time"), (met, "# Title", "# Title\n\nx"),
    (met, "Title", "# Title"), (no, "Dear", ""), (met, "Sure!", "Sure! Here"), (no, "Yes", "\"Yes\""),
    (met, "“Yes”", "\"Yes\" she said"), (met, "> A", "> A quote"), (met, "É", "E\u0301 bien"), (met, "Hi", "\ufeffHi there"),
    (met, "I", "I go"), (no, "I", "In"),
]:
    verdict(c("starts", text=text), response)
met(c("starts", text="Dear", inside_words=True), "Dearest")
no(c("starts", text="DEAR", case_sensitive=True), "Dear Sir")
for verdict, text, response in [
    (met, "that is all", "And that is all."), (met, "That is all.", "And that is all."), (no, "That is all!", "that is all."),
    (no, "that is all", "that is all, folks"), (met, "the end", "**The End**"), (met, "the end", "“The end.”  \n"),
    (no, "end", "weekend"), (met, "end", "Week end!"), (met, "?", "Is it?"), (no, "?", "Is it."), (no, "end", ""),
    (met, "Any other questions?", "Bye.\n\nAny other\nquestions?"), (no, "the end", "The end. Or not"),
    (met, "好き", "猫が好き。"), (no, "that is all", "that is all.."), (met, "cafe\u0301", "Le café"),
]:
    verdict(c("ends", text=text), response)
met(c("ends", text="end", inside_words=True), "weekend")

# JSON.
J = c("json")
for verdict, response in [
    (met, '{"a": 1}'), (met, '[1, 2]'), (met, '```json\n{"a": 1}\n```'), (met, '```\n{"a": 1}\n```'), (no, '{"a": 1,}'),
    (no, "{'a': 1}"), (no, 'Here it is: {"a": 1}'), (no, '{"a": 1} // done'), (no, ""), (no, "   "), (no, "{"), (met, "42"),
    (met, '"text"'), (no, "text"), (no, '```json\n{"a": 1}\n```\nDone.'), (no, '{"a": NaN}'), (met, ' \r\n{"a":\r\n[true, null]}\r\n'),
    (no, '{"a": 1}{"b": 2}'), (no, '{"a": "line\nbreak"}'), (met, '{"é": "\\u00e9 😀"}'), (no, '{a: 1}'), (no, '[1, 2,]'),
    (no, '{"a": 01}'), (met, '{"a": 1e999}'), (met, '{"a": {"a": {"a": []}}}'), (no, "[" * 300), (met, "[" * 300 + "]" * 300),
    (met, "~~~\n[]\n~~~"), (no, "True"), (met, "\ufeff{}"),
]:
    verdict(J, response)
S = c("json", place="somewhere")
for verdict, response in [
    (met, 'Here it is: {"a": 1}. Enjoy.'), (met, 'Text\n```json\n{"a": 1}\n```\nText'), (no, "JSON is a format."), (no, "42"),
    (met, "values [1, 2] end"), (no, "an {unquoted} word"), (no, '```json\n{"a": 1,}\n```'),
    (met, '```json\n{"a": 1,}\n```\nbetter:\n```json\n{"a": 1}\n```'), (no, ""),
]:
    verdict(S, response)
K = c("json", keys=["name", "age"])
for verdict, response in [
    (met, '{"name": "A", "age": 3}'), (met, '{"age": 3, "name": "A", "x": 0}'), (no, '{"name": "A"}'), (no, '{"Name": "A", "age": 3}'),
    (met, '[{"name": "A", "age": 3}]'), (no, '[{"name": "A", "age": 3}, {"name": "B"}]'), (no, "[]"), (no, '["name", "age"]'),
    (no, '{"x": {"name": 1, "age": 2}}'), (na, '{"name": 1, "age": 1e999}'),
]:
    verdict(K, response)
def schema(**s):
    return c("json", schema=s)


person = schema(type="object", properties={"name": {"type": "string", "minLength": 1}, "age": {"type": "integer", "minimum": 0}},
                required=["name"], additionalProperties=False)
for verdict, constraint, response in [
    (met, person, '{"name": "A", "age": 3}'), (met, person, '{"name": "A"}'), (met, person, '{"name": "A", "age": 3.0}'),
    (no, person, '{"name": "A", "age": 3.5}'), (no, person, '{"name": ""}'), (no, person, '{"age": 3}'), (no, person, '{"name": "A", "x": 1}'),
    (no, person, '{"name": "A", "age": -1}'), (no, person, "[]"), (met, schema(type=["array", "null"]), "null"),
    (met, schema(type="array", items={"enum": [1, "b"]}, minItems=2, maxItems=2), '[1.0, "b"]'),
    (no, schema(type="array", items={"enum": [1, "b"]}), '["c"]'), (no, schema(type="array", minItems=2), "[1]"),
    (met, schema(anyOf=[{"type": "string"}, {"type": "number"}]), "3"), (no, schema(anyOf=[{"type": "string"}]), "3"),
    (no, schema(oneOf=[{"type": "number"}, {"type": "integer"}]), "3"), (met, schema(**{"not": {"type": "string"}}), "3"),
    (met, schema(const={"a": 1}), '{"a": 1.0}'), (na, schema(pattern="^a"), '"a"'), (no, schema(type="number", exclusiveMaximum=3), "3"),
    (met, schema(title="T", description="D", maxLength=2), '"é😀"'), (no, schema(allOf=[{"type": "number"}, {"maximum": 1}]), "2"),
]:
    verdict(constraint, response)

# CSV.
V = c("csv")
for verdict, response in [
    (met, "a,b\n1,2"), (met, "a,b\r\n1,2\r\n"), (met, "```csv\na,b\n1,2\n```"), (no, "a,b\n1,2,3"), (no, "a\n1"), (no, "a,b"),
    (met, 'a,b\n"x, y",2'), (met, 'a,b\n"x ""y""",2'), (no, 'a,b\n"x,2'), (no, 'a,b\nx"y,2'), (no, 'a,b\n"x"y,2'), (no, ""),
    (no, "Hello, this is a sentence."), (met, 'a,b\n"line\nbreak",2'), (no, "a,b\n\n1,2"), (met, "a,b\n,"), (no, 'a,b\n1, "2"'),
    (no, "Here:\na,b\n1,2"),
]:
    verdict(V, response)
met(c("csv", separator=";"), "a;b\n1,5;2")
no(c("csv", separator=";"), "a,b\n1,2")
met(c("csv", header=["Name", "Age"]), "name,age\nAnn,3")
no(c("csv", header=["Name", "Age"]), "age,name\n3,Ann")
met(c("csv", columns={"exactly": 1}), "name\nAnn")
met(c("csv", rows={"exactly": 2}), "a,b\n1,2\n3,4")
no(c("csv", rows={"exactly": 3}), "a,b\n1,2\n3,4")
met(c("csv", rows={"at_least": 0}), "a,b")
no(c("csv", columns={"at_least": 3}), "a,b\n1,2")
met(c("csv", place="somewhere"), "Here you are:\n```csv\na,b\n1,2\n```\nBye.")
no(c("csv", place="somewhere"), "Here you are: a,b")
no(c("csv", place="somewhere"), "```python\na,b\n1,2\n```")

# Tables.
T2 = "| Name | Age |\n|---|---|\n| Ann | 3 |\n| Bob | 4 |"
for verdict, constraint, response in [
    (met, c("table"), T2), (met, c("table", columns={"exactly": 2}), T2), (no, c("table", columns={"exactly": 3}), T2),
    (met, c("table", rows={"exactly": 2}), T2), (no, c("table", rows={"at_least": 3}), T2), (met, c("table", header=["name", "age"]), T2),
    (no, c("table", header=["age", "name"]), T2), (met, c("table", header=["Name", "Age"]), T2.replace("Name", "**Name**")),
    (no, c("table"), "```\n" + T2 + "\n```"), (no, c("table"), "no table"), (met, c("table", columns={"exactly": 2}), "| a\\|b | c |\n|---|---|\n| 1 | 2 |"),
    (no, c("table", columns={"exactly": 2}), "| `a|b` | c |\n|---|---|---|\n"), (met, c("table", rows={"exactly": 0}), "| a | b |\n|---|---|"),
    (met, c("table", rows={"exactly": 1}), "| a | b |\r\n|---|---|\r\n| 1 | 2 |\r\n\r\nText | more"),
    (met, c("table", columns={"exactly": 3}), "text\n\n" + T2 + "\n\n| a | b | c |\n|---|---|---|"), (met, c("table", columns={"exactly": 1}), "| a |\n|---|\n| 1 |"),
]:
    verdict(constraint, response)

# Code.
def code(language, **more):
    return c("code", language=language, **more)


def block(tag, text):
    return f"```{tag}\n{text}\n```"


for verdict, constraint, response in [
    (met, code("python"), block("python", "print('hi')")), (met, code("python"), block("py", "print('hi')")),
    (met, code("Python"), "Here:\n" + block("python3", "x = [1]") + "\nDone."), (no, code("python"), block("javascript", "x = [1]")),
    (no, code("python"), "print('hi')"), (na, code("python"), block("", "print('hi')")), (no, code("python"), block("python", "print('hi'")),
    (no, code("python"), block("python", "print('hi)")), (met, code("python"), block("python", "s = ')'  # (")),
    (met, code("python"), block("python", '"""doc ( "quote" """\nx = 1')), (no, code("python"), block("python", '"""never closed')),
    (no, code("python"), block("python", "")), (no, code("python"), block("python", "f(]")), (no, code("python"), ""),
    (met, code("js"), block("javascript", "const r = /[\"'(]/; f(`a ( ${x}`)")), (met, code("javascript"), block("js", "a = b / c / d; // (")),
    (no, code("javascript"), block("js", "function f() {")), (met, code("typescript"), block("ts", "let x: Array<number> = [];")),
    (met, code("rust"), block("rust", "fn f<'a>(c: &'a str) -> char { '(' }")), (met, code("rust"), block("rs", "/* a /* b */ ( */ fn f() {}")),
    (no, code("rust"), block("rust", "fn f() { ) }")), (met, code("c"), block("c", "char c = '\\''; /* ( */")),
    (met, code("sql"), block("sql", "SELECT 'it''s (' FROM t; -- (")), (no, code("sql"), block("sql", "SELECT COUNT(* FROM t")),
    (met, code("html"), block("html", "<!DOCTYPE html><p>a<br><b>c</b>")), (no, code("html"), block("html", "<div><b>a</div></b>")),
    (met, code("html"), block("html", "<script>if (a < b) {}</script>")), (no, code("html"), block("html", "<div>")),
    (no, code("html"), block("html", "just text")), (met, code("xml"), block("xml", "<?xml version='1.0'?><a b='>'/>")),
    (no, code("xml"), block("xml", "<a><br></a>")), (met, code("json"), block("json", '{"a": 1}')), (no, code("json"), block("json", '{"a": 1,}')),
    (met, code("json"), block("", '{"a": 1}')), (met, code("toml"), block("toml", "[a]\nb = 1")), (no, code("toml"), block("toml", "[a\nb = 1")),
    (no, code("toml"), block("toml", "a = 1\na = 2")), (met, code("csv"), block("csv", "a,b\n1,2")), (no, code("csv"), block("csv", "a,b\n1")),
    (met, code("yaml"), block("yml", "a: [1, 2")), (met, code("bash"), block("sh", "case x in a) ;; esac")), (met, code("brainfuck"), block("brainfuck", "+[-")),
    (no, code("brainfuck"), block("python", "x")), (met, code("python", place="whole"), block("python", "x = 1")),
    (no, code("python", place="whole"), "Sure:\n" + block("python", "x = 1")), (na, code("python", place="whole"), "x = 1"),
    (met, code("json", place="whole"), '{"a": 1}'), (no, code("json", place="whole"), "hello"), (met, code("c++"), block("cpp", "int x = 1'000;")),
    (met, code("go"), "~~~golang\nvar s = `a \" (`\n~~~"), (met, code("css"), block("css", "a { color: red; } /* } */")),
    (met, code("python"), block("js", "x") + "\n" + block("python", "y")), (no, code("python"), block("python", "(").replace("\n```", "")),
    (met, code("python"), "```{.python title=\"x\"}\ny = 1\n```"), (met, code("python"), block("python", "x = 1").replace("\n", "\r\n")),
]:
    verdict(constraint, response)

# Headings and sections.
H = "# Title\n\n## Part one\n\ntext\n\n## **Part two**\n"
for verdict, constraint, response, n in [
    (met, c("heading", level=2, limit={"exactly": 2}), H, 2), (no, c("heading", level=3), H, 0), (met, c("heading", text="part two"), H, 1),
    (no, c("heading", text="Part"), H, 0), (met, c("heading", level=1, text="Title", limit={"exactly": 1}), H, 1),
    (met, c("heading", level=2), "A\n---\n", 1), (met, c("heading", limit={"at_most": 0}), "**Title**", 0), (no, c("heading", level=1), "#hashtag", 0),
]:
    verdict(constraint, response, n)
P = c("sections", titles=["Pros", "Cons"])
O = c("sections", titles=["Pros", "Cons"], ordered=True)
for verdict, constraint, response, n in [
    (met, P, "# Pros\nx\n# Cons\ny", 2), (met, P, "**Cons**\nx\n\n**Pros:**\ny", 2), (no, O, "**Cons**\nx\n\n**Pros:**\ny", 2),
    (met, O, "Pros: cheap\nCons: slow", 2), (met, O, "1. **Pros**: a\n2. **Cons**: b", 2), (no, P, "Pros and cons are many.", 0),
    (no, P, "# Pros\nx", 1), (met, P, "PROS\nx\nCONS\ny", 2), (no, P, "```\n# Pros\n# Cons\n```", 0), (no, P, "The Pros: a\nThe Cons: b", 0),
    (met, P, "## 1. Pros\n\n## 2) Cons\n", 2), (no, P, "", 0), (no, P, "Prosecution:\nCons:", 1), (met, P, "Pros\r\nx\r\n\r\nCons\r\ny", 2),
]:
    verdict(constraint, response, n)
N = lambda n: c("numbered_sections", marker="Section", limit={"exactly": n})
for verdict, constraint, response, n in [
    (met, N(2), "Section 1\nx\nSection 2\ny", 2), (met, N(2), "**Section 1:** x\n\n## SECTION 2 - y", 2), (no, N(2), "Section 1\nSection 2 is cited here.", 1),
    (met, N(0), "See section 1.", 0), (no, N(3), "Section 1\nSection 2", 2), (met, N(1), "Section 12.", 1), (met, N(0), "Sections 1", 0),
]:
    verdict(constraint, response, n)
D = lambda n, by="***": c("divided", by=by, parts={"exactly": n})
for verdict, constraint, response, n in [
    (met, D(2), "One\n***\nTwo", 2), (met, D(3), "One\n***\nTwo\n***\nThree\n***\n", 3), (no, D(2), "One", 1), (met, D(1), "***\nOne", 1),
    (met, D(2, "******"), "One\n******\nTwo", 2), (no, D(2, "******"), "One\n***\nTwo", 1), (met, D(0), "***", 0), (met, D(2, "|"), "a|b", 2),
]:
    verdict(constraint, response, n)

# Nothing but.
for verdict, what, response in [
    (met, "bullet", "- a\n- b"), (no, "bullet", "Here:\n- a\n- b"), (no, "bullet", "1. a"), (met, "bullet", "- a\n\n- b\n\n"),
    (no, "bullet", "- a\n- b\n\nHope this helps!"), (met, "item", "1. a\n2. b\n- c"), (met, "numbered_item", "1. a\n   - x\n2. b"),
    (no, "numbered_item", "1. a\n- b"), (met, "table", T2), (no, "table", "A table:\n\n" + T2), (met, "code_block", block("py", "x")),
    (no, "code_block", "x"), (met, "heading", "# A\n## B"), (no, "heading", "# A\ntext"), (no, "bullet", ""), (met, "bullet", "- a\n  goes on"), (met, "bullet", "- a\n  1. x\n- b"),
]:
    verdict(c("only", what=what), response)
na(c("only", what="word"), "x")

# Case.
for verdict, which, response in [
    (met, "lower", "all small, 3 of them."), (no, "lower", "One capital"), (met, "upper", "SHOUT 3 TIMES!"), (no, "upper", "SHOUt"), (na, "lower", "123 !"),
    (na, "upper", "日本"), (met, "lower", "straße"), (no, "lower", "ÉTÉ"), (no, "upper", "STRAßE"), (met, "upper", "ÀÉ 日本"), (met, "title", "The Lord of the Rings"),
    (no, "title", "The lord of the Rings"), (no, "title", "the Lord"), (met, "title", "A Day in 1984"), (met, "lower", "e\u0301t\u00e9"), (no, "upper", "HTTPs"),
    (na, "lower", ""), (no, "lower", "Ⓐ b"), (met, "title", "Don't Stop"),
]:
    verdict(c("case", case=which), response)

# Languages. The sentences are our own.
TEXTS = {
    "en": "The weather was cold this morning, so we stayed inside and drank a pot of tea together.",
    "fr": "Ce matin il faisait froid, alors nous sommes restés à la maison et nous avons bu du thé.",
    "de": "Heute Morgen war es kalt, deshalb sind wir zu Hause geblieben und haben zusammen Tee getrunken.",
    "es": "Esta mañana hacía mucho frío, así que nos quedamos en casa y bebimos té todos juntos.",
    "it": "Questa mattina faceva freddo, quindi siamo rimasti a casa e abbiamo bevuto il tè insieme.",
    "ru": "Сегодня утром было холодно, поэтому мы остались дома и вместе пили горячий чай.",
    "ja": "今朝は寒かったので、家でお茶を飲みました。",
    "zh": "今天早上很冷，所以我们待在家里一起喝茶。",
    "ko": "오늘 아침은 추워서 집에서 차를 마셨습니다.",
    "el": "Σήμερα το πρωί έκανε κρύο και μείναμε στο σπίτι.",
    "ar": "كان الطقس باردا هذا الصباح ولذلك بقينا في البيت وشربنا الشاي معا.",
    "hi": "आज सुबह बहुत ठंड थी, इसलिए हम सब घर पर रहे और साथ में गरम चाय पी। शाम को बारिश रुक गई और बच्चे बाहर खेलने के लिए चले गए। रात में हमने खाना बनाया और देर तक बातें करते रहे।",
    "th": "เช้านี้อากาศหนาวเราจึงอยู่บ้าน",
    "he": "הבוקר היה קר ולכן נשארנו בבית ושתינו תה ביחד כל המשפחה.",
}
for tongue, text in TEXTS.items():
    met(c("language", code=tongue), text)
for tongue, other in [("en", "fr"), ("fr", "en"), ("de", "ru"), ("ru", "en"), ("ja", "zh"), ("zh", "ko"), ("es", "de"), ("en", "ja"), ("ar", "el"), ("hi", "en")]:
    no(c("language", code=tongue), TEXTS[other])
na(c("language", code="fr"), "Oui.")
na(c("language", code="fr"), "")
na(c("language", code="fr"), "123 !!!")
na(c("language", code="xx"), "Text", note="no such language")
no(c("language", code="ru"), "Da.", note="the script alone tells")
met(c("language", code="fr"), TEXTS["fr"] + "\n\n```python\nfor item in the_list_of_english_words:\n    print(item)\n```", note="code does not count")

# Quotation marks round the whole.
for verdict, response in [
    (met, '"All of it."'), (met, "“All of it.”"), (met, "«Tout»"), (met, "„Alles“"), (no, "All"), (no, "“One” and “two”"),
    (no, '"Open'), (no, '""'), (met, ' "x" \n'), (no, 'He said "x"'), (no, "'single'"), (met, '"She said "no" to it."'), (no, ""), (no, '"'),
]:
    verdict(c("quoted"), response)

# Postscripts.
for verdict, response in [
    (met, "Bye.\n\nP.S. Call me."), (met, "Bye.\nPS: Call me."), (met, "Bye.\n\n**P.S.** Call me."), (no, "P.S. Call me."), (no, "Bye. P.S. Call me."),
    (no, "Bye.\nPSA: wash"), (no, "Bye.\nP.P.S. More."), (no, ""), (met, "Bye.\r\n\r\np.s. call"), (met, "- a\n- b\n\nP.S. x"),
]:
    verdict(c("postscript"), response)
met(c("postscript", marker="P.P.S."), "Bye.\nP.S. One.\nP.P.S. Two.")
no(c("postscript", marker="P.P.S."), "Bye.\nP.S. One.")

# The request repeated.
R = c("repeats", text="What is the capital of France?")
for verdict, response in [
    (met, "What is the capital of France?\n\nParis."), (met, "**What is the capital of France?** Paris."), (met, "“What is the capital of France?” Paris."),
    (no, "Paris."), (no, "What is the capital of France?"), (no, "The capital of France? Paris."), (no, "You ask: What is the capital of France? Paris."),
    (met, "what is  the capital\nof france? Paris"), (no, ""),
]:
    verdict(R, response)
met(c("repeats", text="Say it", then_answer=False), "Say it")

# Choices.
Y = ["yes", "no"]
for verdict, constraint, response, n in [
    (met, c("choice", options=Y), "Yes.", 1), (met, c("choice", options=Y), "**no**", 1), (no, c("choice", options=Y), "Yes, because.", 1), (no, c("choice", options=Y), "maybe", 0),
    (no, c("choice", options=Y), "yes and no", 2), (no, c("choice", options=Y), "yesterday", 0), (no, c("choice", options=Y), "", 0), (met, c("choice", options=Y), "\"YES\"\n", 1),
    (met, c("choice", options=Y, place="start"), "Yes, because.", None), (no, c("choice", options=Y, place="start"), "I say yes", None), (no, c("choice", options=Y, place="start"), "Nobody", None),
    (met, c("choice", options=Y, place="somewhere"), "I say yes", 1), (no, c("choice", options=Y, place="somewhere"), "not yes but no", 2),
    (met, c("choice", options=["correct", "incorrect"]), "INCORRECT", 1), (met, c("choice", options=["blue", "light blue"]), "Light blue", 1),
    (no, c("choice", options=["blue", "light blue"], place="somewhere"), "light blue or blue", 2), (met, c("choice", options=["A", "B", "C"]), "(B)", 1),
    (no, c("choice", options=["A", "B", "C"]), "D", 0), (met, c("choice", options=["0", "1"]), "1", 1), (no, c("choice", options=["0", "1"]), "10", 0),
    (met, c("choice", options=["positive", "negative"], place="somewhere"), "The tone is positive. Very positive.", 1),
]:
    verdict(constraint, response, n)
na(c("choice", options=["one"]), "one")

# Parts.
def within(which, unit, constraint):
    return c("within", which=which, unit=unit, constraint=constraint)


short = count("word", at_most=3)
for verdict, constraint, response in [
    (met, within("each", "bullet", short), "- a b c\n- d"), (no, within("each", "bullet", short), "- a b c d\n- e"), (na, within("each", "bullet", short), "text"),
    (met, within("each", "numbered_item", short), "1. a b c\n2. d"), (met, within("each", "item", short), "- a b c\n  - d e f\n- g"), (met, within("first", "sentence", short), "One two. Three four five six."),
    (no, within("last", "sentence", short), "One two. Three four five six."), (met, within({"nth": 2}, "paragraph", c("starts", text="Yet")), "One.\n\nYet two."),
    (no, within({"nth": 3}, "paragraph", c("starts", text="Yet")), "One.\n\nYet two."), (no, within("first", "line", short), ""),
    (met, within("each", "line", c("starts", text="S", inside_words=True)), "She sells\nsea shells"), (no, within("each", "line", c("starts", text="S", inside_words=True)), "She sells\nby the sea"),
    (met, within("each", "paragraph", count("sentence", exactly=2)), "A b. C d.\n\nE f. G h."), (no, within("each", "paragraph", count("sentence", exactly=2)), "A b. C d.\n\nE f."),
    (met, within("first", "heading", count("word", at_most=2)), "# Two words\n\ntext and more text"), (met, within("each", "word", count("character", at_most=5)), "short words"),
    (no, within("each", "word", count("character", at_most=5)), "lengthy words"), (met, within("each", "sentence", c("ends", text="!")), "Hi! Ho!"),
    (met, within("last", "line", c("ends", text="end")), "The\nend.\n\n"), (na, within("each", "emoji", short), "😀"),
    (met, within("first", "code_block", count("line", at_most=2)), "```\na\nb\n```"), (na, within({"nth": 0}, "line", short), "x"),
]:
    verdict(constraint, response)

# Combinations.
def all_(*of):
    return c("all", of=list(of))


def any_(*of):
    return c("any", of=list(of))


def not_(constraint):
    return c("not", constraint=constraint)


def if_(condition, then):
    return c("if", condition=condition, then=then)


cat, dog = phrase("cat"), phrase("dog")
nothing = c("language", code="fr")  # not applicable to "cat"
for verdict, constraint, response in [
    (met, all_(cat, dog), "cat dog"), (no, all_(cat, dog), "cat"), (met, any_(cat, dog), "dog"), (no, any_(cat, dog), "cow"), (met, not_(cat), "dog"), (no, not_(cat), "cat"),
    (met, if_(cat, dog), "cat dog"), (no, if_(cat, dog), "cat"), (na, if_(cat, dog), "cow"), (met, all_(cat, nothing), "cat"), (na, all_(nothing), "cat"), (na, not_(nothing), "cat"),
    (no, any_(dog, nothing), "cat"), (met, any_(cat, nothing), "cat"), (na, if_(nothing, cat), "cat"), (met, not_(J), "text"), (no, not_(J), "{}"),
    (met, all_(count("bullet", exactly=2), count("word", at_most=4), not_(c("starts", text="Sure"))), "- a\n- b"), (na, c("all", of=[]), "x"),
    (met, if_(count("bullet", at_least=1), within("each", "bullet", c("ends", text="."))), "- a.\n- b."), (no, if_(count("bullet", at_least=1), within("each", "bullet", c("ends", text="."))), "- a.\n- b"),
    (met, not_(all_(cat, dog)), "cat"), (met, not_(not_(cat)), "cat"), (no, not_(any_(cat, dog)), "dog"),
]:
    verdict(constraint, response)

if __name__ == "__main__":
    for row in CASES:
        print(json.dumps(row, ensure_ascii=False))
