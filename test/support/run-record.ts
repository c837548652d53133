import { type Run, RunId } from '../../src/core/index.ts'

/** A run as it begins, or as it is told to be. */
export const runRecord = (about: Partial<Run> = {}): Run => ({
  id: RunId.parse('run-1'),
  agent: 'reader',
  config: {},
  seed: 0,
  status: 'running',
  versionsIn: {},
  versionsOut: null,
  receipt: null,
  release: null,
  failure: null,
  startedAt: 0,
  endedAt: null,
  ...about,
})
