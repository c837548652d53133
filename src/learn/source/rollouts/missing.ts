import { causedByPolicy, type ScoredTrajectory, type StopReason } from '../../../core/index.ts'
import type { LearnEvent } from '../../events.ts'
import { counted, quoted } from '../../preflight/finding.ts'

/** What a caller cut has no reward, and nothing is wrong. */
const cut: ReadonlySet<StopReason> = new Set(['straggler', 'cancelled', 'interrupted'])

/** What to do about attempts that ended so; of all other ends the verifier said nothing. */
const hints: Readonly<Partial<Record<StopReason, string>>> = {
  'environment-error':
    'Mend the environment. It also opens tasks with instructions in other words (`schedule.rewording`, `guide`): read what is asked from the task’s data or id.',
  'model-error': 'See to the model: its error is quoted.',
  'agent-error': 'Mend the agent’s program: its error is quoted.',
}
const unverified = 'Let the reward say something of every final state: `null` is for evidence that is missing.'

/** Who hears of it. */
interface Host {
  emit(event: Extract<LearnEvent, { readonly type: 'found' }>): void
}

/**
 * Tells of attempts that earned no reward through no act of the agent, with the error of one of them: nothing is learned from
 * these, and a batch of them says no more than that nothing succeeds. Each cause is told once, and again where it is far worse.
 */
export class MissingRewards {
  readonly #host: Host
  /** The greatest share that was told, by the cause. */
  readonly #told = new Map<StopReason, number>()

  constructor(host: Host) {
    this.#host = host
  }

  /** Looks through a batch. */
  watch(scored: readonly ScoredTrajectory[]): void {
    const causes = new Map<StopReason, ScoredTrajectory[]>()
    for (const one of scored) {
      const { stopReason } = one.trajectory
      if (one.reward.status !== 'missing' || cut.has(stopReason)) continue
      causes.set(stopReason, [...(causes.get(stopReason) ?? []), one])
    }
    for (const [cause, missing] of causes) this.#tell(cause, missing, scored.length)
  }

  #tell(cause: StopReason, missing: readonly ScoredTrajectory[], of: number): void {
    const share = missing.length / of
    const [first] = missing
    if (first === undefined || share < worse * (this.#told.get(cause) ?? 0)) return
    this.#told.set(cause, share)
    const { trajectory, reward } = first
    const reason = reward.status === 'missing' ? reward.reason : cause
    const example = `the task ${quoted(trajectory.task.id, 40)}: ${quoted(reason, 160)}`
    const earn = counted(missing.length, of, 'attempt', ['earns', 'earn'])
    this.#host.emit({
      type: 'found',
      severity: 'warn',
      code: 'learn/missing-reward',
      message: `${earn} no reward, ${whose(cause)} (${cause}). For example, ${example}.`,
      hint: hints[cause] ?? unverified,
      n: missing.length,
      of,
      example,
    })
  }
}

/** The environment, the model or the program fails; of all other ends the verifier is silent. */
const whose = (cause: StopReason): string =>
  cause === 'done' || causedByPolicy(cause) ? 'since nothing verifies how they ended' : 'through no act of the agent'

/** How many times as large a share is told again. */
const worse = 2
