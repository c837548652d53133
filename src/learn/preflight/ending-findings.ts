import type { Numbered } from './call-findings.ts'
import { nameOf, type ShownTurn } from './written-demonstration.ts'
import { counted, type Finding, quoted } from './finding.ts'

/** Fewer demonstrations than this show no custom of ending. */
const enough = 4
/** More than this share must end alike for another end to be unusual. */
const customary = 0.75

interface Ended {
  readonly number: number
  readonly last: ShownTurn
  /** The tool of the last act, or `null` for a message. */
  readonly end: string | null
}

/** Demonstrations that miss the end: they stop in another act than most, or at a message that nobody answers. */
export function endingFindings(shown: readonly Numbered[]): readonly Finding[] {
  const ended = shown.flatMap(({ number, turns }): Ended[] => {
    const last = turns.at(-1)
    return last === undefined ? [] : [{ number, last, end: nameOf(last) }]
  })
  const custom = customOf(ended)
  const unusual = custom === null ? [] : ended.filter(({ end }) => end !== custom.end)
  const rest = ended.filter((one) => !unusual.includes(one))
  return [
    ...(custom === null ? [] : unusualEnds(unusual, ended.length, custom.end)),
    ...unansweredEnds(rest, ended.length),
  ]
}

/** The end that nearly all share, if there is one. */
function customOf(ended: readonly Ended[]): Pick<Ended, 'end'> | null {
  const counts = new Map<string | null, number>()
  for (const { end } of ended) counts.set(end, (counts.get(end) ?? 0) + 1)
  const [commonest] = [...counts].toSorted(([, a], [, b]) => b - a)
  if (commonest === undefined || ended.length < enough) return null
  const [end, n] = commonest
  return n / ended.length > customary || (n === ended.length - 1 && n >= enough - 1) ? { end } : null
}

function unusualEnds(unusual: readonly Ended[], of: number, custom: string | null): readonly Finding[] {
  const [first] = unusual
  if (first === undefined) return []
  const example = `demonstration ${first.number} ends in ${actOf(first.end)}`
  const miss = counted(unusual.length, of, 'demonstration', ['does not end', 'do not end'])
  return [
    {
      severity: 'warn',
      code: 'learn/unusual-end',
      message: `${miss} in ${actOf(custom)}, in which the other ${of - unusual.length} end. For example, ${example}.`,
      hint: 'Show each task to its end: an agent that never sees the end does not learn to come to it.',
      n: unusual.length,
      of,
      example,
    },
  ]
}

/**
 * A result that follows the last call need not be answered where others end in the same call. Where most demonstrations
 * end in what an environment says, that is how they are written.
 */
function unansweredEnds(ended: readonly Ended[], of: number): readonly Finding[] {
  const closed = ended.filter(({ last }) => last.observations.length === 0)
  const closing = new Set(closed.map(({ end }) => end))
  const open = ended.filter(({ last, end }) => last.observations.length > 0 && (end === null || !closing.has(end)))
  const [first] = open
  if (first === undefined || closed.length <= open.length) return []
  const left = first.last.observations.at(-1)
  const example = `demonstration ${first.number} ends with ${quoted(left?.content ?? '')} of the ${left?.role}`
  return [
    {
      severity: 'warn',
      code: 'learn/unanswered-end',
      message: `${counted(open.length, of, 'demonstration', ['ends', 'end'])} with a message that the assistant does not answer, as if cut off. For example, ${example}.`,
      hint: "End each demonstration with the assistant's last act.",
      n: open.length,
      of,
      example,
    },
  ]
}

const actOf = (end: string | null): string => (end === null ? 'a message' : `the act ${quoted(end)}`)
