import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { CallId, type Trajectory, TrajectoryId } from '../src/core/index.ts'
import { readResponseId, ServeConfig, startGateway } from '../src/gateway/index.ts'
import { openAiUpstream } from '../src/model/openai/index.ts'
import { openStore } from '../src/store/index.ts'
import { audit, missing } from './support/gateway-audit.ts'
import { type Acknowledged, type Clients, startClients, twoAnswers } from './support/gateway-clients.ts'
import { type GatewayPlace, postgresPlace, reading, sqlitePlace } from './support/gateway-place.ts'
import { type GatewayProcess, killGateways, startGatewayProcess } from './support/gateway-process.ts'
import { kills } from './support/kills.ts'
import { type AskedBody, startUpstream, type Upstream } from './support/upstream-server.mjs'

let upstream: Upstream
beforeAll(async () => {
  const say = ({ n, messages }: AskedBody) => {
    const said = messages.at(-1)?.content
    return n === 2 && typeof said === 'string' ? twoAnswers(said) : undefined
  }
  // What it does not say it leaves to the scripted model.
  upstream = await startUpstream({
    record: false,
    tellsTokens: true,
    chunkDelayMs: 12,
    say: say as (body: AskedBody) => string[],
  })
})
afterAll(() => upstream.close())

const places: GatewayPlace[] = []
const made = <P extends GatewayPlace>(place: P): P => {
  places.push(place)
  return place
}
afterEach(async () => {
  killGateways()
  for (const place of places.splice(0)) await place.remove()
})

const config = () => ({
  journalMs: 40,
  upstreams: [{ name: 'scripted', url: upstream.url, tellsTokens: 'yes' }],
  limits: { requestsPerMinute: 1_000_000, signalsPerDay: 1_000_000 },
})

/** Starts gateways on a store, one after the other, each of which is killed. */
async function killAgainAndAgain(
  { store }: GatewayPlace,
  times: number,
  clients: Clients,
  current: (gateway: GatewayProcess | null) => void,
  afterEach: () => Promise<void>,
): Promise<void> {
  for (let kill = 0; kill < times; kill++) {
    const gateway = startGatewayProcess({ store, config: config() })
    if (kill % 8 === 7) {
      // While it starts, and takes up what the one before left.
      await Promise.race([gateway.listening, delay(200 + Math.random() * 400)])
    } else {
      await gateway.listening
      current(gateway)
      await pieces(clients, kill % 8 === 3 ? 1_500 : Math.random() * 400)
    }
    expect(gateway.isAlive(), gateway.stderr()).toBe(true)
    await gateway.kill()
    current(null)
    await afterEach()
  }
}

/** Lets the clients read so many pieces of answers: moments of the work, however fast the machine is. */
async function pieces(clients: Clients, count: number): Promise<void> {
  const until = clients.pieces() + count
  const latest = performance.now() + 10_000
  while (clients.pieces() < until && performance.now() < latest) await delay(1)
}

/** Holds what was acknowledged since the last time against the store as it was left. */
function auditor(place: GatewayPlace, clients: Clients): () => Promise<void> {
  let audited = 0
  return async () => {
    const fresh = clients.acknowledged.slice(audited)
    audited = clients.acknowledged.length
    expect(await place.damage()).toEqual([])
    expect(await lost(place, fresh)).toEqual([])
  }
}

function lost(place: GatewayPlace, acknowledged: readonly Acknowledged[]): Promise<readonly string[]> {
  return reading(place, async (store) => {
    const trajectories = new Map<string, Trajectory>()
    for (const { responseId } of acknowledged) {
      const id = readResponseId(responseId)?.trajectory ?? ''
      const recorded = await store.trajectories.get(TrajectoryId.parse(id))
      if (recorded) trajectories.set(id, recorded.trajectory)
    }
    return acknowledged.flatMap((said) => missing(said, trajectories))
  })
}

describe('kill -9 under load', () => {
  it(`loses nothing that was acknowledged, at ${kills} moments on SQLite`, async () => {
    const found = await Promise.all(
      [Math.ceil(kills / 2), Math.floor(kills / 2)].map(async (times) => {
        const place = made(sqlitePlace())
        let now: GatewayProcess | null = null
        const clients = startClients({ count: 6, url: () => now?.url ?? null })
        await killAgainAndAgain(place, times, clients, (gateway) => (now = gateway), auditor(place, clients))
        now = startGatewayProcess({ store: place.store, config: config() })
        await clients.stop()
        expect(await place.pending()).toBe(0)
        const result = { ...(await audit(place, clients)), clients }
        await now.kill()
        expect(await place.damage()).toEqual([])
        return result
      }),
    )
    for (const { problems } of found) expect(problems).toEqual([])
    report('SQLite', found)
  })

  it(`loses nothing that was acknowledged, at ${kills} moments of gateways that share a PostgreSQL`, async () => {
    const place = made(await postgresPlace())
    const gateways: (GatewayProcess | null)[] = [null, null, null]
    const url = () => {
      const urls = gateways.flatMap((gateway) => gateway?.url ?? [])
      return urls[Math.floor(Math.random() * urls.length)] ?? null
    }
    // What a killed gateway had begun is its own for some seconds yet.
    const patientWith = ['gateway/shutting-down', 'gateway/in-flight']
    const clients = startClients({ count: 12, url, patientWith })
    const held = auditor(place, clients)
    await Promise.all(
      gateways.map((_, i) => {
        const times = Math.floor((kills + i) / gateways.length)
        return killAgainAndAgain(place, times, clients, (gateway) => (gateways[i] = gateway), held)
      }),
    )
    gateways[0] = startGatewayProcess({ store: place.store, config: config() })
    await clients.stop()
    await gateways[0].kill()
    await takeUpHalfAnswers(place)
    const found = { ...(await audit(place, clients)), clients }
    expect(found.problems).toEqual([])
    report('PostgreSQL', [found])
  })
})

describe.each([
  ['SQLite', () => Promise.resolve(sqlitePlace())],
  ['PostgreSQL', postgresPlace],
])('SIGTERM under load, on %s', (_, makePlace) => {
  it('lets calls under way end, loses nothing, and exits with 0', async () => {
    const place = made(await makePlace())
    let now: GatewayProcess | null = null
    const clients = startClients({ count: 12, url: () => now?.url ?? null })
    for (let round = 0; round < 2; round++) {
      const gateway = (now = startGatewayProcess({ store: place.store, config: config() }))
      await gateway.listening
      await pieces(clients, 300 + Math.random() * 500)
      const asked = performance.now()
      gateway.send('SIGTERM')
      expect(await gateway.ended).toEqual({ code: 0, signal: null })
      // Half a minute is what calls have, and these take seconds.
      expect(performance.now() - asked).toBeLessThan(30_000)
      expect(gateway.stderr()).toBe('')
      expect(await place.pending()).toBe(0)
    }
    now = startGatewayProcess({ store: place.store, config: config() })
    await clients.stop()
    const { problems } = await audit(place, clients)
    expect(problems).toEqual([])
    expect(clients.acknowledged.length).toBeGreaterThan(20)
    // A stream that began came to its end, and nobody missed an answer that was recorded.
    expect(clients.cuts).toEqual([])
    const given = new Set(clients.acknowledged.map(({ responseId }) => readResponseId(responseId)?.call))
    const reasons = await place.stopReasons()
    expect([...reasons].filter(([call, reason]) => reason !== 'done' || !given.has(CallId.parse(call)))).toEqual([])
  })
})

it('a gateway that stood still, and was given up for dead, goes on as if nothing had been', async () => {
  const place = made(await postgresPlace())
  const gateway = startGatewayProcess({ store: place.store, config: config() })
  const clients = startClients({ count: 8, url: () => gateway.url })
  await gateway.listening
  await pieces(clients, 400)
  gateway.send('SIGSTOP')
  const halves = await place.pending()
  await takeUpHalfAnswers(place)
  gateway.send('SIGCONT')
  await pieces(clients, 200)
  await clients.stop()
  const { problems } = await audit(place, clients)
  expect(problems).toEqual([])
  expect(clients.cuts).toEqual([])
  expect(halves).toBeGreaterThan(0)
})

/** Another gateway does so half a minute after their last sign of life: this one's clock is there already. */
async function takeUpHalfAnswers(place: GatewayPlace): Promise<void> {
  const store = await openStore(place.location)
  const upstreamOfNobody = openAiUpstream({ name: 'scripted', url: upstream.url })
  const gateway = await startGateway({
    config: ServeConfig.parse({ ...config(), port: 0 }),
    store,
    upstream: upstreamOfNobody,
    exclusive: false,
    logger: { warn: () => {}, error: () => {}, info: () => {} } as never,
    clock: { now: () => Date.now() + 60_000 },
  })
  try {
    await expect.poll(place.pending, { timeout: 120_000 }).toBe(0)
  } finally {
    await gateway.close()
    await upstreamOfNobody.close()
    await store.close()
  }
}

function report(database: string, found: readonly { halves: number; trajectories: number; clients: Clients }[]): void {
  for (const { halves, trajectories, clients } of found) {
    const { acknowledged, cuts, signals } = clients
    console.log(
      `${database}: ${trajectories} trajectories, ${acknowledged.length} answers, ${signals.length} signals, ${cuts.length} cut streams, ${halves} kept`,
    )
    expect(acknowledged.length).toBeGreaterThan(kills)
    expect(signals.length).toBeGreaterThan(kills / 4)
    expect(halves).toBeGreaterThan(kills / 10)
  }
}
