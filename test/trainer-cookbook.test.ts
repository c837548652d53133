import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { installedVersion, testedVersions } from './support/tested-versions.ts'
import { startTrainerProcess, type TrainerProcess } from './support/trainer-process.ts'

/*
 * Recipes of tinker-cookbook, as they are, against `ratchet trainer`: supervised, reinforcement learning, preferences. They run
 * where RATCHET_TEST_COOKBOOK names the Python of an environment with them: docs/trainers.md says how to install it.
 * Elsewhere they are skipped, and say so.
 */
const python = process.env.RATCHET_TEST_COOKBOOK ?? ''
if (python === '')
  console.warn('SKIPPED: no recipe of tinker-cookbook was run. Set RATCHET_TEST_COOKBOOK to the Python that has it.')

const script = (name: string) => new URL(`../scripts/tinker/${name}`, import.meta.url).pathname
const Line = z.record(z.string(), z.unknown())

describe.skipIf(python === '')('recipes of tinker-cookbook', { timeout: 1_800_000 }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'ratchet-cookbook-'))
  const model = join(folder, 'model')
  let server: TrainerProcess
  beforeAll(async () => {
    const { status, stderr } = spawnSync(process.execPath, [script('model-folder.mjs'), model], { encoding: 'utf8' })
    if (status !== 0) throw new Error(stderr)
    server = await startTrainerProcess(join(folder, 'store'))
  })
  afterAll(async () => {
    await server?.kill()
    rmSync(folder, { recursive: true, force: true })
  })

  /** A figure of each update of a recipe. @throws Error with what Python says, when it fails. */
  async function curve(recipe: string, figure: string, steps: number): Promise<readonly number[]> {
    const logs = join(folder, 'logs')
    const args = [
      '-W',
      'ignore',
      script('cookbook.py'),
      server.url,
      'minimind2-small',
      model,
      logs,
      recipe,
      '1',
      `${steps}`,
    ]
    const child = spawn(python, args)
    let [said, failed] = ['', '']
    child.stdout.on('data', (bytes: Buffer) => (said += bytes.toString('utf8')))
    child.stderr.on('data', (bytes: Buffer) => (failed += bytes.toString('utf8')))
    const code = await new Promise((resolve) => child.on('close', resolve))
    if (code !== 0) throw new Error(failed.slice(-4_000))
    const told = said
      .trim()
      .split('\n')
      .map((line) => z.number().parse(Line.parse(JSON.parse(line))[figure]))
    console.log(`${recipe}: ${figure} ${told.map((one) => one.toFixed(3)).join(' ')}`)
    expect(told).toHaveLength(steps)
    return told
  }
  const mean = (some: readonly number[]) => some.reduce((sum, one) => sum + one, 0) / some.length

  it('have the versions that the docs name', () => {
    expect(installedVersion(python, 'tinker')).toBe(testedVersions.tinker)
    expect(installedVersion(python, 'tinker-cookbook')).toBe(testedVersions['tinker-cookbook'])
  })

  it('sl_loop learns to answer: the loss falls to less than a tenth', async () => {
    const losses = await curve('sl', 'train_mean_nll', 20)
    expect(losses.at(-1)).toBeLessThan(Number(losses[0]) / 10)
  })

  it('rl_loop goes on from what sl_loop saved, and raises the reward', async () => {
    const rewards = await curve('rl', 'reward/total', 25)
    expect(mean(rewards.slice(-4))).toBeGreaterThan(mean(rewards.slice(0, 4)) + 0.1)
  })

  it('train_dpo learns which answers are preferred', async () => {
    const losses = await curve('dpo', 'dpo_loss', 6)
    expect(losses[0]).toBeCloseTo(Math.log(2), 4)
    expect(losses.at(-1)).toBeLessThan(0.1)
  })
})
