import {
  type Action,
  actionMessage,
  type Episode,
  type FinalState,
  type Message,
  type StepOutcome,
} from '../core/index.ts'
import { AgentError, EpisodeStopped } from './errors.ts'
import { Deeds } from './outcome.ts'
import type { Recorder } from './recorder.ts'

/** An Episode as the agent that lives it has it. */
export interface LiveEpisode extends Episode {
  /** Where the environment can: an independent copy at the same state. Its end counts only if it is chosen. */
  fork?(): LiveEpisode
  /**
   * Makes this the episode whose final state is verified and that the outcome was built from. The last choice counts;
   * without one, the episode that the agent was given. Forks that are not chosen are closed, and leave no final state.
   */
  choose(): void
}

/** The episode that an environment opened, with all that the agent forked from it. */
export class LiveEpisodes {
  readonly root: LiveEpisode
  readonly #recorder: Recorder
  readonly #signal: AbortSignal | undefined
  readonly #all: Life[] = []
  #chosen: Life

  constructor(episode: Episode, recorder: Recorder, signal: AbortSignal | undefined) {
    this.#recorder = recorder
    this.#signal = signal
    this.#chosen = this.#begin(episode, new Deeds(recorder), [...episode.opening])
    this.root = this.#chosen.episode
  }

  /** What was done to the chosen one. */
  get deeds(): Deeds {
    return this.#chosen.deeds
  }

  /** What was said and done in the chosen one, as its environment saw it, whoever spoke. */
  get transcript(): readonly Message[] {
    return this.#chosen.transcript
  }

  /** Closes them all. What a discarded one throws there says nothing about the outcome. */
  async close(): Promise<FinalState> {
    const discarded = this.#all.filter((life) => life !== this.#chosen)
    await Promise.allSettled(discarded.map(async ({ episode }) => episode.close()))
    return this.#chosen.episode.close()
  }

  #begin(inner: Episode, deeds: Deeds, transcript: Message[]): Life {
    const fork = inner.fork?.bind(inner)
    let closed: Promise<FinalState> | undefined
    const episode: LiveEpisode = {
      opening: inner.opening,
      tools: inner.tools,
      step: async (action, signal) => {
        transcript.push(actionMessage(action))
        const outcome = await this.#step(inner, deeds, action, signal)
        transcript.push(...outcome.messages)
        return outcome
      },
      // Once, whoever asks: the agent may have, and the end does.
      close: () => (closed ??= Promise.resolve().then(() => inner.close())),
      choose: () => {
        this.#chosen = life
      },
      ...(fork ? { fork: () => this.#begin(fork(), deeds.fork(), [...transcript]).episode } : {}),
    }
    const life: Life = { episode, deeds, transcript }
    this.#all.push(life)
    return life
  }

  /** Errors of the environment are marked, so that each failure is recorded at its own boundary. */
  async #step(inner: Episode, deeds: Deeds, action: Action, own: AbortSignal | undefined): Promise<StepOutcome> {
    const decisions = deeds.act(action)
    const signals = [this.#signal, own].filter((signal) => signal !== undefined)
    const signal = signals.length > 1 ? AbortSignal.any(signals) : signals[0]
    try {
      const outcome = await inner.step(action, signal)
      const maker = decisions.at(-1)
      if (outcome.reward !== undefined && maker) this.#recorder.reward(maker.step, checked(outcome.reward))
      return outcome
    } catch (cause) {
      if (this.#signal?.aborted) throw new EpisodeStopped('cancelled', cause)
      if (own?.aborted) throw new EpisodeStopped(timedOut(own) ? 'time-budget' : 'cancelled', cause)
      throw new EpisodeStopped('environment-error', cause)
    }
  }
}

interface Life {
  readonly episode: LiveEpisode
  readonly deeds: Deeds
  readonly transcript: readonly Message[]
}

const timedOut = ({ reason }: AbortSignal): boolean => reason instanceof Error && reason.name === 'TimeoutError'

function checked(reward: number | null): number | null {
  if (reward === null || Number.isFinite(reward)) return reward
  throw new AgentError({
    code: 'agent/bad-step-reward',
    message: `The environment gave the reward ${reward} for a step.`,
    hint: 'Give a finite number, or null where it is not known.',
  })
}
