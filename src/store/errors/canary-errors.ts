import { StoreError } from './store-error.ts'

/** An agent has one canary at a time. */
export class RunningCanaryError extends StoreError {
  constructor(agent: string, running: string) {
    super({
      code: 'store/canary-running',
      message: `Canary ${running} of agent ${agent} runs already.`,
      hint: 'An agent has one canary at a time: wait until it has ended, or end it.',
    })
  }
}

/** A canary that ended was to be changed: its sessions have gone back to what serves everybody. */
export class EndedCanaryError extends StoreError {
  constructor(canary: string, status: string) {
    super({
      code: 'store/canary-ended',
      message: `Canary ${canary} has ended already: it is ${status}.`,
      hint: 'An ended canary cannot continue: check what serves now, and start another one.',
    })
  }
}
