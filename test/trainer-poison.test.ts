import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { z } from 'zod'
import { datumBody, passBody, PatientClient, stepBody } from './support/trainer-client.ts'

const program = new URL('trainer-poison.process.mjs', import.meta.url).pathname

let folder: string
let watched: Watched
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'ratchet-trainer-poison-'))
})
afterEach(async () => {
  await watched.stop()
  rmSync(folder, { recursive: true, force: true })
})

interface Watched {
  readonly url: string
  /** How often it ended. */
  ends(): number
  /** Ends it from outside, which counts; resolves once it listens again. */
  restart(): Promise<void>
  stop(): Promise<void>
}

/** The server, which is started again whenever it ends, as a supervisor does. */
async function watch(): Promise<Watched> {
  let [ends, over, port] = [0, false, 0]
  let child: ChildProcess
  let started: Promise<unknown>
  const start = async (): Promise<string> => {
    child = spawn(process.execPath, [program, folder, String(port)], { stdio: ['ignore', 'pipe', 'inherit'] })
    child.once('exit', () => {
      ends += 1
      if (!over) started = start()
    })
    const [line] = await once(child.stdout!, 'data')
    const { url } = z.object({ url: z.string() }).parse(JSON.parse(String(line)))
    port = Number(new URL(url).port)
    return url
  }
  const url = await start()
  return {
    url,
    ends: () => ends,
    async restart() {
      const ended = once(child, 'exit')
      child.kill('SIGKILL')
      await ended
      await started
    },
    async stop() {
      over = true
      const ended = once(child, 'exit')
      child.kill('SIGKILL')
      await ended
    },
  }
}

const lora = { rank: 4, seed: 1 }
const pass = (model: string, seq: number, token: number) => passBody(model, seq, [datumBody([1, token, 3])])
const asked = (session: string, seq: number, token: number) => ({
  sampling_session_id: session,
  seq_id: seq,
  prompt: { chunks: [{ type: 'encoded_text', tokens: [1, token] }] },
  sampling_params: { max_tokens: 4, temperature: 1 },
})
const refusal = { code: 'trainer/ends-server', category: 'user', error: expect.stringMatching(/ended 3 times/) }
const linesDone = () => readFileSync(join(folder, 'done.txt'), 'utf8').trim().split('\n')

it('refuses a pass that ended it three times, and does everything else once, also what was under way meanwhile', async () => {
  watched = await watch()
  const client = new PatientClient(watched.url)
  const [bad, good] = [await client.model(lora, 'words'), await client.model(lora, 'words')]
  const results = await Promise.all([
    client.result('/forward_backward', pass(bad, 1, 5)),
    client.result('/forward_backward', pass(bad, 2, 66)),
    client.result('/forward_backward', pass(bad, 3, 6)),
    client.result('/optim_step', stepBody(bad, 4)),
    ...[11, 12, 13, 14].map((token, i) => client.result('/forward_backward', pass(good, i + 1, token))),
  ])
  expect(results[1]).toMatchObject(refusal)
  for (const [i, result] of results.entries()) if (i !== 1) expect(result.error).toBeUndefined()
  expect(watched.ends()).toBe(3)
  // A model that is made again does over what it had done, so lines may come twice; none is missing.
  expect(linesDone()).toEqual(expect.arrayContaining(['1 5', '1 6', '1 11', '1 12', '1 13', '1 14']))
  // It stays refused, and the server stays up.
  expect(await client.result('/forward_backward', pass(bad, 2, 66))).toMatchObject(refusal)
  await client.result('/forward_backward', pass(bad, 5, 7))
  expect(watched.ends()).toBe(3)
  // What was refused is no part of the model that is made again.
  await watched.restart()
  await client.result('/forward_backward', pass(bad, 6, 8))
  expect(await client.result('/forward_backward', pass(bad, 2, 66))).toMatchObject(refusal)
  expect(watched.ends()).toBe(4)
})

it('refuses a sample that ended it three times, and draws the others', async () => {
  watched = await watch()
  const client = new PatientClient(watched.url)
  const { session_id } = await client.send('/create_session', { tags: [] })
  const opened = { session_id, sampling_session_seq_id: 0, base_model: 'words' }
  const session = z.string().parse((await client.send('/create_sampling_session', opened)).sampling_session_id)
  const results = await Promise.all(
    [21, 22, 66, 23, 24].map((token, i) => client.result('/asample', asked(session, i, token))),
  )
  expect(results[2]).toMatchObject(refusal)
  for (const i of [0, 1, 3, 4]) expect(results[i]).toMatchObject({ sequences: [{ tokens: [1] }] })
  expect(watched.ends()).toBe(3)
})
