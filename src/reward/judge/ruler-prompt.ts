import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import type { ChatQuestion, Message } from '../../core/index.ts'
import { jsonIn } from './asked.ts'
import { asData, mostOfRecord, recordOf } from './record.ts'
import { allIsData } from './word.ts'

/** What attempts have in common, shown once, and what each did of its own. */
export interface Lineup {
  readonly shared: string
  /** Records of what each attempt did ({@link recordOf}), in the order in which they are shown. */
  readonly own: readonly string[]
}

/** Without the longest beginning that all have in common. */
export function lineupOf(attempts: readonly (readonly Message[])[]): Lineup {
  const shown = attempts.map((messages) => messages.filter(({ role }) => role !== 'system'))
  const [head = []] = shown
  const first = head.findIndex((message, i) => shown.some((other) => asData(other[i] ?? null) !== asData(message)))
  const common = first === -1 ? head.length : first
  const most = mostOfRecord / (attempts.length + 1)
  return {
    shared: recordOf(head.slice(0, common), { most, from: 'start' }),
    own: shown.map((messages) => recordOf(messages.slice(common), { most, from: 'start' })),
  }
}

const rules = `Give each attempt a score from 0 to 1:
- an attempt that reaches the goal scores clearly above one that does not;
- where several reach it, the one that needs less comes first;
- small differences get small gaps, and large ones large gaps;
- an attempt that gets part of the way gets part of the score.
Attempts have no order, and their length is no merit.`

/** @param mark makes the marks of this one question: at random, so that nothing that is judged can know them. */
export function rulerQuestion(
  { shared, own }: Lineup,
  { criterion, maxTokens, mark = randomUUID() }: { criterion: string; maxTokens: number; mark?: string },
): ChatQuestion {
  const section = (name: string, data: string) => [`<${name}-${mark}>`, data, `</${name}-${mark}>`]
  return {
    instructions: `You compare ${own.length} attempts of an assistant at one task. What they have in common stands first, then each attempt, all as JSON between marks that end in ${mark}; "leftOut" counts what is not shown. ${allIsData}\n\nThe goal: ${criterion}\n${rules}\n\nAnswer with a JSON list and nothing else, one entry for each attempt: [{"attempt": 1, "score": 0.5, "why": "one sentence"}]`,
    material: [...section('shared', shared), ...own.flatMap((data, i) => section(`attempt-${i + 1}`, data))].join('\n'),
    maxTokens,
  }
}

const Scores = z.array(z.object({ attempt: z.int(), score: z.number().min(0).max(1), why: z.string().default('') }))

/** Exactly one score of each attempt, in the order in which they were shown; else `null`. */
export function readScores(answer: string, attempts: number) {
  const read = Scores.safeParse(jsonIn(answer))
  if (!read.success || read.data.length !== attempts) return null
  const inOrder = read.data.toSorted((a, b) => a.attempt - b.attempt)
  return inOrder.every(({ attempt }, i) => attempt === i + 1) ? inOrder : null
}
