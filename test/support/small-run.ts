import type { Message } from '../../src/core/index.ts'
import type { Schedule } from '../../src/learn/index.ts'

/** What a reader of words does, as a demonstration. */
export const shown: readonly Message[] = [
  { role: 'user', content: 'What is the word of x?' },
  { role: 'assistant', content: '', toolCalls: [{ name: 'look', arguments: {} }] },
]

/** So short that a run can die at each of its writes. */
export const smallSchedule = {
  primePasses: 1,
  tasks: 2,
  attempts: 2,
  updates: 2,
  validateEvery: 1,
  validationTasks: 3,
  holdoutTasks: 16,
  allocation: 'uniform',
  rounds: 1,
  imitation: 0,
  explorationTasks: 0,
  averaging: 0,
  patience: null,
  target: null,
} as const satisfies Partial<Schedule>
