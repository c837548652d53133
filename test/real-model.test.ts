import { spawnSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'

/*
 * A real pretrained model against what Hugging Face transformers computed with the same file, in float32, on 24 prompts. It runs
 * where RATCHET_TEST_SMOLLM2 names the file that `npx ratchet pull smollm2-135m` fetches. Elsewhere it is skipped, and says so.
 */
const model = process.env.RATCHET_TEST_SMOLLM2 ?? ''
if (model === '')
  console.warn(
    'SKIPPED: no real model was compared. Set RATCHET_TEST_SMOLLM2 to the file of `ratchet pull smollm2-135m`.',
  )

const file = (name: string) => new URL(`../${name}`, import.meta.url).pathname
const Furthest = z.object({ sampling: z.number(), training: z.number(), apart: z.number() })
const Compared = z.object({ prompts: z.int(), sameTop: z.int(), furthest: Furthest, looked: Furthest })

describe.skipIf(model === '')('SmolLM2-135M-Instruct in the embedded engine', () => {
  it('computes what transformers does, and samples what it trains', () => {
    const args = [file('scripts/compare-prompts.mjs'), model, file('src/model/embedded/vectors/smollm2-prompts.json')]
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' })
    expect(stderr.includes('Error') ? stderr : '').toBe('')
    expect(status).toBe(0)
    const { prompts, sameTop, furthest, looked } = Compared.parse(JSON.parse(stdout))
    console.log(`furthest: ${JSON.stringify(furthest)}`)
    expect({ prompts, sameTop }).toEqual({ prompts: 24, sameTop: 24 })
    expect(looked.sampling).toBeGreaterThan(2_500)
    expect(looked.training).toBe(296)
    expect(Math.max(furthest.sampling, furthest.training, furthest.apart)).toBeLessThan(2e-4)
  })
})
