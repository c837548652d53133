import { RatchetError } from '../../errors/index.ts'
import type { LearnerEvent } from './events.ts'

type Problem = Extract<LearnerEvent, { type: 'problem' }>

/** What went wrong, as a learner tells it. */
export function problem(agent: string, during: Problem['during'], error: unknown): Problem {
  const message = error instanceof Error ? error.message : String(error)
  return { type: 'problem', agent, during, code: RatchetError.is(error) ? error.code : 'unknown', message }
}
