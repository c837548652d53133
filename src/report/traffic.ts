import { z } from 'zod'
import { CanaryId, type Repositories, type Run } from '../core/index.ts'
import { LearningMode, type TrafficSummary } from '../learn/index.ts'
import { shownCanary } from '../release/index.ts'
import type { TrafficCourse, TrafficStep } from './run-report.ts'
import { type EventOf, eventsOf, latest, type StoredEvent } from './stored-events.ts'

/** What a run over traffic keeps of what it was told to do. */
const Kept = z.object({
  source: z.literal('traffic'),
  traffic: z.object({ agent: z.string(), tenant: z.string() }).nullable().catch(null),
  mode: z
    .union([LearningMode, z.literal('direct')])
    .nullable()
    .catch(null),
})

/** The summary of a run over traffic, once it has ended. */
export function trafficSummaryOf(events: readonly StoredEvent[]): TrafficSummary | null {
  const summary = eventsOf(events, 'finished').at(-1)?.summary
  return summary && 'passes' in summary ? summary : null
}

/** How a run over traffic went; `null` for another run. */
export async function trafficCourse(
  store: Pick<Repositories, 'canaries'>,
  run: Run,
  events: readonly StoredEvent[],
  phase: string | null,
): Promise<TrafficCourse | null> {
  const kept = Kept.safeParse(run.config)
  if (!kept.success) return null
  const { traffic, mode } = kept.data
  const summary = trafficSummaryOf(events)
  const tried = CanaryId.safeParse(summary?.canary ?? eventsOf(events, 'tried').at(-1)?.canary)
  const canary = tried.success ? await store.canaries.get(tried.data) : null
  return {
    agent: traffic && { name: traffic.agent, tenant: traffic.tenant },
    mode,
    gathered: summary?.learned ?? eventsOf(events, 'gathered').at(-1) ?? null,
    steps: stepsOf(events),
    phase,
    measured: latest(eventsOf(events, 'measured'), ({ suite, arm }) => JSON.stringify([suite, arm])).map(
      ({ suite, arm, meanReward, n }) => ({ suite, arm, meanReward, n }),
    ),
    canary: canary && shownCanary(canary),
    summary,
  }
}

/** A resumed run tells a step again that it had not committed: the last telling counts. */
function stepsOf(events: readonly StoredEvent[]): readonly TrafficStep[] {
  const steps = events.flatMap((event) => stepOf(event) ?? [])
  return latest(steps, (step) => `${step.kind} ${'number' in step ? step.number : ''}`)
}

function stepOf(event: StoredEvent): TrafficStep | null {
  if (event.type === 'anchored') return { kind: event.type, sequences: event.sequences, strength: event.strength }
  if (event.type === 'stepped') return { kind: event.type, metrics: event.metrics, seconds: event.seconds }
  if (event.type === 'practised')
    return { kind: event.type, number: event.epoch, of: event.epochs, ...moved(event), seconds: event.seconds }
  if (event.type === 'out-of-bounds')
    return { kind: event.type, number: event.epoch, goesOn: event.goesOn, ...moved(event) }
  if (event.type === 'imitated' || event.type === 'preferred') {
    const { type, pass, passes, metrics, seconds } = event
    return { kind: type, number: pass, of: passes, loss: metrics['loss'] ?? null, seconds }
  }
  return null
}

const moved = ({ divergence }: EventOf<'practised' | 'out-of-bounds'>) => ({
  ratio: divergence.ratio,
  divergence: divergence.kl,
})
