import { type Embedder, unit } from '../../core/index.ts'

/** Words that say little of what a text is about. */
const common = new Set(
  'a an and are as at be by can could did do does for from had has have how i in is it its me my of on or our please so that the their them then there they this to us was we were what when where which who will with would you your'.split(
    ' ',
  ),
)

/** How much a feature says, by its sort. */
const worth = { word: 1, common: 0.15, part: 0.7 } as const

/**
 * Vectors of words and of their parts of three letters, hashed (Weinberger et al. 2009): texts are near that use the same
 * words, in whatever forms. It knows no synonyms, and needs no model: some microseconds a text.
 */
export function lexicalEmbedder({ dimensions = 512 }: { readonly dimensions?: number } = {}): Embedder {
  return {
    name: `lexical-${dimensions}`,
    dimensions,
    costly: false,
    embed: (texts) => Promise.resolve(texts.map((text) => vectorOfWords(text, dimensions))),
  }
}

function vectorOfWords(text: string, dimensions: number): Float32Array {
  const vector = new Float32Array(dimensions)
  const add = (feature: string, weight: number) => {
    const hashed = fnv1a(feature)
    const at = hashed % dimensions
    // The sign is another bit: features that fall together cancel as often as they add up.
    vector[at] = (vector[at] ?? 0) + (hashed & 0x40000000 ? weight : -weight)
  }
  for (const [word, times] of wordsIn(text)) {
    const often = 1 + Math.log(times)
    const usual = common.has(word)
    add(word, often * (usual ? worth.common : worth.word))
    if (!usual) for (const part of partsOf(word)) add(part, (often * worth.part) / Math.sqrt(word.length))
  }
  return unit(vector)
}

/** The words of a text in lower case, and how often each stands there. */
function wordsIn(text: string): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const [word] of text
    .normalize('NFKC')
    .toLowerCase()
    .matchAll(/[\p{L}\p{N}]+/gu)) {
    counts.set(word, (counts.get(word) ?? 0) + 1)
  }
  return counts
}

function partsOf(word: string): readonly string[] {
  const framed = `^${word}$`
  return Array.from({ length: Math.max(0, framed.length - 2) }, (_, i) => `#${framed.slice(i, i + 3)}`)
}

function fnv1a(text: string): number {
  let hashed = 0x811c9dc5
  for (let i = 0; i < text.length; i++) hashed = Math.imul(hashed ^ text.charCodeAt(i), 0x01000193)
  // FNV's low bits are weak for short texts: mixed once more.
  hashed = Math.imul(hashed ^ (hashed >>> 16), 0x85ebca6b)
  return (hashed ^ (hashed >>> 13)) >>> 0
}
