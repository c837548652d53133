import type { NodeId, Signal, Trajectory } from '../../core/index.ts'
import { implicitSignals } from '../../reward/index.ts'

/**
 * What people made of each answer, from -1 to 1; answers of which nothing is known are left out. What somebody said of an
 * answer (yes or no, or a number from -1 to 1) goes before what is guessed from behaviour. Behaviour is read as it is by
 * default, whatever the rubric makes of it: that says what a session earns, this which of its answers people took.
 */
export function opinions(
  trajectory: Trajectory,
  signals: readonly Signal[],
  asOf: number,
): ReadonlyMap<NodeId, number> {
  const guessed = means(implicitSignals(trajectory, asOf))
  const said = means(signals.filter(({ source }) => source === 'user'))
  return new Map([...guessed, ...said])
}

function means(signals: readonly Signal[]): ReadonlyMap<NodeId, number> {
  const values = new Map<NodeId, number[]>()
  for (const { node, value } of signals) {
    const opinion = typeof value === 'boolean' ? (value ? 1 : -1) : value
    if (node === null || typeof opinion !== 'number' || Math.abs(opinion) > 1) continue
    const known = values.get(node)
    if (known) known.push(opinion)
    else values.set(node, [opinion])
  }
  return new Map([...values].map(([node, all]) => [node, all.reduce((sum, one) => sum + one, 0) / all.length]))
}
