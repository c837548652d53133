import type { Reward, Signal, Trajectory } from '../core/index.ts'

/**
 * The reward that a trajectory's signals of one name say: their mean, a yes being 1 and a no 0, each reporter counted
 * once, by the last that they said. Signals that are no number and no yes or no do not count; without one, it is missing.
 */
export function rewardedBy({ id }: Pick<Trajectory, 'id'>, signals: readonly Signal[], name: string): Reward {
  const latest = new Map<string, number>()
  for (const signal of signals) {
    const value = typeof signal.value === 'boolean' ? Number(signal.value) : signal.value
    if (signal.trajectory === id && signal.name === name && typeof value === 'number')
      latest.set(signal.reporter, value)
  }
  if (latest.size === 0)
    return { status: 'missing', value: null, parts: {}, reason: `no signal "${name}" with a number` }
  const mean = [...latest.values()].reduce((sum, value) => sum + value, 0) / latest.size
  return { status: 'scored', value: mean, parts: { [name]: mean } }
}
