import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

const run = promisify(execFile)
const example = 'examples/own-kind.mjs'

it('a Kind of one’s own learns in the example, over rollouts and over traffic', async () => {
  const { stdout } = await run(process.execPath, [example])
  const lines = stdout.trim().split('\n')
  expect(lines).toEqual([
    expect.stringMatching(/^rollouts: 0\.\d\d → (?:0\.9\d|1\.00) \(promote\)$/),
    expect.stringMatching(/^rollouts: serves sales 0\.0\d, refunds (?:0\.9\d|1\.00)$/),
    'traffic: learned from 60 decisions (released)',
    expect.stringMatching(/^traffic: serves sales 0\.0\d, refunds (?:0\.9\d|1\.00)$/),
  ])
})

it('whose Kind and Optimizer are less than 50 lines together', async () => {
  const text = await readFile(example, 'utf8')
  const kindAndOptimizer = /const chancesOf[\s\S]*?(?=\n\/\*\* An agent)/.exec(text)?.[0] ?? ''
  expect(kindAndOptimizer).toContain("name: 'reinforce'")
  expect(kindAndOptimizer.trim().split('\n').length).toBeLessThan(50)
})
