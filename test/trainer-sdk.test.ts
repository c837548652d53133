import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { installedVersion, testedVersions } from './support/tested-versions.ts'
import { startTrainerProcess, type TrainerProcess } from './support/trainer-process.ts'

/*
 * The official Tinker SDK, as it is, against `ratchet trainer`. It runs where RATCHET_TEST_TINKER names the Python of an
 * environment with it:
 *   python3.12 -m venv venv && venv/bin/pip install 'tinker==0.38.0'
 * Elsewhere it is skipped, and says so.
 */
const python = process.env.RATCHET_TEST_TINKER ?? ''
if (python === '')
  console.warn('SKIPPED: the Tinker SDK was not tested. Set RATCHET_TEST_TINKER to the Python that has it.')

const script = new URL('../scripts/tinker/sdk-session.py', import.meta.url).pathname
const Line = z.looseObject({ name: z.string() })
type Line = z.infer<typeof Line>

/**
 * What the script tells, line by line, up to its "end". How Python ends after that is not ours: the SDK leaves threads behind.
 * @throws Error with what Python said and how it ended, where "end" was not reached.
 */
async function session(url: string, ...parts: string[]): Promise<readonly Line[]> {
  return listened(url, parts, () => {})
}

async function listened(
  url: string,
  parts: readonly string[],
  onLines: (count: number) => void,
): Promise<readonly Line[]> {
  const child = spawn(python, ['-X', 'faulthandler', '-W', 'ignore', script, url, 'minimind2-small', ...parts])
  let [said, failed] = ['', '']
  child.stdout.on('data', (bytes: Buffer) => {
    said += bytes.toString('utf8')
    onLines(said.split('\n').length - 1)
  })
  child.stderr.on('data', (bytes: Buffer) => (failed += bytes.toString('utf8')))
  const ended = await new Promise<string>((resolve) =>
    child.on('close', (code, signal) => resolve(`exit code ${code}, signal ${signal}`)),
  )
  const lines = said.split('\n').filter((line) => line !== '')
  if (lines.at(-1) !== '{"name": "end"}')
    throw new Error(`Python ended with ${ended} after ${lines.length} lines: ${lines.at(-1)}\n${failed.slice(-4_000)}`)
  return lines.map((line) => Line.parse(JSON.parse(line)))
}

const numbers = z.array(z.number())

describe.skipIf(python === '')('the official Tinker SDK', () => {
  const folder = mkdtempSync(join(tmpdir(), 'ratchet-trainer-sdk-'))
  let server: TrainerProcess
  let whole: readonly Line[]
  beforeAll(async () => {
    server = await startTrainerProcess(folder)
    whole = await session(server.url, 'whole')
  })
  afterAll(async () => {
    await server?.kill()
    rmSync(folder, { recursive: true, force: true })
  })

  it('has the version that the docs name', () => {
    expect(installedVersion(python, 'tinker')).toBe(testedVersions.tinker)
  })

  it('trains, samples, saves, loads, lists and deletes', async () => {
    const told = (name: string) => z.looseObject({}).parse(whole.find((line) => line.name === name))
    expect(told('capabilities').models).toEqual(['minimind2-small'])
    expect(told('info')).toMatchObject({ model: 'minimind2-small', rank: 8 })
    const losses = numbers.parse(told('sft').losses)
    console.log(`supervised: ${losses.map((loss) => loss.toFixed(2)).join(' ')}`)
    expect(losses.at(-1)).toBeLessThan(Number(losses[0]) / 10)
    expect(told('metric').agrees).toBe(true)
    expect(told('pending').path).toBe(`tinker://${z.string().parse(told('pending').model)}/weights/pending`)
    expect(told('greedy').tokens).toEqual(told('greedy').expected)
    expect(told('stopped')).toMatchObject({ tokens: [50, 51, 52], reason: 'stop' })
    expect(told('seeded')).toMatchObject({ same: Array.from({ length: 8 }, () => true), count: 8 })
    expect(told('prompt-logprobs').first).toBeNull()
    expect(told('prompt-logprobs').worst).toBeLessThan(1e-3)
    expect(told('resumed').found).toEqual(told('resumed').expected)
    expect(told('exported').tokens).toEqual(told('exported').expected)
    expect(told('listed').types).toEqual(['training', 'training', 'sampler'])
    expect(told('deleted').left).toEqual([told('pending').path, told('resumed').path])
  })

  it('is told what is wrong with a request, by field and remedy, and no model changes', async () => {
    const errors = new Map(whole.filter(({ name }) => name === 'refused').map(({ what, error }) => [what, error]))
    expect(errors.get('loss')).toMatch(/no loss "dro".*cross_entropy, importance_sampling, ppo, cispo/)
    expect(errors.get('token')).toMatch(/99999.*vocabulary.*data\.0/)
    expect(errors.get('shape')).toMatch(/weights has 1 entries for 2 tokens.*data\.0/)
    expect(errors.get('nan')).toMatch(/advantages\[1\] is NaN.*data\.0/)
    expect(errors.get('path')).toMatch(/no checkpoint.*somebody.*for this key/)
    const unchanged = z.looseObject({}).parse(whole.find(({ name }) => name === 'unchanged'))
    expect(unchanged.found).toBe(unchanged.expected)
  })

  it.each(['importance_sampling', 'ppo', 'cispo'])('raises a reward by %s, on policy', async (loss) => {
    const lines = await session(server.url, loss)
    const agreements = lines
      .filter(({ name }) => name === 'agreement')
      .map(({ worst }) => z.number().nullable().parse(worst))
    const worst = Math.max(...agreements.flatMap((one) => one ?? []))
    const rewards = numbers.parse(lines.find(({ name }) => name === 'policy')?.rewards)
    console.log(`${loss}: rewards ${rewards.map((reward) => reward.toFixed(2)).join(' ')}; largest difference ${worst}`)
    expect(worst).toBeLessThan(1e-3)
    expect(rewards.at(-1)).toBeGreaterThan(Number(rewards[0]) + 0.1)
  })

  it('goes on through kills of the server as if nothing had happened', async () => {
    const losses = (lines: readonly Line[]) =>
      lines.filter(({ name }) => name === 'step').map(({ loss }) => Number(loss))
    const expected = losses(await session(server.url, 'steady', '25'))
    const port = Number(new URL(server.url).port)
    const kills: Promise<void>[] = []
    const found = losses(
      await listened(server.url, ['steady', '25'], (count) => {
        if (count < [5, 14, 26][kills.length]!) return
        kills.push(
          server.kill().then(async () => {
            server = await startTrainerProcess(folder, port)
          }),
        )
      }),
    )
    await Promise.all(kills)
    expect(kills.length).toBeGreaterThanOrEqual(2)
    expect(found).toHaveLength(25)
    found.forEach((loss, i) => expect(loss).toBeCloseTo(Number(expected[i]), 3))
  })
})
