/** What is said of links that carry something in their fragment. */
export const shareText = {
  tooLong: (characters: string, limit: string) =>
    `Packed into a link this would be ${characters} characters long; at most ${limit} are allowed, because longer addresses are cut off by mail and chat programs. Shorten the texts, or pass them on as a file.`,
  tooMuch: (size: string, limit: string) => `This is ${size}, and a link carries at most ${limit}. Shorten the texts, or pass them on as a file.`,
  damaged: "The link is damaged: what it carries could not be read. It may have been cut off on the way; ask for it again.",
  tooLarge: (limit: string) => `The link was not opened: it unpacks to more than ${limit}, which no link made here does.`,
  unsupported: "This browser cannot pack or unpack links (it has no compression streams). Use a newer one.",
  unserializable: "This cannot be put into a link: it is not plain data.",
};
