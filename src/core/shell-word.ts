/** A word of a command line, in quotes where a shell would take it apart. */
export const shellWord = (word: string): string =>
  /^[\w./@:+-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`
