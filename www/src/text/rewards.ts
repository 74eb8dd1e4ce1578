/** The words of what a reward model's own head says. */
export const rewardsText = {
  heading: "The model’s own score",
  idle: "The loaded model is a reward model: a head of its own gives one number to a whole response. Press the button to read it; rubrics, checklists and the reference are not used.",
  caption: "What the model’s head gives to each response",
  response: "Response",
  alone: "the response",
  /** What an output is called: as the file says, else by its number where there are several. */
  called: (label: string | undefined, number: number, of: number) => label || (of === 1 ? "Reward" : `Output ${number}`),
  highest: "highest",
  level: (ids: string) => `${ids} have the same number.`,
  scale: "The number has no scale of its own: it may be compared among responses to this very prompt, and with nothing else.",
  several: "The file does not say which of these outputs is good and which is bad.",
  running: "Reading",
  progress: "How far the reading has come",
  cancel: "Cancel",
  cancelling: "Cancelling…",
  cancelled: "Cancelled. What was finished is kept.",
  failed: (message: string) => `It could not be read: ${message}`,
  done: (count: number) => (count === 1 ? "The response has its number." : `${count} responses have their numbers.`),
  ask: "Read the model’s own score of each",
  askHint: "One number per response, from the reward model’s head.",
};
