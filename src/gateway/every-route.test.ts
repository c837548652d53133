import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { z } from 'zod'
import { listeningGateway, type ListeningGateway } from '../../test/support/listening-gateway.ts'
import { worstBodies } from '../../test/support/worst-bodies.mjs'
import { maxJsonKeys, maxJsonValues, measureJson, type Store, systemClock } from '../core/index.ts'
// The store is passed in through its port; the tests use the real one.
import { openMemoryStore } from '../store/index.ts'
import { doorkeeper, newKey } from './auth/index.ts'
import { ServeConfig } from './config.ts'
import type * as Errors from './errors.ts'
import { redactionOf } from './episode/redaction/index.ts'
import { bodyBounds } from './http/body-bounds.ts'
import { BodySpace } from './http/body-room.ts'
import { gatewayTelemetry } from './observe/index.ts'
import { ratchetRoutes } from './ratchet-routes.ts'

const told = vi.hoisted(() => ({ issues: 0 }))
vi.mock('./errors.ts', async (original) => {
  const real = await original<typeof Errors>()
  const refuseInvalid: typeof real.refuseInvalid = (result) => {
    if (!result.success) told.issues += allOf(result.error.issues)
    real.refuseInvalid(result)
  }
  return { ...real, refuseInvalid }
})

/** Issues, those of alternatives included. */
function allOf(issues: readonly z.core.$ZodIssue[]): number {
  let count = 0
  for (const issue of issues) {
    count += 1
    if (issue.code === 'invalid_union') for (const some of issue.errors) count += allOf(some)
    if (issue.code === 'invalid_key' || issue.code === 'invalid_element') count += allOf(issue.issues)
  }
  return count
}

/** Enough for more values than a body may hold. */
const bytes = 210_000
/** Issues that one request may cost: those of the alternatives of one place. */
const mostIssues = 64

let store: Store
let gateway: ListeningGateway
let token: string
beforeAll(async () => {
  store = await openMemoryStore()
  const limits = { requestsPerMinute: 1_000_000 }
  const config = ServeConfig.parse({ limits })
  const made = newKey({ name: 'admin', tenant: 'default', scopes: ['admin'], now: Date.now() })
  await store.keys.put(made.key)
  token = made.token
  const door = doorkeeper({ keys: store.keys, config, clock: systemClock })
  const more = { redaction: redactionOf([]), bodies: new BodySpace(2 ** 30), telemetry: gatewayTelemetry() }
  gateway = await listeningGateway({ config: { limits }, routes: [ratchetRoutes({ store, config, door, ...more })] })
})
afterAll(async () => {
  await gateway.close()
  await store.close()
})

const routes = async () =>
  worstBodies(gateway.gateway.openapi(), { bytes, values: maxJsonValues, keys: maxJsonKeys }).filter(
    ({ route }) => !route.startsWith('/s/'),
  )

describe('the worst bodies of every route of the OpenAPI document', () => {
  it('are told one issue, are not parsed beyond the bounds, and never fail', async () => {
    const parse = vi.spyOn(JSON, 'parse')
    const wrong: string[] = []
    let sent = 0
    for (const { path, bodies } of await routes()) {
      // A long text is one value: bench/gateway-stall.mjs has those.
      for (const { what, body } of bodies.filter((one) => !one.what.includes(': a text'))) {
        const text = body()
        told.issues = 0
        parse.mockClear()
        const response = await gateway.gateway.fetch(
          new Request(`http://localhost${path}`, {
            method: 'POST',
            headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
            body: text,
          }),
        )
        await response.text()
        sent += 1
        const { excess } = measureJson(text, bodyBounds)
        const parsed = parse.mock.calls.some(([given]) => given === text)
        if (told.issues > mostIssues) wrong.push(`${path} ${what}: ${told.issues} issues`)
        if (response.status >= 500) wrong.push(`${path} ${what}: ${response.status}`)
        if (excess !== null && (parsed || ![400, 413].includes(response.status))) {
          wrong.push(`${path} ${what}: ${response.status} beyond its bounds${parsed ? ', parsed' : ''}`)
        }
      }
    }
    parse.mockRestore()
    expect(wrong).toEqual([])
    expect(sent).toBeGreaterThan(400)
  }, 240_000)
})

it('every list of a request says how long it may be', () => {
  const unbounded: string[] = []
  const look = (schema: unknown, at: string) => {
    if (typeof schema !== 'object' || schema === null) return
    if ('type' in schema && schema.type === 'array' && !('maxItems' in schema)) unbounded.push(at)
    for (const [key, value] of Object.entries(schema)) look(value, `${at}/${key}`)
  }
  const { paths } = gateway.gateway.openapi() as {
    readonly paths: Record<string, { readonly post?: { requestBody?: object } }>
  }
  for (const [path, { post }] of Object.entries(paths)) look(post?.requestBody, path)
  // A demonstration is a stored message: what it holds is bounded by the value's characters.
  expect(unbounded.filter((at) => !at.startsWith('/ratchet/signals'))).toEqual([])
})
