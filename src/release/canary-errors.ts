import type { Canary, CanaryId, CanaryStatus } from '../core/index.ts'
import { InputError } from '../errors/index.ts'
import { ReleaseError } from './errors.ts'

/** What serves is pinned: no gate changes it. */
export class PinnedError extends ReleaseError {
  constructor(agent: string, reason: string) {
    super({
      code: 'release/pinned',
      message: `What serves "${agent}" is pinned: ${reason || 'no reason was given'}.`,
      hint: 'Run `ratchet unpin` first. A rollback does not need it.',
    })
  }
}

/** A canary of this agent runs: there is one at a time. */
export class CanaryRunningError extends ReleaseError {
  /** @param tries the Parameters that it has new Versions of. */
  constructor(agent: string, canary: string, tries: readonly string[]) {
    super({
      code: 'release/canary-running',
      message: `The canary ${canary} of "${agent}" runs (it tries ${tries.join(', ')}), and an agent has one at a time, whatever Parameters they are of.`,
      hint: 'Wait for it to end, or end it with `ratchet rollback`.',
    })
  }
}

/** There is no such canary. */
export class UnknownCanaryError extends InputError {
  constructor(canary: string) {
    super({
      code: 'release/unknown-canary',
      message: `There is no canary ${canary}.`,
      hint: 'List them with `ratchet canaries`.',
    })
  }
}

/** No canary of this agent runs. */
export class NoCanaryError extends InputError {
  constructor(agent: string) {
    super({
      code: 'release/no-canary',
      message: `No canary of "${agent}" runs.`,
      hint: 'Those that ran are listed by `ratchet canaries`; a learning run starts the next one.',
    })
  }
}

/** What has ended does not go on. */
export class CanaryEndedError extends ReleaseError {
  readonly canary: CanaryId
  readonly status: CanaryStatus

  constructor({ id: canary, status, reason }: Pick<Canary, 'id' | 'status' | 'reason'>) {
    super({
      code: 'release/canary-ended',
      message: `The canary ${canary} runs no more (${status}): ${reason}`,
      hint: 'Learn on, and start another one with what comes of it.',
    })
    this.canary = canary
    this.status = status
  }
}

/** The candidate is what serves already. */
export class NothingToTryError extends ReleaseError {
  constructor(agent: string, release: string) {
    super({
      code: 'release/nothing-to-try',
      message: `The candidate for "${agent}" has exactly the versions of release ${release}, which serves.`,
      hint: 'There is nothing to compare: try something else, or learn on.',
    })
  }
}

/** Another process changed what serves while a canary was started. */
export class ServingChangedError extends ReleaseError {
  constructor(agent: string) {
    super({
      code: 'release/serving-changed',
      message: `Another release of "${agent}" was activated while its canary started.`,
      hint: 'Nothing was started: look at what serves now, and start again.',
    })
  }
}

/** The receipt is not about this canary, or was decided by other rules than those it began with. */
export class OtherCanaryError extends ReleaseError {
  constructor(receipt: string, canary: string, problem: string) {
    super({
      code: 'release/other-canary',
      message: `The receipt ${receipt} does not speak of canary ${canary} as it runs: ${problem}.`,
      hint: 'Look at the canary again, with the gate and the configuration that it began with.',
    })
  }
}
