const quote = 0x22
const backslash = 0x5c

/**
 * Whether JSON text nests deeper than `limit`, told before anything is built from it: parsing millions of brackets takes
 * seconds. Text that is no JSON may get either answer; parsing it says the rest.
 */
export function nestsDeeperThan(limit: number, text: string): boolean {
  let depth = 0
  for (let i = 0; i < text.length; i += 1) {
    switch (text.charCodeAt(i)) {
      case quote:
        i = endOfString(text, i)
        if (i === -1) return false
        break
      case 0x5b: // [
      case 0x7b: // {
        depth += 1
        if (depth > limit) return true
        break
      case 0x5d: // ]
      case 0x7d: // }
        depth -= 1
        break
    }
  }
  return false
}

/** Where the string that begins at `start` ends; -1 when it does not. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let escapes = 0
    while (text.charCodeAt(end - 1 - escapes) === backslash) escapes += 1
    if (escapes % 2 === 0) return end
  }
  return -1
}
