import pc from 'picocolors'
import { type DecisionId, type Trajectory, visible } from '../../core/index.ts'
import {
  type DecisionGraph,
  decisionGraph,
  type DrawnDecision,
  fitted,
  noteOf,
  speakerOf,
  wordsOf,
} from '../../report/index.ts'
import { said } from './said.ts'

/** Deeper nesting is drawn without more indentation. */
const deepest = 8
const columns = 80

interface Line {
  readonly drawn: DrawnDecision
  readonly indent: string
  readonly marker: string
  /** Where what it read is drawn. */
  readonly under: string
}

/**
 * A trajectory's decisions as a person reads them in a terminal of 80 columns: from the outcome back to what it was built
 * from, each below what read it, indented where several were read. What was drawn before is named by its number. Then what
 * the outcome was not built from.
 */
export function graphText(trajectory: Trajectory): string {
  const graph = decisionGraph(trajectory)
  const seen = new Set<DecisionId>()
  const unused = graph.decisions.filter(({ used }) => used === false)
  const lines = [
    pc.bold(`outcome of trajectory ${trajectory.id}`),
    pc.dim(noteOf(graph)),
    '',
    ...linesFrom(graph, graph.outcome.from, seen),
  ]
  if (unused.length > 0) {
    const read = new Set(unused.flatMap(({ from }) => from))
    const ends = unused.flatMap(({ decision: { id } }) => (read.has(id) ? [] : [id]))
    lines.push('', pc.bold('not used'), '', ...linesFrom(graph, ends, seen))
  }
  return `${lines.join('\n')}\n`
}

function* linesFrom(
  { decisions }: DecisionGraph,
  roots: readonly DecisionId[],
  seen: Set<DecisionId>,
): Generator<string> {
  const numbered = new Map(decisions.map((drawn, i) => [drawn.decision.id, { drawn, number: i + 1 }]))
  const below = (ids: readonly DecisionId[], indent: string): Line[] => {
    const found = ids.flatMap((id) => numbered.get(id)?.drawn ?? [])
    if (found.length < 2) return found.map((drawn) => ({ drawn, indent, marker: '', under: indent }))
    const deep = indent.length >= deepest * 3
    return found.map((drawn, i) => {
      const last = i === found.length - 1
      const under = deep ? indent : `${indent}${last ? '   ' : '│  '}`
      return { drawn, indent, marker: last ? '└─ ' : '├─ ', under }
    })
  }
  // A stack, not recursion: an episode may be thousands of decisions long.
  const open = below(roots, '').toReversed()
  for (let at = open.pop(); at; at = open.pop()) {
    const { drawn, indent, marker, under } = at
    const number = numbered.get(drawn.decision.id)?.number ?? 0
    if (seen.has(drawn.decision.id)) {
      yield `${indent}${marker}${pc.dim(`#${number} again`)}`
      continue
    }
    seen.add(drawn.decision.id)
    yield* decisionLines(drawn, number, { lead: `${indent}${marker}`, under })
    open.push(...below(drawn.from, under).toReversed())
  }
}

function* decisionLines(
  { decision, said: message, read }: DrawnDecision,
  number: number,
  { lead, under }: { readonly lead: string; readonly under: string },
): Generator<string> {
  const parameter = said(decision.parameter, 20)
  const head = `#${number} ${parameter}  `
  const what = message === null ? `(${decision.kind}, read as a string)` : wordsOf(message)
  yield `${lead}${pc.cyan(`#${number} ${parameter}`)}  ${fitted(visible(what), columns - lead.length - head.length)}`
  if (read === null) return
  const reading = `  read ${said(speakerOf(read), 20)}: `
  yield `${under}${pc.dim(`${reading}${fitted(visible(wordsOf(read)), columns - under.length - reading.length)}`)}`
}
