/** The bytes of a vocabulary's entry, from how it is spelled there. */
export type TokenBytes = (spelling: string) => Uint8Array

/**
 * Byte-level vocabularies spell each byte as one visible character: Latin-1's printable ones stand for themselves, the
 * others for U+0100 onwards in byte order (GPT-2).
 */
export const byteLevel: TokenBytes = (spelling) =>
  Uint8Array.from(spelling, (character) => byteOfCharacter.get(character) ?? 0xff)

/** The visible character by which byte-level vocabularies spell each byte. */
const characters: readonly string[] = (() => {
  const isPrintable = (byte: number) => (byte > 0x20 && byte < 0x7f) || (byte > 0xa0 && byte !== 0xad)
  let next = 0x100
  return Array.from({ length: 256 }, (_, byte) => String.fromCharCode(isPrintable(byte) ? byte : next++))
})()

const byteOfCharacter: ReadonlyMap<string, number> = new Map(characters.map((character, byte) => [character, byte]))

/** How a byte-level vocabulary spells these bytes. */
export const byteLevelSpelling = (bytes: Uint8Array): string =>
  Array.from(bytes, (byte) => characters[byte] ?? '').join('')

/** SentencePiece's vocabularies spell a space as U+2581, a byte that no entry begins with as `<0x0A>`, and text as itself. */
export const byteFallback: TokenBytes = (spelling) => {
  const byte = /^<0x([0-9A-F]{2})>$/.exec(spelling)?.[1]
  return byte === undefined ? utf8.encode(spelling.replaceAll('\u2581', ' ')) : Uint8Array.of(Number.parseInt(byte, 16))
}

const utf8 = new TextEncoder()
