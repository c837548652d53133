import { z } from 'zod'
import { clipped, MemoryError, MemoryItem, memoryBounds, newItem, problemsOf } from '../../agent/index.ts'
import { parseInput } from '../../core/index.ts'
import { abstracted } from './abstracted.ts'
import { agrees, confirmed, type Hypothesis } from './hypotheses.ts'
import { lineageOf } from './lineage.ts'
import { expiryOf, type MemoryPart, type Outcome, type PartContext } from './part.ts'
import { addressesTheModel, mayBeOrder } from './trust.ts'

/** How insights are found. */
export interface InsightOptions {
  /** Episodes of one owner that they are found in and tested on, the newest; 1 to 250: an insight names all. Default 200. */
  readonly window?: number
}

const Options = z.object({ window: z.int().min(1).max(250).default(200) })
/** Episodes of all owners that are kept, the newest: every checkpoint holds them. */
export const mostSeen = 10_000

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
 *
 * An insight that still holds stays the item that it is, with its utility and tallies, and stands on the episodes that confirm
 * it now: it names them, and is trusted as little as the least of them. One of before goes where as many episodes as it stands
 * on do not confirm it, or where fewer speak against it; what episodes say nothing of stays, and so does what people wrote.
 * @throws MemoryError for a window out of its range.
 */
export function insights(options: InsightOptions = {}): MemoryPart {
  const { success, data, error } = Options.safeParse(options)
  if (!success) throw badOptions(error)
  return {
    name: 'insights',
    open(saved) {
      let seen: readonly Seen[] = saved === null ? [] : parseInput(z.array(Seen), saved, 'the state of insights')
      return {
        save: () => [...seen],
        async step(context) {
          const now = context.outcomes.flatMap((outcome) => seenIn(outcome, context))
          seen = newestOf([...seen, ...now].filter(isKept(context)), data.window)
          const owners = byOwner(seen)
          const held = [...owners.values()].flatMap((of) => itemsOf(of, context))
          await settle(held, owners, context)
          return { insights: held.length }
        },
      }
    },
  }
}

/** What holds no longer goes; what still does stands on what confirms it now. */
async function settle(
  held: readonly MemoryItem[],
  owners: ReadonlyMap<string, readonly Seen[]>,
  { collection, at }: PartContext,
): Promise<void> {
  const ids = new Set(held.map(({ id }) => id))
  for (const item of collection.items) {
    if (ids.has(item.id) || collection.archived(item.id)) continue
    if (isRefuted(item, owners.get(ownerOf(item)) ?? [])) collection.forget(item.id)
  }
  for (const item of held) {
    const known = collection.get(item.id)
    if (known ? hypothesisIn(known) === null : collection.knows(item, at)) continue
    const { derivedFrom, trust, expires } = item
    await collection.put(known ? { ...known, derivedFrom, trust, expires } : item)
  }
}

const badOptions = (error: z.ZodError) =>
  new MemoryError({
    code: 'memory/bad-options',
    message: `insights: ${problemsOf(error)}.`,
    hint: 'Make the window 1 to 250 episodes.',
  })

function seenIn({ experience, signal, example }: Outcome, context: PartContext): readonly Seen[] {
  const did = clipped(abstracted(experience.done), mostBytes)
  const lineage = example === null ? null : lineageOf(experience, context)
  // One that may be an order is hardly trusted, and an insight is trusted as little as the least of its episodes.
  const whole = `${experience.cue}\n${did}`
  if (lineage === null || did === '' || addressesTheModel(whole) || mayBeOrder(whole)) return []
  return [
    {
      ...lineage,
      words: wordsOf(experience.cue),
      did,
      signal,
      at: experience.at,
    },
  ]
}

const wordsOf = (cue: string): string[] =>
  [
    ...new Set(
      [...cue.toLowerCase().matchAll(/\p{L}+/gu)].map(([word]) => word).filter((word) => word.length >= shortest),
    ),
  ].slice(0, mostWords)

/** Whether an episode may still be learned from. */
const isKept = (context: PartContext) => (one: Seen) =>
  (expiryOf(one.at, context) ?? Number.POSITIVE_INFINITY) > context.at

const ownerOf = ({ owner }: Pick<MemoryItem, 'owner'>) => JSON.stringify([owner.tenant, owner.about])

function byOwner(seen: readonly Seen[]): ReadonlyMap<string, readonly Seen[]> {
  const owners = new Map<string, Seen[]>()
  for (const one of seen) {
    const known = owners.get(ownerOf(one))
    if (known) known.push(one)
    else owners.set(ownerOf(one), [one])
  }
  return owners
}

/** The newest of each owner, and of all of them together. */
const newestOf = (seen: readonly Seen[], window: number): readonly Seen[] =>
  [...byOwner(seen).values()]
    .flatMap((of) => of.toSorted((a, b) => a.at - b.at).slice(-window))
    .toSorted((a, b) => a.at - b.at)
    .slice(-mostSeen)

function itemsOf(seen: readonly Seen[], context: PartContext): readonly MemoryItem[] {
  return confirmed(seen).flatMap((hypothesis) => {
    const { about, derivedFrom } = evidenceOn(hypothesis, seen)
    const [first] = about
    if (!first || derivedFrom.length > memoryBounds.lineage) return []
    return newItem({
      type: 'insight',
      cue: hypothesis.word,
      text: sentence(hypothesis),
      worked: true,
      derivedFrom,
      owner: first.owner,
      source: sourceOf(hypothesis),
      trust: Math.min(...about.map(({ trust }) => trust)),
      from: context.at,
      expires: expiryOf(saidLast(hypothesis, about), context),
      utility: hypothesis.better - hypothesis.otherwise,
    })
  })
}

/** When an episode last did what an insight says. */
const saidLast = ({ did }: Hypothesis, about: readonly Seen[]): number =>
  about.reduce((latest, one) => (one.did === did ? Math.max(latest, one.at) : latest), 0)

/** Without the numbers, which move with every episode: an insight that still holds stays the item that it is. */
const sentence = ({ word, did }: Pick<Hypothesis, 'word' | 'did'>): string =>
  `Where "${word}" was asked for, this went better than anything else: ${did}`

const sourceOf = ({ word }: Pick<Hypothesis, 'word'>): string => `insight:${word}`

/** What an insight says that was found here; `null` for what people wrote. */
function hypothesisIn({ type, cue: word, text, source }: MemoryItem): Pick<Hypothesis, 'word' | 'did'> | null {
  const start = sentence({ word, did: '' })
  const isFound = type === 'insight' && source === sourceOf({ word }) && text.startsWith(start)
  return isFound ? { word, did: text.slice(start.length) } : null
}

/** Whether episodes that do not confirm an insight are enough to give it up. */
function isRefuted(item: MemoryItem, seen: readonly Seen[]): boolean {
  const hypothesis = hypothesisIn(item)
  const holds = hypothesis && agrees(seen, hypothesis)
  if (hypothesis === null || holds === null) return false
  return !holds || evidenceOn(hypothesis, seen).derivedFrom.length >= item.derivedFrom.length
}

/** The episodes that an insight is about, and all that they come from. */
function evidenceOn({ word }: Pick<Hypothesis, 'word'>, seen: readonly Seen[]) {
  const about = seen.filter(({ words }) => words.includes(word))
  return { about, derivedFrom: [...new Set(about.flatMap((one) => one.derivedFrom))] }
}
