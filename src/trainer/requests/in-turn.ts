import type { TrainerHost } from '../host.ts'

const last = new WeakMap<TrainerHost, Map<string, Promise<unknown>>>()

/** Does work after all before it of the same name: what looks into the state sees what was written down meanwhile. */
export async function inTurn<T>(host: TrainerHost, name: string, work: () => Promise<T>): Promise<T> {
  const ours = last.get(host) ?? new Map<string, Promise<unknown>>()
  last.set(host, ours)
  const before = ours.get(name) ?? Promise.resolve()
  const result = before.then(work, work)
  ours.set(name, result)
  try {
    return await result
  } finally {
    if (ours.get(name) === result) ours.delete(name)
  }
}
