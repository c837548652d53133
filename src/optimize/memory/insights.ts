import { z } from 'zod'
import { clipped, MemoryItem, memoryBounds, newItem } from '../../agent/index.ts'
import { parseInput } from '../../core/index.ts'
import { abstracted } from './abstracted.ts'
import { confirmed, type Hypothesis } from './hypotheses.ts'
import { lineageOf } from './lineage.ts'
import type { MemoryPart, Outcome, PartContext } from './part.ts'
import { addressesTheModel } from './trust.ts'

/** How insights are found. */
export interface InsightOptions {
  /** Episodes of one owner that they are found in and tested on, the newest. Default 200, at most 250: an insight names all. */
  readonly window?: number
}

const Seen = z.strictObject({
  words: z.array(z.string()),
  did: z.string(),
  signal: z.number(),
  source: z.string(),
  derivedFrom: MemoryItem.shape.derivedFrom,
  owner: MemoryItem.shape.owner,
  trust: z.number(),
  at: z.number(),
})
type Seen = z.infer<typeof Seen>

const mostWords = 24
const mostBytes = 240
/** Words that hardly tell one thing from another. */
const shortest = 4

/**
 * What holds of many episodes: where a word was asked with, one thing went better than others. Kept only while it foretells
 * episodes that it was not found in (Explanatory Learning, Norelli et al. 2022), tested anew at each step. Found by counting,
 * without a model that writes; so it sees words, and no reasons.
 */
export const insights = ({ window = 200 }: InsightOptions = {}): MemoryPart => ({
  name: 'insights',
  open(saved) {
    let seen: readonly Seen[] = saved === null ? [] : parseInput(z.array(Seen), saved, 'the state of insights')
    return {
      save: () => [...seen],
      async step(context) {
        seen = newestOf(
          [...seen, ...context.outcomes.flatMap((outcome) => seenIn(outcome, context))],
          Math.min(window, 250),
        )
        const held = [...byOwner(seen).values()].flatMap((of) => itemsOf(of, context.at))
        const ids = new Set(held.map(({ id }) => id))
        for (const item of context.collection.items) {
          if (item.type === 'insight' && !ids.has(item.id)) context.collection.remove(item.id)
        }
        for (const item of held) if (!context.collection.get(item.id)) await context.collection.put(item)
        return { insights: held.length }
      },
    }
  },
})

function seenIn({ experience, signal, example }: Outcome, context: PartContext): readonly Seen[] {
  const did = clipped(abstracted(experience.done), mostBytes)
  const lineage = example === null ? null : lineageOf(experience, context)
  if (lineage === null || did === '' || addressesTheModel(`${experience.cue}\n${did}`)) return []
  return [{ ...lineage, words: wordsOf(experience.cue), did, signal, at: experience.at }]
}

const wordsOf = (cue: string): string[] =>
  [
    ...new Set(
      [...cue.toLowerCase().matchAll(/\p{L}+/gu)].map(([word]) => word).filter((word) => word.length >= shortest),
    ),
  ].slice(0, mostWords)

const ownerOf = ({ owner }: Seen) => JSON.stringify([owner.tenant, owner.about])

function byOwner(seen: readonly Seen[]): ReadonlyMap<string, readonly Seen[]> {
  const owners = new Map<string, Seen[]>()
  for (const one of seen) {
    const known = owners.get(ownerOf(one))
    if (known) known.push(one)
    else owners.set(ownerOf(one), [one])
  }
  return owners
}

const newestOf = (seen: readonly Seen[], window: number): readonly Seen[] =>
  [...byOwner(seen).values()].flatMap((of) => of.toSorted((a, b) => a.at - b.at).slice(-window))

function itemsOf(seen: readonly Seen[], at: number): readonly MemoryItem[] {
  return confirmed(seen).flatMap((hypothesis) => {
    const about = seen.filter(({ words }) => words.includes(hypothesis.word))
    const derivedFrom = [...new Set(about.flatMap((one) => one.derivedFrom))]
    const [first] = about
    if (!first || derivedFrom.length > memoryBounds.lineage) return []
    return newItem({
      type: 'insight',
      cue: hypothesis.word,
      text: sentence(hypothesis),
      worked: true,
      derivedFrom,
      owner: first.owner,
      source: `insight:${hypothesis.word}`,
      trust: Math.min(...about.map(({ trust }) => trust)),
      from: at,
      expires: null,
      utility: hypothesis.better - hypothesis.otherwise,
    })
  })
}

/** Without the numbers, which move with every episode: an insight that still holds stays the item that it is. */
const sentence = ({ word, did }: Hypothesis): string =>
  `Where "${word}" was asked for, this went better than anything else: ${did}`
