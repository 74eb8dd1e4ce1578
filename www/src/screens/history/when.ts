/** A moment as people read it, in their own time zone. */
export const whenOf = (at: number) => new Date(at).toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" });
