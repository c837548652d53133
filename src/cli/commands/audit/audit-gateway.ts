import { z } from 'zod'
import { parseInput } from '../../../core/index.ts'
import { InputError } from '../../../errors/index.ts'
import { askGateway } from '../../gateway/ask-gateway.ts'
import { type GatewayFlags, gatewayOf } from '../../gateway/gateway-url.ts'
import { onlyOne } from '../release/agent.ts'

export interface AuditFlags extends GatewayFlags {
  readonly agent?: string
  /** Which of the people behind the key judges. */
  readonly by?: string
}

/** Where an audit stands. */
export const Standing = z.looseObject({
  canary: z.string(),
  by: z.string(),
  drawn: z.number(),
  settled: z.number(),
  waiting: z.number(),
})

export const Draw = z.looseObject({
  id: z.string(),
  messages: z.array(
    z.looseObject({ role: z.string(), content: z.string(), calls: z.array(z.string()), cut: z.boolean() }),
  ),
})
export type Draw = z.infer<typeof Draw>

const Next = Standing.extend({ draw: Draw.nullable() })
const Labelled = z.looseObject({ outcome: z.string() })
const Agents = z.looseObject({ agents: z.array(z.looseObject({ agent: z.string() })) })

/** The audit of one agent, as its gateway tells of it. */
export class AuditGateway {
  readonly #flags: AuditFlags
  readonly #agent: string

  private constructor(flags: AuditFlags, agent: string) {
    this.#flags = flags
    this.#agent = agent
  }

  /** @throws InputError where the agent has to be named, or no gateway answers. */
  static async of(flags: AuditFlags): Promise<AuditGateway> {
    if (flags.agent !== undefined) return new AuditGateway(flags, flags.agent)
    const answer = parseInput(Agents, await askGateway(gatewayOf(flags), '/ratchet/agents'), "The gateway's answer")
    return new AuditGateway(
      flags,
      onlyOne(
        answer.agents.map(({ agent }) => agent),
        'The gateway',
      ),
    )
  }

  /** @param after a draw that is passed over. */
  async next(after?: string): Promise<z.infer<typeof Next>> {
    const { by } = this.#flags
    const query = new URLSearchParams({ ...(by === undefined ? {} : { reviewer: by }), ...(after ? { after } : {}) })
    return this.ask(`/next?${query.toString()}`, Next)
  }

  async label(draw: string, truth: number | null, note = ''): Promise<string> {
    const { by } = this.#flags
    const body = { draw, truth, note, ...(by === undefined ? {} : { reviewer: by }) }
    return (await this.ask('/labels', Labelled, body)).outcome
  }

  /** Labels what was shown a while ago. @returns whether it counts: not where others have judged it meanwhile. */
  async judge(draw: string, truth: number | null): Promise<boolean> {
    try {
      await this.label(draw, truth)
      return true
    } catch (error) {
      if (InputError.is(error) && /\bgateway\/draw-(settled|full)\b/.test(error.message)) return false
      throw error
    }
  }

  /** Asks a route of the audit. */
  async ask<S extends z.ZodType>(route: string, schema: S, body?: object): Promise<z.infer<S>> {
    const path = `/ratchet/agents/${encodeURIComponent(this.#agent)}/audit${route}`
    return parseInput(schema, await askGateway(gatewayOf(this.#flags), path, body), "The gateway's answer")
  }
}
