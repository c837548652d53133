/** A text without its particulars: what is quoted, addresses and numbers stand for any other (Synapse's state abstraction). */
export const abstracted = (text: string): string =>
  text
    .replaceAll(/https?:\/\/[^\s"'<>)]+/g, 'URL')
    .replaceAll(/(?<![\w.+-])[\w.+-]+@[\w-]+\.[\w.]+/g, 'ADDRESS')
    .replaceAll(/"[^"\n]{1,200}"/g, '"…"')
    .replaceAll(/\b\w*\d[\w-]*/g, '#')
    .replaceAll(/[ \t]+/g, ' ')
    .trim()
