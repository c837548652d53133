import { z } from 'zod'
import type { ScoredTrajectory, Trajectory } from '../../core/index.ts'

/** How an attempt ended, as far as it tells what to mend. */
export const Ending = z.enum([
  'success',
  'broken-first-call',
  'broken-call',
  'tool-errors',
  'turns',
  'tokens',
  'context',
  'wrong',
  'vetoed',
  'missing',
])
export type Ending = z.infer<typeof Ending>

/** What most attempts came to, and what would help. */
export const Diagnosis = z.strictObject({
  attempts: z.int().nonnegative(),
  endings: z.partialRecord(Ending, z.int().positive()),
  /** One sentence: the shares of the endings, the largest first. */
  message: z.string(),
  /** What to do about the largest that is no success. */
  hint: z.string(),
})
export type Diagnosis = Readonly<z.infer<typeof Diagnosis>>

const wordsOf: Readonly<Record<Ending, { readonly share: string; readonly hint: string }>> = {
  success: { share: 'succeed', hint: 'Do nothing.' },
  'broken-first-call': {
    share: 'break the first call',
    hint: 'Give more demonstrations, or a shorter form: fewer arguments, shorter names, renderer "compact".',
  },
  'broken-call': {
    share: 'break a later call',
    hint: 'Give more demonstrations, and shorter observations: what has to be repeated should be few tokens long.',
  },
  'tool-errors': {
    share: 'make calls that the tools refuse',
    hint: 'Names that have to be copied may be too long for this model: shorten them, or show the key before its value. Raise episode.toolErrors (in a program budget.toolErrors) where errors are part of the work.',
  },
  turns: {
    share: 'run out of turns',
    hint: 'Raise episode.turns (in a program budget.turns) above the longest demonstration, and see that every demonstration shows the end.',
  },
  tokens: {
    share: 'are cut off in the middle of a turn',
    hint: 'Raise episode.tokensPerTurn (in a program budget.tokensPerTurn) above the longest turn of the demonstrations.',
  },
  context: {
    share: "outgrow the model's context",
    hint: 'Make observations shorter: return what is asked for and no more.',
  },
  wrong: {
    share: 'end in a way that earns too little',
    hint: 'The form is learned and the decision is not: show in the observations what the right act depends on, key before value, and give demonstrations of each case.',
  },
  vetoed: {
    share: 'are vetoed by a guard',
    hint: 'Look at one with `ratchet show`: a guard takes what the agent does for gaming.',
  },
  missing: {
    share: 'earn no reward, through no act of the agent',
    hint: 'The environment or the verifier fails: look at one with `ratchet show`.',
  },
}

/** What the attempts of a batch came to. @param threshold the reward of a success. */
export function diagnose(scored: readonly ScoredTrajectory[], threshold: number): Diagnosis {
  const counts = new Map<Ending, number>()
  for (const one of scored) {
    const ending = endingOf(one, threshold)
    counts.set(ending, (counts.get(ending) ?? 0) + 1)
  }
  const sorted = [...counts].toSorted(([, a], [, b]) => b - a)
  const shares = sorted.map(([ending, n]) => `${percent(n / scored.length)} ${wordsOf[ending].share}`)
  const [worst] = sorted.filter(([ending]) => ending !== 'success')
  return {
    attempts: scored.length,
    endings: Object.fromEntries(sorted),
    message: shares.length === 0 ? 'Nothing was attempted.' : `Of ${scored.length} attempts ${shares.join(', ')}.`,
    hint: worst ? wordsOf[worst[0]].hint : wordsOf.success.hint,
  }
}

function endingOf({ trajectory, reward }: ScoredTrajectory, threshold: number): Ending {
  if (reward.status === 'missing') return 'missing'
  if (reward.status === 'scored' && reward.value >= threshold) return 'success'
  switch (trajectory.stopReason) {
    case 'malformed-call':
      return trajectory.steps.length <= 1 ? 'broken-first-call' : 'broken-call'
    case 'tool-errors':
      return 'tool-errors'
    case 'turn-budget':
      return 'turns'
    case 'token-budget':
    case 'time-budget':
      return 'tokens'
    case 'context-length':
      return 'context'
    case 'done':
    case 'straggler':
    case 'cancelled':
    case 'interrupted':
    case 'environment-error':
    case 'model-error':
    case 'agent-error':
      return reward.status === 'vetoed' && !broke(trajectory) ? 'vetoed' : 'wrong'
  }
}

const broke = ({ nodes }: Trajectory) =>
  nodes.some(({ message }) => message.role === 'assistant' && (message.malformedCalls?.length ?? 0) > 0)

const percent = (share: number) => `${Math.round(100 * share)} %`
