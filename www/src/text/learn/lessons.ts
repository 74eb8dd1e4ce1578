/** The lessons. Every claim names where it comes from; every text that is judged is of our own making. */
import type { Lesson } from "../../screens/learn/lesson";
import type { Rubric } from "../../types";

const FLASK = "Ye et al., “FLASK: Fine-grained Language Model Evaluation based on Alignment Skill Sets”, ICLR 2024";
const MT_BENCH = "Zheng et al., “Judging LLM-as-a-Judge with MT-Bench and Chatbot Arena”, NeurIPS 2023";
const COBBLER = "Koo et al., “Benchmarking Cognitive Biases in Large Language Models as Evaluators” (CoBBLEr), 2023";
const FLAME = "Vu et al., “Foundational Autoraters: Taming Large Language Models for Better Automatic Evaluation” (FLAMe), 2024";

/** The scale of the lesson on rubrics, as its fields have it. */
const WARMTH: Rubric = {
  id: "lesson_warmth", name: "Warmth", ability: null, question: null,
  criterion: "How warm is the reply towards the customer?",
  options: [
    "Rude or dismissive: it blames the customer or mocks them.",
    "Cold: it gives the facts only, without a greeting or a kind word.",
    "Neutral: polite in form, but it could have been written to anybody.",
    "Friendly: it takes the customer’s trouble seriously and says so.",
    "Warm: it takes the trouble seriously, apologises and offers help with the next step.",
  ].map((description, i) => ({ label: String(i + 1), value: i + 1, description })),
};

const warmthLevels = WARMTH.options.map(({ description }) => description!);
const levelFields = (levels: string[]) => Object.fromEntries(levels.map((level, i) => [`level-${i + 1}`, level]));

export const LESSONS: Lesson[] = [
  {
    id: "number",
    title: "One number against twelve",
    aim: "See what a single overall score hides, and what a profile of skills shows.",
    minutes: 5,
    explain: [
      "“How good is this response, from 1 to 5?” looks like one question. It is many. A response can be pleasant to read and wrong, or right and far too long. One number has to mix all of that, and it does not say how it was mixed.",
      "FLASK, the work behind this page, splits the question into twelve skills under four abilities: logical thinking, background knowledge, problem handling and user alignment. Each skill has a criterion of its own and a description of each level from 1 to 5.",
      "Not every skill matters for every prompt. FLASK therefore chooses, for each prompt, the three skills that it needs most, and scores only those. Here you look at all twelve, to see how they differ. A score for a skill that the prompt hardly asks for says little.",
      "In FLASK’s comparison with people, GPT-4’s scores by skill followed people’s ratings a little more closely than its single overall score: a rank correlation of 0.68 against 0.64, where 1 is perfect. A finer question helps, but it is no magic.",
    ],
    sources: [
      `${FLASK}: the taxonomy of 4 abilities and 12 skills; three skills for each prompt; comparison with people on 200 prompts (Spearman 0.680 by skill, 0.641 with one overall score).`,
    ],
    task: "The response below is easy to read, but its sum is wrong (7 × 12 = 84, not 74) and it ignores one wish. Get one overall score and twelve skill scores for it.",
    fields: [
      { name: "prompt", label: "Prompt", value: "A box holds 12 eggs. I buy 7 boxes. How many eggs do I have, and how many are left if 5 break? Explain it for a child of eight, in two sentences." },
      { name: "response", label: "Response", rows: 4, value: "Great question! Each box holds 12 eggs, and with 7 boxes you count 7 times 12, which makes 74 eggs. If 5 eggs break, you take them away, so 69 are left. Eggs are also a healthy breakfast. Enjoy your eggs!" },
    ],
    actions: [
      { kind: "set", label: "Correct the sum", fields: { response: "Great question! Each box holds 12 eggs, and with 7 boxes you count 7 times 12, which makes 84 eggs. If 5 eggs break, you take them away, so 79 are left. Eggs are also a healthy breakfast. Enjoy your eggs!" } },
    ],
    experiment: { kind: "scores", arms: [{ name: "Response", prompt: "prompt", response: "response" }], skills: "all", overall: true },
    look: [
      "Is the overall score close to the mean of the twelve? What would you have concluded from it alone?",
      "Compare Logical Correctness with Readability. A judge that saw the wrong sum would keep them apart.",
      "Press “Correct the sum” and get scores again. Which of the twelve should move, and which do?",
    ],
    honest: "A small judge often gives all twelve skills nearly the same score: it has an impression of the whole and repeats it. If you see that here, you have found a real weakness of this judge. Twelve alike numbers are then one number written twelve times.",
    quiz: [
      {
        question: "A response has an overall score of 3 of 5. What do you know about its facts?",
        options: [
          { text: "They are about half right.", right: false, why: "The number mixes everything. It may come from perfect facts in unreadable prose, or from the opposite." },
          { text: "Nothing for certain.", right: true, why: "An overall score does not say what it is made of." },
          { text: "They are right, or the score would be 1.", right: false, why: "A judge may forgive wrong facts for good style, or overlook them." },
        ],
      },
      {
        question: "Why does FLASK score only three skills for each prompt?",
        options: [
          { text: "Because a prompt needs some skills and hardly touches others.", right: true, why: "A score for a skill that the prompt does not call for says little, so it is left out." },
          { text: "Because three numbers are easier to average.", right: false, why: "Averaging three or twelve numbers is equally easy. What matters is which skills the prompt needs." },
          { text: "Because the other nine are always the same.", right: false, why: "They can differ. They are left out because the prompt does not particularly need them." },
        ],
      },
      {
        question: "All twelve skills come out between 3.1 and 3.3. What is the most careful reading?",
        options: [
          { text: "The response is equally good in every respect.", right: false, why: "That is possible, but a judge that cannot tell the skills apart gives the same picture." },
          { text: "The judge may not be telling the skills apart.", right: true, why: "Test it: change the response in one respect only and see whether only the matching skill moves." },
          { text: "Twelve alike scores confirm each other, so the score is certain.", right: false, why: "They come from one model reading one text. They are not twelve independent witnesses." },
        ],
      },
    ],
  },
  {
    id: "rubric",
    title: "What a level of a rubric means",
    aim: "Change the words of a rubric and see that the score changes with them.",
    minutes: 5,
    explain: [
      "A rubric is a criterion and a scale. The criterion says what is asked; each level says in words what deserves it. The number 4 has no meaning of its own: it means what the description of level 4 says.",
      "So two scores can be compared only if they come from the same rubric. A 3 by a strict rubric may be better than a 4 by a lenient one.",
      "Good levels can be told apart by looking at the response. “Good” and “very good” leave each reader to their own taste. “Apologises” and “apologises and offers help with the next step” can be checked.",
      "Does a rubric help? In FLASK’s comparison with people, GPT-4’s agreement rose from 0.646 without the descriptions of levels to 0.680 with them (rank correlation).",
    ],
    sources: [`${FLASK}: a description for each level of each skill; comparison with people (Spearman 0.680 with the rubric, 0.646 without).`],
    task: "The reply below is judged twice: by our rubric, and by your edited one. Change the criterion or a level, then get scores.",
    fields: [
      { name: "prompt", label: "Prompt", value: "Reply to this customer: “My parcel has not arrived and the birthday is tomorrow.”" },
      { name: "response", label: "Response", value: "Hello, thank you for your message. The parcel left our warehouse on Monday. You can follow it with the number in your confirmation. Kind regards, the shop." },
      { name: "criterion", label: "Criterion (edit it)", rows: 2, value: WARMTH.criterion },
      ...warmthLevels.map((value, i) => ({ name: `level-${i + 1}`, label: `Level ${i + 1} (edit it)`, rows: 2, value })),
    ],
    actions: [
      { kind: "set", label: "Make it lenient", fields: levelFields(["Rude.", "Cold, not a single polite word.", "Somewhat polite.", "Polite: it greets or thanks the customer.", "Polite: it greets and thanks the customer."]) },
      { kind: "set", label: "Make it strict", fields: levelFields(["No apology.", "An apology, but nothing else.", "An apology and an explanation.", "An apology, an explanation and an offer to help.", "An apology, an explanation, an offer to help, and a way to make up for the missed birthday."]) },
      { kind: "set", label: "Turn the scale upside down", fields: levelFields([...warmthLevels].reverse()) },
      { kind: "set", label: "Back to our rubric", fields: { criterion: WARMTH.criterion, ...levelFields(warmthLevels) } },
    ],
    experiment: {
      kind: "scores", skills: [], overall: false, rubric: WARMTH,
      arms: [
        { name: "Our rubric", prompt: "prompt", response: "response", rubric: "original" },
        { name: "Your rubric", prompt: "prompt", response: "response", rubric: "edited" },
      ],
    },
    look: [
      "Before you change anything, both scores should be the same: same question, same texts.",
      "Make it lenient, then strict. The response stays the same; a judge that reads the levels should give more for the lenient scale.",
      "Turn the scale upside down, so that level 5 is the rude one. A judge that reads the levels should now give this polite reply a low number. One that only likes high numbers will not notice.",
    ],
    honest: "A small judge may hardly react to the words of the levels and answer from its impression of the text. If the score stays where it was although you turned the scale upside down, the judge did not use your levels, and no wording will help much.",
    quiz: [
      {
        question: "Shop A’s replies score 4.1 by its own rubric, shop B’s score 3.6 by another one. Whose replies are better?",
        options: [
          { text: "Shop A’s.", right: false, why: "The two numbers come from different scales. Shop A’s may be more lenient." },
          { text: "It cannot be said.", right: true, why: "Scores by different rubrics answer different questions. Judge both by one rubric." },
          { text: "Shop B’s, since its rubric is stricter.", right: false, why: "You do not know which rubric is stricter from the scores alone." },
        ],
      },
      {
        question: "Which pair of levels can two readers best tell apart?",
        options: [
          { text: "“Good” and “very good”", right: false, why: "Each reader draws that line elsewhere." },
          { text: "“Names one source” and “names two sources or more”", right: true, why: "Both readers can look and count." },
          { text: "“Somewhat insightful” and “insightful”", right: false, why: "Nothing in these words says where one ends and the other begins." },
        ],
      },
      {
        question: "You turn a scale upside down and the judge gives the same number as before. What do you learn?",
        options: [
          { text: "The response was exactly in the middle.", right: false, why: "A 3 of 5 would indeed stay 3. For any other number this cannot be the reason; look at the probabilities of the levels too." },
          { text: "Unless the number is the middle of the scale, the judge did not follow the levels’ words.", right: true, why: "With the levels reversed, a score x should become 6 − x. Only 3 stays where it is." },
          { text: "The rubric is robust.", right: false, why: "A rubric is there to be followed. A score that ignores its meaning is a fault." },
        ],
      },
    ],
  },
  {
    id: "position",
    title: "Position bias: does the first one win?",
    aim: "Show the same two responses in both orders and see what the order alone does.",
    minutes: 5,
    explain: [
      "Another way to judge is to show two responses and ask which is better. It spares the judge a scale. But something has to be shown first, and many judges have a liking for a place: for whatever comes first, or for whatever comes last. This is called position bias.",
      "It is easy to find: ask twice, the second time with the responses swapped. A judge without bias prefers the same response both times. If the winner changes, the order decided and not the text.",
      "Strong models have it too. When two responses of about the same quality were swapped, GPT-4 gave the same verdict in 65% of the cases in one study. The CoBBLEr benchmark measures the same thing as “order bias”.",
      "The remedy used on this page: ask in both orders and take the mean of the two probabilities. That takes out a steady liking for one place. It does not make an undecided judge a good one.",
    ],
    sources: [
      `${MT_BENCH}, section 3.3 and table 2 (GPT-4 consistent in 65.0% with the default prompt), section 3.4 (swapping the positions).`,
      `${COBBLER}: order bias. ${FLAME} reports a mean over CoBBLEr’s biases: 0.13 for FLAMe against 0.31 for GPT-4; lower is better.`,
    ],
    task: "Both responses below answer the question in about the same way. The model compares them twice, each once in front.",
    fields: [
      { name: "prompt", label: "Prompt", rows: 2, value: "Why do leaves turn yellow in autumn?" },
      { name: "first", label: "Response A", value: "In autumn the tree stops making the green pigment in its leaves. As the green fades, yellow pigments that were there all along come to light." },
      { name: "second", label: "Response B", value: "Leaves hold yellow pigments the whole year, but green ones cover them. When days get shorter, the tree no longer renews the green, and the yellow shows." },
    ],
    actions: [
      { kind: "swap", label: "Swap A and B", fields: ["first", "second"] },
      { kind: "set", label: "Make B clearly worse", fields: { second: "Leaves turn yellow because the sun paints them. Nobody knows more about it." } },
    ],
    experiment: { kind: "compare", prompt: "prompt", first: "first", second: "second" },
    look: [
      "Compare the two rows: how much does the probability of A change between A first and B first? Without position bias it would not change at all.",
      "Does the winner flip? Then the judge has no opinion about the texts that is stronger than its liking for a place.",
      "Make B clearly worse. A useful judge should now prefer A in both orders.",
    ],
    honest: "If the two rows agree, this judge has little position bias on these two texts. That says nothing yet about others: bias is measured over many pairs. If it flips even where one response is clearly worse, its comparisons should not be trusted.",
    quiz: [
      {
        question: "With A first, A wins with 70%. With B first, B wins with 70%. What does the mean of both orders say?",
        options: [
          { text: "A tie: A has (70% + 30%) / 2 = 50%.", right: true, why: "With B first, A has 100% − 70% = 30%. The whole preference came from the place." },
          { text: "A wins with 70%.", right: false, why: "That was only with A in front. With B in front, A had 30%." },
          { text: "Both win with 70%.", right: false, why: "The two probabilities of one order add up to 100%." },
        ],
      },
      {
        question: "Why not simply choose the order at random, once per pair?",
        options: [
          { text: "Because then nobody sees for which pairs the order decided.", right: true, why: "Over many pairs the bias evens out, but each single verdict may still be the order’s. Asking twice shows it." },
          { text: "Because random numbers are not allowed in evaluation.", right: false, why: "They are, if the seed is recorded. But one order per pair hides the flips." },
          { text: "Because the first place is always better.", right: false, why: "Some judges prefer the last place." },
        ],
      },
      {
        question: "In both orders the judge prefers A. Is A better?",
        options: [
          { text: "Yes, both orders agree.", right: false, why: "Position bias is ruled out as the reason. Other biases, such as a liking for length, are not." },
          { text: "The order did not decide; other biases still may have.", right: true, why: "Agreement in both orders is necessary for trust, but it is not enough." },
          { text: "No, the judge is biased towards A.", right: false, why: "It may well be right. It only is not proved by this." },
        ],
      },
    ],
  },
  {
    id: "verbosity",
    title: "Verbosity bias: longer looks better",
    aim: "Pad an answer with words that say nothing and watch which scores rise.",
    minutes: 5,
    explain: [
      "People and models alike tend to give more for longer answers. Sometimes rightly: a fuller explanation is longer. The bias is the part that length earns without saying anything more.",
      "To test for it, say the same at greater length. A fair judge keeps its score for correctness and for facts, and lowers the one for conciseness.",
      "FLASK did this: responses were rewritten to be longer, with the same content. Leaving out Completeness and Conciseness, whose scores may rightly change, the score stayed equal in 44% of the cases with one overall score and in 53% with scores by skill. With questions written for the very prompt it was 56%.",
      "Some skills go with length by their nature. Across the models that FLASK compared, longer responses came with higher scores for Insightfulness (a correlation of 0.76) and Completeness (0.74), lower ones for Conciseness (−0.73), and nearly unchanged ones for Logical Correctness (0.15).",
    ],
    sources: [
      `${FLASK}: robustness to verbosity (43.82%, 52.99%, 55.78%), correlation of length with each skill’s score across models.`,
      `${MT_BENCH}, section 3.3: a list repeated in other words misled some judges in more than nine of ten cases.`,
    ],
    task: "Both answers say the same. Press “Pad the short answer” to make the long one from whatever stands in the short one, then get scores for both.",
    fields: [
      { name: "prompt", label: "Prompt", rows: 2, value: "How long should I boil an egg so that the yolk stays soft?" },
      { name: "short", label: "Short answer", rows: 2, value: "About six minutes in boiling water for a medium egg. Then cool it under cold water so that it stops cooking." },
      { name: "long", label: "Long answer", rows: 6, value: "That is an excellent question, and one that very many people ask. Boiling an egg is something that one can do in many ways, and it is worth thinking about it carefully. About six minutes in boiling water for a medium egg. Then cool it under cold water so that it stops cooking. In summary, the points mentioned above are what matters when it comes to this topic. I hope that this detailed explanation was helpful to you and that it answers everything you wanted to know." },
    ],
    actions: [
      {
        kind: "pad", label: "Pad the short answer", from: "short", to: "long",
        before: "That is an excellent question, and one that very many people ask. There is much that could be said about it, and it is worth thinking about it carefully.",
        after: "In summary, the points mentioned above are what matters when it comes to this topic. I hope that this detailed explanation was helpful to you and that it answers everything you wanted to know.",
      },
    ],
    experiment: {
      kind: "scores", overall: true, skills: ["factuality", "completeness", "readability", "conciseness"],
      arms: [
        { name: "Short", prompt: "prompt", response: "short" },
        { name: "Long", prompt: "prompt", response: "long" },
      ],
    },
    look: [
      "Conciseness should fall: the padding is what the reader does not need.",
      "Factuality and Completeness should stay: nothing was added. If they rise, length was rewarded.",
      "And the overall score? If it rises with the padding, one number would have hidden why.",
    ],
    honest: "On one pair of texts a small judge may move either way or not at all. If Conciseness does not fall here, the judge does not see padding as such. To claim a bias you need many pairs: a single one is an example, not a measurement.",
    quiz: [
      {
        question: "You pad an answer, and its Completeness rises from 3.0 to 3.6. What is the likely reason?",
        options: [
          { text: "The judge takes length for content.", right: true, why: "Nothing was added but words, so nothing became more complete." },
          { text: "The padded answer is more complete.", right: false, why: "The padding says nothing about the question." },
          { text: "Completeness measures length.", right: false, why: "It asks whether the explanation is sufficient in breadth and depth. Padding has neither." },
        ],
      },
      {
        question: "Longer responses have higher scores for Insightfulness across models. Does that prove a bias?",
        options: [
          { text: "Yes, since length should not matter.", right: false, why: "Longer responses can really say more. The correlation alone cannot tell." },
          { text: "No: better models may both write more and say more.", right: true, why: "To separate the two, change the length and keep the content, as in this experiment." },
          { text: "No, since correlations are never of use.", right: false, why: "They are of use: they show where to look with an experiment." },
        ],
      },
      {
        question: "Why did FLASK leave Completeness and Conciseness out of its test of robustness?",
        options: [
          { text: "Because a rewritten longer text may rightly change these two.", right: true, why: "The test counts scores that should stay equal; these may rightly differ." },
          { text: "Because they are unimportant.", right: false, why: "They are two of the twelve skills. They just do not fit this test." },
          { text: "Because models cannot score them.", right: false, why: "They can. The question is only whether a change would be a mistake." },
        ],
      },
    ],
  },
  {
    id: "checklist",
    title: "Checklists: verified by code or judged by a model",
    aim: "Tell what a program can decide for certain from what a model has to judge.",
    minutes: 5,
    explain: [
      "A checklist splits one vague question into many small ones: Is it at most 40 words long? Does it name Thursday? Is it polite? Each is answered with yes or no.",
      "Some of these need no model. Counting words, looking for a word, finding an exclamation mark: a program does that exactly, gives the same answer every time, and can show the place. This page calls such items verified.",
      "Others need an understanding of the text: Is it polite? Does it explain why? A model answers them with a probability of yes. This page calls them judged. They can be wrong.",
      "The two should never be mixed up. A verified item is a fact about the text; a judged one is an opinion. But mind what the fact is: that the word “sorry” occurs is certain; that somebody apologises is not.",
      "Verified instructions became a benchmark of their own with IFEval: 25 kinds of instructions that code can check. FLASK’s hard set takes the other way: at most five questions, written for the very prompt, each answered from 1 to 5 by a model.",
    ],
    sources: [
      "Zhou et al., “Instruction-Following Evaluation for Large Language Models” (IFEval), 2023: 25 types of verifiable instructions.",
      `${FLASK}: FLASK-Hard, 89 prompts with questions of their own.`,
    ],
    task: "The page reads a checklist from the prompt by itself. Code decides what it can; the model is asked the rest.",
    fields: [
      { name: "prompt", label: "Prompt", value: "Write an e-mail of at most 40 words that moves our meeting to Thursday. Use the word “Thursday”. Do not use exclamation marks. Be polite and say why." },
      { name: "response", label: "Response", rows: 4, value: "Hi Sam! We cannot meet tomorrow. Let us meet on Thursday at ten instead, in the same room. Tell me if that is a problem. See you then!" },
    ],
    actions: [
      { kind: "set", label: "A response that obeys", fields: { response: "Dear Sam, I am sorry, but I have to see a doctor tomorrow. Could we move our meeting to Thursday at ten? Please tell me if another time suits you better. Kind regards, Kim" } },
    ],
    experiment: { kind: "checklist", prompt: "prompt", response: "response" },
    look: [
      "Which items did code decide, and can you confirm each by counting or looking yourself?",
      "How sure is the model of the judged items? A “yes” of 52% is close to tossing a coin.",
      "Use the response that obeys. The item about exclamation marks must change at once, since code decides it. Do the judged ones follow?",
    ],
    honest: "A small model may give nearly the same probability to every judged item. Then only the verified half of the list tells you anything, and that is worth knowing before you trust the other half.",
    quiz: [
      {
        question: "Which of these can code verify?",
        options: [
          { text: "“The answer is easy to follow.”", right: false, why: "That needs a reader. Code can count words per sentence, but that is another question." },
          { text: "“The answer has exactly three bullet points.”", right: true, why: "Bullet points can be counted." },
          { text: "“The answer is fair to both sides.”", right: false, why: "Fairness is a judgement." },
        ],
      },
      {
        question: "“The word ‘because’ occurs” is verified as met. Does the text give a reason?",
        options: [
          { text: "Yes, it was verified.", right: false, why: "What was verified is that the word occurs, and no more: “not because of me” has the word and gives no reason." },
          { text: "Probably, but that was not what was verified.", right: true, why: "A certain answer to a narrow question is not an answer to the wide one." },
          { text: "No.", right: false, why: "It may well do. This item does not decide it." },
        ],
      },
      {
        question: "A list has 4 verified items, all met, and 4 judged ones with yes at 50%. What is a fair summary?",
        options: [
          { text: "75% of the wishes are met.", right: false, why: "That adds facts and coin tosses into one sum." },
          { text: "Four wishes are met for certain; about the other four the model does not know.", right: true, why: "Reported apart, both halves keep their meaning." },
          { text: "All wishes are probably met.", right: false, why: "Yes at 50% means: the model cannot tell." },
        ],
      },
    ],
  },
  {
    id: "reference",
    title: "With a reference answer or without",
    aim: "Give the judge a right answer to compare with, and see what that changes.",
    minutes: 5,
    explain: [
      "Without help a judge has to know the right answer itself. Where it does not, it can only judge how the response sounds, and a confident wrong answer sounds just like a right one.",
      "A reference is a good answer that you supply. The question then becomes easier: not “is this right?” but “does this agree with the reference?”",
      "In FLASK’s comparison with people, agreement fell from 0.680 to 0.516 when GPT-4 had no reference (rank correlation). That is far more than leaving out the rubric cost. In another study GPT-4 misjudged 14 of 20 mathematical answers without help, and 3 of 20 when it was given a reference answer.",
      "A reference has a price. Somebody has to write it, and it must be right: a judge that follows a wrong reference punishes right answers. And where many good answers exist, as with a poem, one reference may mislead the judge into wanting just that one.",
    ],
    sources: [
      `${FLASK}: comparison with people (Spearman 0.680; without reference 0.516; without rubric 0.646).`,
      `${MT_BENCH}, section 3.4 and table 4: failures in grading maths, 14 of 20 by default and 3 of 20 with a reference.`,
    ],
    task: "The response is confident and wrong: there are 15 minutes between each two of the four bells, so the last rings 45 minutes after the first, not an hour. It is judged without the reference and with it.",
    fields: [
      { name: "prompt", label: "Prompt", value: "Four bells ring one after another, each 15 minutes after the one before. The first rings at noon. When does the fourth ring?" },
      { name: "response", label: "Response", rows: 2, value: "There are four bells, and 4 × 15 minutes is one hour, so the fourth bell rings at exactly one o’clock." },
      { name: "reference", label: "Reference answer", rows: 2, value: "Between the first and the fourth bell there are three gaps of 15 minutes, so the fourth rings at a quarter to one (12:45)." },
    ],
    actions: [
      { kind: "set", label: "Use a right response", fields: { response: "There are three gaps of 15 minutes between the first and the fourth bell, so it rings at 12:45." } },
      { kind: "set", label: "Use a wrong reference", fields: { reference: "Four times 15 minutes is one hour, so the fourth bell rings at one o’clock." } },
    ],
    experiment: {
      kind: "scores", overall: true, skills: ["logical_correctness", "logical_robustness", "factuality"],
      arms: [
        { name: "Without reference", prompt: "prompt", response: "response" },
        { name: "With reference", prompt: "prompt", response: "response", reference: "reference" },
      ],
    },
    look: [
      "Does Logical Correctness fall when the reference is there? It should: the response contradicts it.",
      "Use a right response. Now the reference should raise the score.",
      "Use a right response together with a wrong reference. A judge that trusts the reference is now misled, as you would be.",
    ],
    honest: "To use a reference, the judge has to find the contradiction between “one o’clock” and “12:45”. A small model may not manage that, and its score may hardly move. Then a reference does not rescue this judge on questions of this kind.",
    quiz: [
      {
        question: "For which prompt does one reference answer help most?",
        options: [
          { text: "“Write a poem about rain.”", right: false, why: "Good poems need not resemble the one that you wrote." },
          { text: "“What is 17% of 250?”", right: true, why: "There is one right answer (42.5), and the judge need not do the sum itself." },
          { text: "“Suggest a name for my cat.”", right: false, why: "Many names are good; a single reference would favour one." },
        ],
      },
      {
        question: "With your reference the scores fall sharply for all systems. What should you check first?",
        options: [
          { text: "Whether the reference is right.", right: true, why: "A wrong reference makes right answers look wrong." },
          { text: "Whether the systems have got worse.", right: false, why: "The responses are the same as before. Only the reference is new." },
          { text: "Whether the judge needs fewer skills.", right: false, why: "The number of skills did not change between the two runs." },
        ],
      },
      {
        question: "In FLASK’s comparison, what cost most agreement with people when it was left out?",
        options: [
          { text: "The descriptions of levels", right: false, why: "Without them: 0.646, a loss of 0.034." },
          { text: "The reference", right: true, why: "Without it: 0.516, a loss of 0.164." },
          { text: "They cost the same.", right: false, why: "0.516 without the reference against 0.646 without the rubric." },
        ],
      },
    ],
  },
  {
    id: "agreement",
    title: "Agreement, and why labelers differ",
    aim: "Rate eight answers, compare yourself with others, and read the usual figures of agreement.",
    minutes: 6,
    explain: [
      "To say how good a judge is, one compares it with people. But people disagree too. One values accuracy, another a friendly tone; one gives a 5 easily, another never; and all of us slip now and then. Where people do not agree with each other, no judge can agree with all of them.",
      "Counting equal ratings is not enough: two people who give a 4 nearly every time agree often by chance. Cohen’s kappa takes that chance off: it is 1 for full agreement, 0 for as much as chance would give, and below 0 for less.",
      "Krippendorff’s alpha does the same for ordered or measured scales: a 4 against a 5 is a smaller disagreement than a 1 against a 5. Here it is computed for interval data, where the distance counts squared.",
      "Spearman’s rho asks only whether two raters put the answers in the same order. A rater who always gives one point less has a perfect rho, and an alpha that is lower.",
      "FLASK’s labelers agreed at an alpha of 0.488 over all skills: three people rated each response. That is moderate, and these were people with the same rubric before them.",
    ],
    sources: [
      "Cohen, “A Coefficient of Agreement for Nominal Scales”, 1960. Krippendorff, “Content Analysis”, the chapter on reliability.",
      `${FLASK}: three labelers each on 200 prompts, Krippendorff’s alpha 0.488 overall.`,
    ],
    task: "Rate each answer from 1 to 5 as you see fit. As soon as you have rated three, the table shows how you agree with two invented labelers. Ada cares about facts; Ben cares about the tone.",
    fields: [
      { name: "question", label: "Question", rows: 2, value: "Can I give my dog chocolate?" },
      ...[
        "No. Chocolate contains theobromine, which is poisonous for dogs. If yours has eaten some, call a vet.",
        "No.",
        "What a lovely thought to share with your dog! Sadly chocolate is poisonous for dogs, so a carrot is the better treat. Give him a hug from me!",
        "Of course! Dogs love sweets just like we do, and a little joy never hurt anyone. Have fun, you two!",
        "Only an idiot would ask that. It is poison for dogs. Call a vet if it happens.",
        "It depends. Some say yes and some say no.",
        "Dark chocolate is more dangerous for dogs than milk chocolate, because it holds more theobromine. Neither is safe.",
        "I am sorry, I cannot answer questions about animals. Is there anything else that I can do for you today?",
      ].map((value, i) => ({ name: `answer-${i + 1}`, label: `Answer ${i + 1}`, rows: 2, value })),
    ],
    actions: [],
    experiment: {
      kind: "ratings", question: "question", answers: [1, 2, 3, 4, 5, 6, 7, 8].map((n) => `answer-${n}`),
      ada: [5, 3, 4, 1, 4, 1, 5, 2],
      ben: [4, 2, 5, 4, 1, 2, 3, 3],
    },
    look: [
      "Where do Ada and Ben differ most? Both are consistent; they value different things. A clearer rubric would have helped more than more labelers.",
      "Compare rho and alpha for yourself and one of them. If rho is high and alpha is lower, you agree on the order but one of you is stricter.",
      "Look at the intervals. With eight answers they are so wide that hardly any two figures can be told apart.",
    ],
    honest: "If you ask the model and its interval includes 0, then on these eight answers it cannot be told from a judge that rates at random. That does not prove that it is one: eight answers are too few for either claim.",
    quiz: [
      {
        question: "Two raters give equal ratings in 80% of the cases. Each gives a “4” in about nine of ten cases. Is that good agreement?",
        options: [
          { text: "Yes, 80% is high.", right: false, why: "By chance alone both would say “4” in about 0.9 × 0.9 = 81% of the cases." },
          { text: "No, chance alone would give about as much.", right: true, why: "0.9 × 0.9 = 0.81. Kappa would be about 0 or slightly below." },
          { text: "That depends on who is right.", right: false, why: "Agreement says nothing about who is right, and it can be judged without knowing it." },
        ],
      },
      {
        question: "Rater B always gives exactly one point less than rater A. What are Spearman’s rho and alpha?",
        options: [
          { text: "Both are 1.", right: false, why: "The order is the same, so rho is 1. The ratings are not, so alpha is below 1." },
          { text: "Rho is 1, alpha is below 1.", right: true, why: "Rho looks at the order only; alpha counts every difference between the ratings." },
          { text: "Both are below 1.", right: false, why: "The order is the same, so rho is 1." },
        ],
      },
      {
        question: "A judge’s rho with people is 0.45, and people’s rho with each other is 0.50. What follows?",
        options: [
          { text: "The judge is bad: 0.45 is far from 1.", right: false, why: "People do not reach 1 with each other either. That is the mark to compare with." },
          { text: "The judge agrees with people nearly as well as people do with each other.", right: true, why: "How far people agree sets what can be expected. The intervals still decide how sure one can be." },
          { text: "The judge is nearly always right.", right: false, why: "Agreement with raters who disagree among themselves is not the same as being right." },
        ],
      },
    ],
  },
  {
    id: "calibration",
    title: "Calibration: what the probability of a score means",
    aim: "Read a distribution over levels, and find out how well your own guesses are calibrated.",
    minutes: 6,
    explain: [
      "A model does not just say “4”. It gives a probability to each level, for example 10% to 3, 60% to 4 and 30% to 5. The score on this page is the expected value: 3 × 0.1 + 4 × 0.6 + 5 × 0.3 = 4.2.",
      "Two responses may have the same expected score and quite different distributions. A sure 3 and a judge torn between 1 and 5 both give 3.0. So look at the shape, not only at the number.",
      "May one believe these probabilities? They are calibrated if, of all the things that got 70%, about 70% turn out true. A reliability diagram shows this: what was said against how often it came true. On the diagonal, both agree. Below it, the judge was too sure.",
      "Calibrated is not the same as knowing much. Who says 50% to every yes-or-no question, half of which are true, is perfectly calibrated and of no use. The Brier score, the mean squared distance between what was said and what was true, punishes both faults.",
      "Modern neural networks tend to be too sure of themselves. Often a single number, a “temperature” by which all their scores are divided, mends most of it.",
    ],
    sources: [
      "Guo et al., “On Calibration of Modern Neural Networks”, ICML 2017: reliability diagrams, the expected calibration error, temperature scaling.",
      "Brier, “Verification of Forecasts Expressed in Terms of Probability”, 1950.",
    ],
    task: "First look at the model’s distribution for one response. Then guess twelve statements yourself and see your own reliability diagram.",
    fields: [
      { name: "prompt", label: "Prompt", rows: 2, value: "Should I learn Spanish or French first?" },
      { name: "response", label: "Response", value: "Spanish, if you want to travel in the Americas; French, if you are thinking of West Africa or Canada. If neither decides it, take the one whose music you like: you will stay with it longer." },
    ],
    actions: [],
    experiment: {
      kind: "calibration", prompt: "prompt", response: "response",
      statements: [
        { text: "Sound travels faster in water than in air.", isTrue: true },
        { text: "Venus is the planet closest to the Sun.", isTrue: false },
        { text: "The Pacific Ocean is larger than all land on Earth taken together.", isTrue: true },
        { text: "Lightning never strikes the same place twice.", isTrue: false },
        { text: "An octopus has three hearts.", isTrue: true },
        { text: "Iceland has more inhabitants than Luxembourg.", isTrue: false },
        { text: "Water boils at a lower temperature on a high mountain than at the sea.", isTrue: true },
        { text: "17 × 13 is 231.", isTrue: false },
        { text: "The Danube flows into the Black Sea.", isTrue: true },
        { text: "Bats are blind.", isTrue: false },
        { text: "Venus takes longer to turn once on its axis than to go once round the Sun.", isTrue: true },
        { text: "Humans use only a tenth of their brain.", isTrue: false },
      ],
    },
    look: [
      "Is the model’s distribution narrow, flat or two-humped? Does the expected score alone tell you that?",
      "In your own diagram: where you said 95%, was it true about as often?",
      "Compare with the invented judge. Its line is flatter than the diagonal: it says 95% where 75% came true, and 5% where 25% did. That is too much confidence.",
    ],
    honest: "You cannot see from one response whether the model is calibrated, however sure it looks. That takes many responses whose true scores are known. The page says “calibrated” of a score only where the adapter brings a correction that was fitted for it, and even then it holds only for texts like those that it was fitted on.",
    quiz: [
      {
        question: "A model gives 20% to level 2, 50% to level 3 and 30% to level 4. What is the expected score?",
        options: [
          { text: "3, the most probable level", right: false, why: "That is the most probable level, not the expected value." },
          { text: "3.1", right: true, why: "2 × 0.2 + 3 × 0.5 + 4 × 0.3 = 0.4 + 1.5 + 1.2 = 3.1." },
          { text: "3.5", right: false, why: "2 × 0.2 + 3 × 0.5 + 4 × 0.3 = 3.1." },
        ],
      },
      {
        question: "A weather service says “70% rain” on 100 days. It rains on 90 of them. What is that?",
        options: [
          { text: "Well calibrated, since it rained most of the time.", right: false, why: "It would be calibrated if it had rained on about 70 of the days." },
          { text: "Too cautious: it should have said about 90%.", right: true, why: "What was said (70%) is lower than what came true (90%)." },
          { text: "Too sure of itself.", right: false, why: "It said less than what came true. Too sure would be saying 90% when 70% come true." },
        ],
      },
      {
        question: "Half of many statements are true. Somebody says 50% to each. What holds?",
        options: [
          { text: "Perfectly calibrated, and of no use.", right: true, why: "Of what got 50%, half is true. But no statement is told from another." },
          { text: "Badly calibrated.", right: false, why: "What was said, 50%, is what came true." },
          { text: "A Brier score of 0.", right: false, why: "Each guess is 0.5 away from the truth; squared and averaged that is 0.25." },
        ],
      },
    ],
  },
  {
    id: "limits",
    title: "What this judge cannot do",
    aim: "Put the judge to a test whose answer you know, and learn what must not be concluded.",
    minutes: 5,
    explain: [
      "The judge on this page is a small model, so that it runs in your browser. It has read far less, and can hold far less in mind, than the large models in the papers that these lessons quote. Their figures are not this judge’s figures.",
      "A judge’s score is a measurement with an unknown error. The way to learn the error is to test the judge where you know the answer: change one thing that must matter and see whether the score moves; change one that must not and see whether it stays.",
      "Even large judges fail such tests. The LLMBar benchmark pairs a response that does what was asked with one that looks better and does not, and it was made because judges fall for looks. What a judge does well on one kind of text does not carry over to another.",
      "What must not be concluded: that a response is true because it scored high; that one response is better because of a hundredth of a point; that a system is better because of five examples; that a person’s work deserves a mark because a small model gave it one.",
      "What may be: that a text deserves a second look; that two large groups of responses differ, if the interval of the difference says so; that a judge which agrees with your own labels, measured on examples that it has not seen, can help you sort.",
    ],
    sources: [
      "Zeng et al., “Evaluating Large Language Models at Evaluating Instruction Following” (LLMBar), ICLR 2024.",
      `${FLAME}: results of judges of several sizes on twelve benchmarks.`,
    ],
    task: "Two answers differ in one thing only: the second has the wrong date. You know which is right. Does the judge?",
    fields: [
      { name: "prompt", label: "Prompt", rows: 2, value: "In which century was the printing press with movable type brought to Europe, and by whom?" },
      { name: "right", label: "The right answer", value: "In the 15th century: around 1450, Johannes Gutenberg in Mainz printed with movable metal type." },
      { name: "wrong", label: "The wrong answer", value: "In the 18th century: around 1750, Johannes Gutenberg in Mainz printed with movable metal type." },
    ],
    actions: [
      { kind: "set", label: "A sum instead", fields: { prompt: "What is 48 divided by 6?", right: "48 divided by 6 is 8.", wrong: "48 divided by 6 is 9." } },
      { kind: "set", label: "Something off the subject", fields: { wrong: "Goldfish should be fed twice a day, and their water should be changed every week." } },
    ],
    experiment: {
      kind: "scores", overall: true, skills: ["factuality", "logical_correctness", "comprehension"],
      arms: [
        { name: "Right", prompt: "prompt", response: "right" },
        { name: "Wrong", prompt: "prompt", response: "wrong" },
      ],
    },
    look: [
      "Is the right answer’s Factuality higher, and by how much? A few hundredths are no verdict.",
      "Try the sum, then something off the subject. Many small judges notice the second and not the first.",
      "Write a pair of your own from your field, where you are sure. This is the test to make before you rely on any judge.",
    ],
    honest: "If the wrong answer scores as high as the right one, that is the lesson: this judge does not know this fact. No setting on this page can make it know; a reference answer, a larger model or your own labels may help.",
    quiz: [
      {
        question: "Response A scores 3.42, response B 3.40. What may you say?",
        options: [
          { text: "A is better.", right: false, why: "Two hundredths of a point are far below what this judge can resolve." },
          { text: "The judge sees no difference worth naming.", right: true, why: "A difference must be held against the judge’s error, which here is much larger." },
          { text: "Both are mediocre.", right: false, why: "That takes the level of the score at its word. Small judges often keep to the middle of the scale." },
        ],
      },
      {
        question: "A paper reports that a large judge agrees well with people. Does this hold for the judge on this page?",
        options: [
          { text: "Yes, it uses the same rubric.", right: false, why: "The rubric is only the question. How well it is answered depends on the model." },
          { text: "No, it has to be measured for this judge.", right: true, why: "Agreement belongs to one judge, one kind of text and one question." },
          { text: "Yes, if the text is short.", right: false, why: "A short text may be easier, but nothing carries over without measuring." },
        ],
      },
      {
        question: "You want to use this judge to sort fifty support replies. What do you do first?",
        options: [
          { text: "Rate a part of them yourself and see whether the judge agrees.", right: true, why: "Your own labels are the only measure for your own texts. “Your labels” on this page helps with it." },
          { text: "Take the ten best, since the ranking will roughly be right.", right: false, why: "That it will roughly be right is just what you do not know yet." },
          { text: "Run it twice and keep what agrees.", right: false, why: "The judge gives the same scores for the same text. Repeating shows steadiness, not rightness." },
        ],
      },
    ],
  },
];
