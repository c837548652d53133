/** Text from outside as it may appear in a message: control characters replaced, cut to `limit` characters. */
export function printable(text: string, limit = 60): string {
  const head = text.slice(0, limit).replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, '?')
  return text.length > limit ? `${head}…` : head
}
