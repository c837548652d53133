import type { NodeId, Rubric, Signal, Trajectory } from '../../core/index.ts'
import {
  behaviourName,
  type Factors,
  type ImplicitKind,
  type ImplicitOptions,
  implicitSignals,
} from '../../reward/index.ts'

/** How opinions are read. */
export interface OpinionReading {
  /** Milliseconds since the epoch: silence until then speaks. */
  readonly asOf: number
  /** What a session earned. */
  readonly rubric: Rubric
  /** What of behaviour is read. Default: all of it. */
  readonly behaviour?: ImplicitOptions
  /** What kinds of behaviour are multiplied by, by `behaviourName`: what an audit's labels make of them. */
  readonly factors?: Factors
}

/**
 * What people made of each answer, from -1 to 1; answers of which nothing is known are left out. What somebody said of an
 * answer goes before what is guessed from behaviour. It means what the rubric makes of it: one star of five is no praise,
 * a name that the rubric does not read says nothing, and of one reporter the last word counts. Of behaviour each kind
 * that is read means what it does by default, times its factor: the rubric's worths say what a session earns, this which answers people took.
 */
export async function opinions(
  trajectory: Trajectory,
  signals: readonly Signal[],
  reading: OpinionReading,
): Promise<ReadonlyMap<NodeId, number>> {
  return new Map([...guessed(trajectory, reading), ...(await told(trajectory, signals, reading))])
}

/** The mean of what behaviour tells of each answer. */
function guessed(
  trajectory: Trajectory,
  { asOf, behaviour, factors = {} }: OpinionReading,
): ReadonlyMap<NodeId, number> {
  const means = new Map<NodeId, number>()
  for (const [node, about] of byAnswer(implicitSignals(trajectory, asOf, behaviour))) {
    const values = about.flatMap(({ name, value }) =>
      typeof value === 'number' ? [value * (factors[behaviourName(name as ImplicitKind)] ?? 1)] : [],
    )
    if (values.length > 0) means.set(node, values.reduce((sum, one) => sum + one, 0) / values.length)
  }
  return means
}

/** What users said of each answer: what the rubric reads from that alone and not without it. */
async function told(
  trajectory: Trajectory,
  signals: readonly Signal[],
  { asOf, rubric }: OpinionReading,
): Promise<ReadonlyMap<NodeId, number>> {
  const said = byAnswer(signals.filter(({ source }) => source === 'user'))
  const liked = new Map<NodeId, number>()
  if (said.size === 0) return liked
  const { parts: silent } = await rubric.score(trajectory, [], asOf)
  for (const [node, about] of said) {
    const { parts } = await rubric.score(trajectory, about, asOf)
    const worths = Object.entries(parts).flatMap(([name, worth]) =>
      worth === null || (silent[name] ?? null) !== null ? [] : [worth],
    )
    const worth = worths.reduce((sum, one) => sum + one, 0)
    if (worths.length > 0) liked.set(node, Math.min(1, Math.max(-1, worth)))
  }
  return liked
}

/** Signals by the answer that they are about, without those of a whole trajectory. */
function byAnswer(signals: readonly Signal[]): ReadonlyMap<NodeId, readonly Signal[]> {
  const found = new Map<NodeId, Signal[]>()
  for (const signal of signals) {
    if (signal.node === null) continue
    const known = found.get(signal.node)
    if (known) known.push(signal)
    else found.set(signal.node, [signal])
  }
  return found
}
