import type { StopReason } from '../core/index.ts'
import { RatchetError } from '../errors/index.ts'

/** An agent was defined or used in a way that cannot work. */
export class AgentError extends RatchetError {}

/** A Kind, or a value or a Decision of it, is not what its module says. */
export class KindError extends AgentError {}

/**
 * Ends the episode from where a Parameter was used or the environment was asked: a budget was spent, the caller stopped
 * it, or that boundary failed (then `cause` says how). `runEpisode` turns it into the trajectory's stop reason: agents
 * let it pass.
 */
export class EpisodeStopped extends AgentError {
  readonly stopReason: StopReason

  constructor(stopReason: StopReason, cause?: unknown) {
    super({
      code: 'agent/episode-stopped',
      message: `The episode has ended: ${stopReason}.`,
      hint: 'Let this error pass through the agent: it is recorded as the stop reason.',
      cause,
    })
    this.stopReason = stopReason
  }
}
