import type { z } from 'zod'
import {
  agentKey,
  asText,
  asWeights,
  type Assignment,
  type ChatUpstream,
  type ServedBy,
  type SessionOwner,
  type SessionRouter,
  type Tenant,
  type TrajectoryId,
  type WeightsValue,
} from '../../core/index.ts'
import type { DeclaredAgent } from './declare.ts'
import { memoryParameter, type ServedMemory } from './served-memory.ts'
import type { LearnedText, LearnedTexts } from './shown.ts'

/** What answers a session of an agent. */
export interface ServedSession {
  readonly servedBy: ServedBy
  /** The Generation that its decisions carry. */
  readonly generation: number
  readonly texts: LearnedTexts
  /** What it recalls from; `null` for an agent without a memory. */
  readonly memory: ServedMemory | null
  /** The weights that answer a request for this model; `null` for another model than the agent's, whose own they are. */
  weights(model: string): z.infer<typeof WeightsValue> | null
}

/** An agent that has releases. */
export interface ServedAgent {
  /** Its own name. */
  readonly name: string
  /**
   * @param known what served the session when it began; `null` for a new one.
   * @param owner whose session it is.
   * @returns `null` where nothing was released.
   */
  assign(session: TrajectoryId, known: ServedBy | null, owner: SessionOwner): ServedSession | null
  /**
   * What serves everybody else, for a session whose candidate cannot be served. It stays in its arm: left out, a candidate
   * that fails when times are bad would be judged by the good ones alone, and the baseline by all.
   */
  baseline(session: TrajectoryId, served: ServedSession): ServedSession | null
}

/** Finds agents that have releases. */
export type FindAgent = (tenant: Tenant, name: string | null) => ServedAgent | null

/** The agents of a configuration, served as a router says. */
export function servedAgents(
  agents: ReadonlyMap<string, DeclaredAgent>,
  router: SessionRouter | null,
  upstream: Pick<ChatUpstream, 'weights'>,
): FindAgent {
  const served = new Map<string, ServedAgent>()
  if (router) for (const agent of agents.values()) served.set(agent.key, new RoutedAgent(agent, router, upstream))
  return (tenant, name) => (name === null || served.size === 0 ? null : (served.get(agentKey(tenant, name)) ?? null))
}

class RoutedAgent implements ServedAgent {
  readonly name: string
  readonly #agent: DeclaredAgent
  readonly #router: SessionRouter
  readonly #upstream: Pick<ChatUpstream, 'weights'>

  constructor(agent: DeclaredAgent, router: SessionRouter, upstream: Pick<ChatUpstream, 'weights'>) {
    this.name = agent.name
    this.#agent = agent
    this.#router = router
    this.#upstream = upstream
  }

  assign(session: TrajectoryId, known: ServedBy | null, owner: SessionOwner): ServedSession | null {
    const assignment = this.#router.assign(this.#agent.key, session, known, owner)
    return assignment && this.#served(assignment, assignment.servedBy)
  }

  baseline(session: TrajectoryId, { servedBy }: ServedSession): ServedSession | null {
    const assignment = this.#router.assign(this.#agent.key, session, { release: servedBy.release, canary: null })
    return assignment && this.#served(assignment, servedBy)
  }

  #served({ versions, generation, learned }: Assignment, servedBy: ServedBy): ServedSession {
    const { base, initial, retired, memory } = this.#agent
    const texts = new Map<string, LearnedText>()
    for (const [parameter, { id, value }] of learned ? versions : []) {
      if (retired.has(parameter)) continue
      const learned = asText(value)
      if (learned && id !== initial.get(parameter)?.id) texts.set(parameter, { version: id, text: learned.text })
    }
    const weights = asWeights(versions.get('model')?.value) ?? base
    const remembered = versions.get(memoryParameter)
    const serving = (remembered && memory?.serving(remembered, generation)) ?? null
    return { servedBy, generation, texts, memory: serving, weights: (model) => (this.#isOwn(model) ? weights : null) }
  }

  /** Whether a request asks for the agent's model, under whatever name. */
  #isOwn(model: string): boolean {
    if (model === this.#agent.model) return true
    const { base, baseHash } = this.#upstream.weights(model)
    return base === this.#agent.base.base && baseHash === this.#agent.base.baseHash
  }
}
