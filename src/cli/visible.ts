/** Text from outside as a terminal may show it: control characters, which could move the cursor or forge a line, replaced. */
export function visible(text: string): string {
  return text.replaceAll(/[^\P{Cc}\t\n]/gu, '�')
}
