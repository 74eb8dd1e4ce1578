/** Saves a text as a file of the person's own, without a request. */
export function saveText(name: string, content: string, type: string): void {
  saveParts(name, [content], type);
}

/** The same for a text in parts, each of which may be long. */
export function saveParts(name: string, parts: string[], type: string): void {
  const address = URL.createObjectURL(new Blob(parts, { type }));
  const anchor = document.createElement("a");
  anchor.href = address;
  anchor.download = name;
  anchor.click();
  // The download reads the address after this task.
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
