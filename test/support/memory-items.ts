import { type Experience, type MemoryItem, newItem, type NewItem } from '../../src/agent/index.ts'
import { TrajectoryId } from '../../src/core/index.ts'

/** An item, as small as it can be and different by what it is given. */
export const item = (cue: string, change: Partial<NewItem> = {}, then: Partial<MemoryItem> = {}): MemoryItem => ({
  ...newItem({
    type: 'case',
    cue,
    text: `did ${cue}`,
    worked: true,
    derivedFrom: [`t-${cue}`],
    owner: { tenant: null, about: null },
    source: `source of ${cue}`,
    trust: 1,
    from: 0,
    expires: null,
    utility: 0,
    ...change,
  }),
  ...then,
})

/** An episode of practice that worked. */
export const experience = (cue: string, change: Partial<Experience> = {}): Experience => ({
  trajectory: TrajectoryId.parse(`t-${cue}`),
  at: 1_000,
  origin: 'rollout',
  owner: { tenant: null, about: null },
  source: `task:${cue}`,
  derivedFrom: [`t-${cue}`],
  cue,
  done: `did ${cue}`,
  deeds: [],
  recalled: [],
  whole: true,
  advantage: 0.5,
  earned: 1,
  range: [0, 1],
  ...change,
})
