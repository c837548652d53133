/**
 * Characters that leave no trace on a screen: zero-width ones, marks of direction, soft hyphens, fillers, control
 * characters. Unicode lists them itself (`Default_Ignorable_Code_Point`, UAX #44); two blanks that it does not are added.
 */
const unseen = /(?![\n\t])[\p{Default_Ignorable_Code_Point}\p{Cc}\p{Cf}\p{Cs}\u2800\u{1D159}]/gu

/** A text as its reader sees it: in one form of each character (NFKC), without those that leave no trace. */
export function seen(text: string): string {
  return text.replaceAll(unseen, '').normalize('NFKC')
}

/** What comes before a text's first visible word may be long; beyond this nobody looks for one. */
const read = 200_000

/** What a page shows nothing of: comments, tags of layout, blanks as entities, links and fences around nothing, targets of links. */
const markup =
  /<!--[\s\S]*?(?:-->|(?![\s\S]))|<\/?(?:br|hr|p|div|span)\b[^<>]*>|&(?:nbsp|ensp|emsp|thinsp|shy|zwj|zwnj|lrm|rlm|#0*(?:32|160|173|820[3-7])|#x0*(?:20|a0|ad|200[b-f]));|(?<!!)\[\s*\]\([^()\n]{0,2000}\)|^[ \t]*(?:```|~~~)[^\n`]*$|^ {0,3}\[(?!\^)[^\]\n]{1,200}\]:[^\n]*$/gimu

/** Code in a line is shown as it is. */
const code = /`([^`\n]+)`/gu

/** A line of these alone draws a rule, a bullet, an empty heading or an empty table: it says nothing. */
const bare = /^[\s\p{M}*_~`#>|=:•-]*$/u

/** Whether a text holds anything to be read: white space, invisible characters and empty markup are nothing; one mark is. */
export function saysSomething(text: string): boolean {
  const shown = seen(text.slice(0, read))
    .replaceAll(markup, '')
    .replaceAll(code, (all, inside: string) => (/\S/u.test(inside) ? 'x' : all))
  return /^\s*\S\s*$/u.test(shown) || shown.split('\n').some((line) => !bare.test(line))
}
