import type { Demonstration, ParameterName } from '../../../core/index.ts'
import { present } from '../../../errors/index.ts'
import type { TrafficOptions } from '../../options.ts'
import { LearnRun, type RunParts } from '../../run/learn-run.ts'
import type { WeightsState } from '../../run/state.ts'
import type { Divergence, TrafficSummary } from '../../summary.ts'
import type { Material } from './learned-from.ts'
import { nothingGathered } from './evidence-report.ts'
import type { TrafficSchedule } from './schedule.ts'

/** A run over traffic: it gathers what people did and said, and learns from that. */
export class TrafficRun extends LearnRun<TrafficOptions, 'candidate'> {
  readonly schedule: TrafficSchedule
  /** What weights learn from, once it was read, by their Parameter. */
  readonly materials = new Map<ParameterName, Material>()
  /** What they may learn again, once it was read. */
  readonly rehearsals = new Map<ParameterName, readonly Demonstration[]>()
  protected override readonly candidateName = 'candidate'

  constructor(parts: RunParts<TrafficOptions>, schedule: TrafficSchedule) {
    super(parts)
    this.schedule = schedule
  }

  override summary(): TrafficSummary {
    const { state } = this
    const weights = this.weights.map((one) => one.state)
    const sum = (part: 'passes' | 'preferences' | 'epochs' | 'replayed') =>
      weights.reduce((all, one) => all + one[part], 0)
    return {
      runId: this.run.id,
      agent: this.key,
      outcome: present(state.outcome, 'what became of the run'),
      reason: state.reason,
      evidence: this.options.source.evaluation === null ? 'canary-only' : 'held-out',
      learned: this.retired ? nothingGathered(this.run.startedAt) : present(state.report, 'what was gathered'),
      replayed: sum('replayed'),
      passes: { demonstrations: sum('passes'), preferences: sum('preferences'), epochs: sum('epochs') },
      divergence: furthest(weights),
      candidate: this.candidates[0]?.id ?? null,
      decision: state.decision,
      ...(state.brought.length > 0 && { brought: state.brought }),
      receipt: state.receipt,
      canary: state.canary,
      seconds: this.seconds,
      tokensTrained: state.tokensTrained,
    }
  }
}

/** How far those weights are from those that sampled which are the furthest; `null` where none practised. */
function furthest(weights: readonly WeightsState[]): Divergence | null {
  const divergences = weights.flatMap(({ divergence }) => divergence ?? [])
  return divergences.reduce((most: Divergence | null, one) => (most === null || one.kl > most.kl ? one : most), null)
}
