import type { Repositories, Signal, Trajectory } from '../core/index.ts'
import { askedAgainSignal, asksTheSame, implicitReporter, type Trust } from '../reward/index.ts'

/** Of a person's next sessions, so many are looked at. */
const most = 8
const worth = -0.5
/** A list shows no more of what was asked: whether it is the same, only the whole text tells. */
const listed = 200

/**
 * What a person did next speaks of a session: that they came back, with the same agent, and asked the same again. Derived when
 * it is needed and never stored. Of the later session only what they asked is read, which its own answers cannot change.
 * A session that must not be learned from is not read.
 * @param trust who counts as a person: of anybody else nothing is read.
 * @param until milliseconds since the epoch: what began later is not seen.
 * @returns `null` where they did not.
 */
export async function sameAskedNext(
  { trajectories }: Pick<Repositories, 'trajectories'>,
  trust: Trust,
  { id, origin, task, startedAt }: Trajectory,
  until: number,
): Promise<Signal | null> {
  const person = origin.kind === 'traffic' ? trust.personOf(origin) : null
  if (origin.kind !== 'traffic' || person === null || origin.subject === null || origin.agent === null) return null
  const { tenant, agent, subject } = origin
  const began = { after: { startedAt, id }, until }
  const next = await trajectories.summaries({ tenant, agent, subject, origin: 'traffic', began, limit: most })
  for (const { id: later, instruction, startedAt: at } of next) {
    if (instruction.length < listed && !asksTheSame(task.instruction, instruction)) continue
    const found = (await trajectories.get(later, until))?.trajectory
    if (found?.origin.kind !== 'traffic' || !found.origin.train) continue
    // Another key may know somebody else by this name.
    if (trust.personOf(found.origin) !== person || !asksTheSame(task.instruction, found.task.instruction)) continue
    const key = `${implicitReporter}/${id}/${askedAgainSignal}`.slice(0, 256)
    const said = { source: 'user', reporter: implicitReporter, name: askedAgainSignal, value: worth, at } as const
    return { tenant, key, trajectory: id, node: null, ...said }
  }
  return null
}
