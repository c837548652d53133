import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, expect, it } from 'vitest'
import { datumBody, passBody, PatientClient, stepBody } from './support/trainer-client.ts'
import { ratchet } from './tiny/ratchet.ts'
import { startTrainerProcess, type TrainerProcess } from './support/trainer-process.ts'

const folder = mkdtempSync(join(tmpdir(), 'ratchet-trainer-kill-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const steps = 12

/** Every step is two passes and an update, asked for without waiting. */
async function train(client: PatientClient, done = { results: 0 }): Promise<unknown[]> {
  const model = await client.model({ rank: 4, seed: 11 }, 'minimind2-small')
  const metrics: Promise<unknown>[] = []
  for (let step = 0; step < steps; step++) {
    const tokens = [40, 41, 42, 50 + step, 51, 52]
    const at = 3 * step
    const passes = [passBody(model, at + 1, [datumBody(tokens)]), passBody(model, at + 2, [datumBody(tokens.slice(2))])]
    for (const pass of passes) {
      const { request_id } = await client.send('/forward_backward', pass)
      metrics.push(client.send('/retrieve_future', { request_id }).then((result) => result.loss_fn_outputs))
    }
    const last = await client.result('/optim_step', stepBody(model, at + 3, 0.001))
    done.results++
    metrics.push(Promise.resolve(last.metrics))
  }
  return Promise.all(metrics)
}

it('loses no request that it took, and does none twice, through kills at any time', async () => {
  const undisturbed = await startTrainerProcess(join(folder, 'undisturbed'))
  const expected = await train(new PatientClient(undisturbed.url))
  await undisturbed.kill()

  let server: TrainerProcess = await startTrainerProcess(join(folder, 'killed'))
  const port = Number(new URL(server.url).port)
  const over = { yes: false }
  const done = { results: 0 }
  const training = train(new PatientClient(server.url), done).finally(() => {
    over.yes = true
  })
  let kills = 0
  while (!over.yes && kills < 4) {
    const before = done.results
    await sleep(150 + 170 * kills)
    // A request that sees three ends is refused as one that ends the server: on a slow machine the first would be.
    if (kills > 0) while (!over.yes && done.results === before) await sleep(10)
    await server.kill()
    kills += 1
    server = await startTrainerProcess(join(folder, 'killed'), port)
  }
  const found = await training
  await server.kill()
  expect(kills).toBeGreaterThanOrEqual(2)
  // Steps are counted, and each loss hangs on every update before it. Which passes are done together is a matter of time,
  // so sums differ in their last bits; a pass that was lost or done twice would change a norm by half.
  const [wanted, got] = [numbersIn(expected), numbersIn(found)]
  expect(got).toHaveLength(wanted.length)
  wanted.forEach((value, i) =>
    expect(Math.abs(Number(got[i]) - value)).toBeLessThan(1e-3 * Math.max(1, Math.abs(value))),
  )
})

const numbersIn = (value: unknown): number[] => {
  if (typeof value === 'number') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(numbersIn) : []
}

it('computes on the device that it is told', async () => {
  // No device has products in 8 bits but the processor: it is refused whatever there is.
  const flags = ['--device', 'cuda', '--precision', 'int8', '--port', '0']
  const { code, stderr } = await ratchet(['trainer', '--store', join(folder, 'device'), ...flags])
  expect(stderr).toContain('[model/precision-unavailable]')
  expect(code).toBe(1)
})
