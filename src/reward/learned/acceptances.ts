import type { NodeId, Signal, Trajectory } from '../../core/index.ts'
import { upTo } from '../turns.ts'
import type { JudgedExample } from './example.ts'
import type { Features } from './features.ts'

/** Which signals say what was accepted. */
export interface AcceptanceReading {
  /** Signals of this name: `true`, `"accepted"` or a positive number; `false`, `"rejected"`, 0 or a negative one. */
  readonly name: string
  readonly source: Signal['source']
  /** Milliseconds since the epoch: what was said later is not seen. */
  readonly asOf: number
}

/** What was read, and how many signals could not be. */
export interface Acceptances {
  readonly examples: readonly JudgedExample[]
  /** Signals about trajectories that are not there, of values that say neither, or of nothing that the policy said. */
  readonly dropped: number
}

/**
 * Examples for a reward model from signals about episodes, or about single steps (their node). The last word of a reporter
 * about one thing counts. All who judged one trajectory are one subject, and so on from trajectory to trajectory: neither a
 * person nor an episode is ever on both sides of a split.
 */
export async function acceptances(
  trajectories: readonly Trajectory[],
  signals: readonly Signal[],
  features: Features,
  { name, source, asOf }: AcceptanceReading,
): Promise<Acceptances> {
  const known = new Map(trajectories.map((one) => [one.id, upTo(one, asOf)]))
  const wanted = signals.filter((one) => one.name === name && one.source === source && one.at <= asOf)
  const last = new Map<string, Signal>()
  for (const one of wanted.toSorted((a, b) => a.at - b.at || (a.key < b.key ? -1 : 1))) {
    last.set(JSON.stringify([one.reporter, one.trajectory, one.node]), one)
  }
  const subjects = linked([...last.values()])
  const examples: JudgedExample[] = []
  let dropped = 0
  for (const one of last.values()) {
    const accepted = isAccepted(one.value)
    const trajectory = known.get(one.trajectory)
    const read = accepted === null || !trajectory ? null : await features.of(trajectory, nodeOf(one))
    if (accepted === null || read === null) dropped += 1
    else examples.push({ subject: subjects(one.trajectory), features: read, accepted })
  }
  return { examples, dropped }
}

const nodeOf = ({ node }: Signal): NodeId | null => node

function isAccepted(value: Signal['value']): boolean | null {
  if (typeof value === 'boolean') return value
  if (typeof value === 'number') return value > 0
  if (value === 'accepted') return true
  return value === 'rejected' ? false : null
}

/** One name for all trajectories that reporters link. */
function linked(signals: readonly Signal[]): (trajectory: string) => string {
  const parents = new Map<string, string>()
  const rootOf = (name: string): string => {
    let here = name
    for (let up = parents.get(here); up !== undefined; up = parents.get(here)) here = up
    return here
  }
  for (const { reporter, trajectory } of signals) {
    const [a, b] = [rootOf(`r:${reporter}`), rootOf(`t:${trajectory}`)]
    if (a !== b) parents.set(a < b ? b : a, a < b ? a : b)
  }
  return (trajectory) => rootOf(`t:${trajectory}`)
}
