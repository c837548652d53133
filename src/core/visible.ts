/**
 * Text from outside as a terminal may show it. What could move the cursor, forge a line, or turn the reading direction of
 * what follows is replaced.
 */
export function visible(text: string): string {
  return text.replaceAll(/[^\P{Cc}\t\n]|[\u2028-\u202e\u2066-\u2069]/gu, '�')
}
