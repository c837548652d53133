import type { EpisodeBudget } from '../../../agent/index.ts'
import { blobKey, type ParameterName, type ScoredTrajectory } from '../../../core/index.ts'
import { present } from '../../../errors/index.ts'
import type { RolloutOptions } from '../../options.ts'
import { LearnRun, type RunParts } from '../../run/learn-run.ts'
import type { Stopped } from '../../run/state.ts'
import type { TrainedWeights } from '../../run/trained-weights.ts'
import { type PlayedDemonstration, successThreshold } from '../../preflight/index.ts'
import { diagnose, familiesOf, type FamilyOf } from '../../steer/index.ts'
import type { RolloutSummary } from '../../summary.ts'
import type { Demonstrations } from './demonstrations.ts'
import { EarlierSuccesses } from './earlier.ts'
import { MissingRewards } from './missing.ts'
import { RehearsalPool } from './rehearsal-pool.ts'
import { toolErrorsFor } from './recipe.ts'
import type { Schedule } from './schedule.ts'

/** What a run over rollouts is opened with, beside what every run is. */
export interface Practice {
  readonly schedule: Schedule
  readonly budget: EpisodeBudget
  readonly demonstrations: Demonstrations
  /** The weights that imitate them; `null`: none. */
  readonly taught: ParameterName | null
}

/**
 * What it keeps of weights: where a library of adapters let it begin, where priming ended, the moving average, the best
 * validation, and the control's best; and the trainer's state that a collapse goes back to.
 */
export type KeptWeights = 'start' | 'primed' | 'average' | 'best' | 'control' | 'steady'

/** A run over rollouts: it imitates demonstrations, practises, and is judged on held-out tasks. */
export class RolloutRun extends LearnRun<RolloutOptions, KeptWeights> {
  readonly schedule: Schedule
  /** All demonstrations, those that are not imitated as well. */
  readonly allDemonstrations: Demonstrations
  /** The weights that imitate demonstrations; `null`: none. */
  readonly taught: TrainedWeights<KeptWeights> | null
  /** The families of the tasks, and how many training tasks each has. */
  readonly familyOf: FamilyOf
  readonly familySizes: ReadonlyMap<string, number>
  /** What earlier runs learned. */
  readonly earlier = new EarlierSuccesses(this)
  /** Tells where attempts earn nothing through no act of the agent. */
  readonly missing = new MissingRewards(this)
  protected override readonly candidateName = 'best'
  readonly #budget: EpisodeBudget
  #demonstrations: Demonstrations
  #rehearsal: RehearsalPool

  constructor(parts: RunParts<RolloutOptions>, { schedule, budget, demonstrations, taught }: Practice) {
    super(parts)
    this.schedule = schedule
    this.#budget = budget
    this.allDemonstrations = demonstrations
    this.taught = this.weights.find(({ parameter }) => parameter === taught) ?? null
    const { train } = parts.options.source
    this.familyOf = familiesOf(train)
    const sizes = new Map<string, number>()
    for (const task of train) sizes.set(this.familyOf(task), (sizes.get(this.familyOf(task)) ?? 0) + 1)
    this.familySizes = sizes
    this.#demonstrations = demonstrations.without(this.state.leftOut)
    this.#rehearsal = this.#newRehearsal()
  }

  /** What an attempt may spend. Where nobody said how many calls tools may refuse, replayed demonstrations fit in it. */
  get budget(): EpisodeBudget {
    if (this.options.budget?.toolErrors !== undefined) return this.#budget
    return { ...this.#budget, toolErrors: Math.max(this.#budget.toolErrors, toolErrorsFor(this.state.refused)) }
  }

  /** The demonstrations to imitate. */
  get demonstrations(): Demonstrations {
    return this.#demonstrations
  }

  /** What an update can rehearse. */
  get rehearsal(): RehearsalPool {
    return this.#rehearsal
  }

  /** From here these demonstrations are not imitated, by their place among all that were given, from 0. */
  leaveOut(places: readonly number[]): void {
    const leftOut = this.allDemonstrations.hashesOf(places)
    this.state = { ...this.state, leftOut }
    this.#demonstrations = this.allDemonstrations.without(leftOut)
    this.#rehearsal = this.#newRehearsal()
  }

  /** The reward from which an attempt counts as a success. */
  get successThreshold(): number {
    return this.options.successThreshold ?? this.state.successThreshold ?? this.options.reward.ceiling
  }

  /** From here an attempt may make as many refused calls as a demonstration, and succeeds by what demonstrations earn. */
  learnBounds(played: readonly PlayedDemonstration[]): void {
    const refused = played.reduce((most, { refusedCalls }) => Math.max(most, refusedCalls), 0)
    this.state = { ...this.state, refused, successThreshold: successThreshold(played, this.options.reward.ceiling) }
  }

  #newRehearsal(): RehearsalPool {
    return new RehearsalPool(this.options, this.#demonstrations, this.taught?.parameter ?? null, this.familyOf)
  }

  override summary(): RolloutSummary {
    const { rates, decision, brought, release, canary, outcome, reason, tokensSampled, tokensTrained } = this.state
    const elsewhere = decision === 'promote' && outcome !== null && outcome !== 'released'
    return {
      runId: this.run.id,
      ...present(rates, 'what the arms earned'),
      decision: present(decision, "the gate's decision"),
      ...(brought.length > 0 && { brought }),
      releaseId: release,
      ...(canary === null ? {} : { canary }),
      ...(elsewhere ? { outcome, reason } : {}),
      seconds: this.seconds,
      tokensSampled,
      tokensTrained,
    }
  }

  /** Weights beside others that nothing has moved since the run began bring nothing to the candidate. */
  protected override hasMoved(one: TrainedWeights<KeptWeights>): boolean {
    const [best, began] = [one.at('best'), one.at('primed')]
    if (
      this.weights.length === 1 ||
      one.at('start') !== null ||
      one.state.passes > 0 ||
      best === null ||
      began === null
    )
      return true
    return blobKey(best) !== blobKey(began)
  }

  /** Remembers the trainers as the next checkpoint has them: what a collapse goes back to. */
  keepSteady(): void {
    this.state = { ...this.state, steady: { update: this.state.update, standing: this.state.standing } }
    this.mark('steady')
  }

  /** Remembers the trainers as the last checkpoint has them: the weights that the batch at hand was sampled with. */
  keepSampled(): void {
    this.state = { ...this.state, steady: { update: this.state.update, standing: this.state.standing } }
    for (const { suffix } of this.weights) {
      this.name(`steady${suffix}`, present(this.blobs[`trainer${suffix}`], "the last checkpoint's trainer state"))
    }
  }

  /** Ends updating before the schedule does, and says why. @param scored what was seen last. */
  stop(reason: Stopped['reason'], message: string, scored: readonly ScoredTrajectory[]): void {
    const diagnosis = diagnose(scored, this.successThreshold)
    this.state = {
      ...this.state,
      stopped: { reason, message: `${message} ${diagnosis.message}`, hint: diagnosis.hint },
    }
    this.emit({ type: 'stopped', update: this.state.update, reason, message, diagnosis })
  }
}
