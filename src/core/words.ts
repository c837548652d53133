/** The words and numbers of a text, in lower case: runs of letters and digits of any script. */
export const wordsIn = (text: string): readonly string[] => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []
