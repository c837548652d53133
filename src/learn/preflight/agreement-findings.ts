import { sha256 } from '../../core/index.ts'
import { namesOf, type WrittenDemonstration, sayingOf } from './written-demonstration.ts'
import { counted, type Finding, quoted } from './finding.ts'

/** Demonstrations that repeat each other, and turns that answer the same conversation in different ways. */
export function agreementFindings(demonstrations: readonly WrittenDemonstration[]): readonly Finding[] {
  const conversations = demonstrations.map(readThrough)
  return [
    ...duplicates(conversations.map(({ whole }) => whole)),
    ...contradictions(conversations.map(({ turns }) => turns)),
  ]
}

interface ReadThrough {
  /** Hash of the whole conversation. */
  readonly whole: string
  /** For each turn of the assistant: the hash of everything before it, and what it says and does. */
  readonly turns: readonly { readonly context: string; readonly act: string }[]
}

/** Hashes message by message, each with the hash of those before it, so that a long conversation is read once. */
function readThrough({ messages, tools }: WrittenDemonstration): ReadThrough {
  // Tools are read before anything is said: with others, it is another conversation.
  let whole = tools === undefined ? '' : namesOf(tools)
  const turns: { context: string; act: string }[] = []
  for (const message of messages) {
    const saying = sayingOf(message)
    if (message.role === 'assistant') turns.push({ context: whole, act: saying })
    whole = sha256(`${whole} ${saying}`)
  }
  return { whole, turns }
}

function duplicates(wholes: readonly string[]): readonly Finding[] {
  const first = new Map<string, number>()
  const repeats = wholes.flatMap((whole, i) => {
    const earlier = first.get(whole)
    if (earlier === undefined) first.set(whole, i)
    return earlier === undefined ? [] : [`demonstration ${i + 1} repeats demonstration ${earlier + 1}`]
  })
  const [example] = repeats
  if (example === undefined) return []
  const repeat = counted(repeats.length, wholes.length, 'demonstration', ['is an exact copy', 'are exact copies'])
  return [
    {
      severity: 'warn',
      code: 'learn/duplicate-demonstration',
      message: `${repeat} of an earlier one. For example, ${example}.`,
      hint: 'Leave the copies out: they count as often as they are there.',
      n: repeats.length,
      of: wholes.length,
      example,
    },
  ]
}

function contradictions(conversations: readonly ReadThrough['turns'][]): readonly Finding[] {
  const answers = new Map<string, Map<string, number>>()
  for (const [i, turns] of conversations.entries()) {
    for (const { context, act } of turns) {
      const acts = answers.get(context) ?? new Map<string, number>()
      if (!acts.has(act)) acts.set(act, i + 1)
      answers.set(context, acts)
    }
  }
  const turns = conversations.flat()
  const contested = turns.filter(({ context }) => (answers.get(context)?.size ?? 0) > 1)
  const [[one, first] = [], [other, second] = []] = answers.get(contested[0]?.context ?? '') ?? []
  if (contested.length === 0 || one === undefined || other === undefined) return []
  const answer = counted(contested.length, turns.length, 'turn', ['answers', 'answer'])
  const example = `demonstration ${first} has ${quoted(one, 120)} where demonstration ${second} has ${quoted(other, 120)}`
  return [
    {
      severity: 'warn',
      code: 'learn/contradiction',
      message: `${answer} a conversation that another demonstration answers in a different way. For example, ${example}.`,
      hint: 'Keep one way for each conversation, or let them differ in what comes before the turn.',
      n: contested.length,
      of: turns.length,
      example,
    },
  ]
}
