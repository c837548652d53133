import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { allTrajectories, type GatewayPlace, postgresPlace, reading, sqlitePlace } from './support/gateway-place.ts'
import { type GatewayProcess, killGateways, startGatewayProcess } from './support/gateway-process.ts'
import { startUpstream, type Upstream } from './support/upstream-server.mjs'

const runs = Number(process.env['RATCHET_TEST_FUZZ_RUNS'] ?? 300)

const ErrorShape = z.object({ error: z.looseObject({ message: z.string().min(1), type: z.string() }) })

/** Values that are wrong nearly everywhere, and text that databases and terminals stumble over. */
const wrong: readonly unknown[] = [
  null,
  true,
  0,
  -1,
  0.5,
  1e308,
  2 ** 60,
  '',
  'text',
  '\u0000',
  'a\u0000b\ufdd0',
  '\ud800 alone',
  '\u202e\u001b[31m',
  'x'.repeat(100_000),
  [],
  {},
  [null],
  [[[]]],
  { role: 'user' },
  { type: 'text', text: 7 },
  { ['__proto__']: { polluted: true }, constructor: 1, toString: 2 },
  JSON.parse('{"__proto__": {"polluted": true}}'),
  Array.from({ length: 500 }, () => 'many'),
]

/** Requests that are well, in which each value is made wrong in turn. */
const requests: Readonly<Record<string, readonly object[]>> = {
  '/v1/chat/completions': [
    {
      model: 'scripted',
      messages: [
        { role: 'system', content: 'Be kind.' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'hi' },
            { type: 'image_url', image_url: { url: 'https://x' } },
          ],
          name: 'a',
        },
        {
          role: 'assistant',
          content: null,
          refusal: null,
          tool_calls: [{ id: 'c1', type: 'function', function: { name: 'f', arguments: '{"a": 1}' } }],
        },
        { role: 'tool', tool_call_id: 'c1', content: 'done' },
        { role: 'assistant', content: 'ok', reasoning_content: 'hm' },
        { role: 'user', content: 'and now?' },
      ],
      tools: [
        {
          type: 'function',
          function: {
            name: 'f',
            description: 'd',
            parameters: { type: 'object', properties: { a: { type: 'number' } } },
          },
        },
      ],
      tool_choice: 'auto',
      parallel_tool_calls: true,
      stream: false,
      n: 1,
      max_tokens: 10,
      max_completion_tokens: 10,
      temperature: 1,
      top_p: 1,
      stop: ['x'],
      seed: 1,
      logprobs: true,
      top_logprobs: 2,
      response_format: { type: 'json_schema', json_schema: { name: 's', schema: { type: 'object' } } },
      user: 'someone',
      return_token_ids: false,
      metadata: { a: 'b' },
    },
    {
      model: 'scripted',
      messages: [{ role: 'user', content: 'hi' }],
      stream: true,
      stream_options: { include_usage: true },
    },
  ],
  '/v1/responses': [
    {
      model: 'scripted',
      input: [
        {
          role: 'user',
          content: [
            { type: 'input_text', text: 'hi' },
            { type: 'input_image', image_url: 'https://x', detail: 'low' },
          ],
        },
        { type: 'reasoning', id: 'rs_1', summary: [] },
        { type: 'function_call', call_id: 'c1', name: 'f', arguments: '{}' },
        { type: 'function_call_output', call_id: 'c1', output: 'done' },
        { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'ok' }] },
      ],
      instructions: 'Be kind.',
      tools: [{ type: 'function', name: 'f', description: 'd', parameters: { type: 'object' }, strict: true }],
      tool_choice: { type: 'function', name: 'f' },
      parallel_tool_calls: true,
      text: { format: { type: 'json_schema', name: 's', schema: { type: 'object' } }, verbosity: 'low' },
      reasoning: { effort: 'low' },
      max_output_tokens: 10,
      temperature: 1,
      top_p: 1,
      include: ['message.output_text.logprobs'],
      stream: false,
      store: false,
      metadata: { a: 'b' },
      user: 'someone',
      previous_response_id: null,
    },
    {
      model: 'scripted',
      input: [
        { role: 'user', content: [{ type: 'input_file', file_data: 'data:,x', filename: 'x' }] },
        { role: 'assistant', content: [{ type: 'refusal', refusal: 'no' }] },
        { role: 'user', content: [{ type: 'input_audio', input_audio: { data: '', format: 'wav' } }] },
      ],
      tool_choice: { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'function', name: 'f' }] },
      stream: true,
    },
  ],
  '/ratchet/signals': [
    {
      session: 's',
      name: 'thumbs',
      value: true,
      source: 'user',
      reporter: 'someone',
      idempotencyKey: 'k',
      at: 1_700_000_000_000,
    },
    { trajectory: 't_1', node: 'n_1', name: 'said', value: { kind: 'edit', text: 'better' } },
    {
      response: `chatcmpl-${'a'.repeat(24)}-${'b'.repeat(24)}`,
      name: 'shown',
      value: { kind: 'demonstration', messages: [{ role: 'assistant', content: 'so' }] },
    },
    [
      { session: 's', name: 'a', value: 1 },
      { session: 's', name: 'b', value: 'words' },
    ] as unknown as object,
  ],
  '/v1/embeddings': [{ model: 'scripted', input: ['a', 'b'], user: 'someone' }],
  '/ratchet/sessions': [{ session: 's', agent: 'a', subject: 'b', train: false, seconds: 60 }],
}

type Path = readonly (string | number)[]

/** Where the values of a request are, itself included. */
function pathsIn(value: unknown, path: Path = []): readonly Path[] {
  if (typeof value !== 'object' || value === null) return [path]
  return [
    path,
    ...Object.entries(value).flatMap(([key, inner]) =>
      pathsIn(inner, [...path, Array.isArray(value) ? Number(key) : key]),
    ),
  ]
}

/** The request with another value at a path; `undefined` takes it away. */
function changed(value: unknown, [first, ...rest]: Path, to: unknown): unknown {
  if (first === undefined) return to
  if (Array.isArray(value)) return value.map((inner: unknown, i) => (i === first ? changed(inner, rest, to) : inner))
  const record = value as Record<string, unknown>
  return { ...record, [first]: changed(record[first], rest, to) }
}

let upstream: Upstream
beforeAll(async () => {
  // The same to everything: what a client sends must not break the test's own upstream.
  upstream = await startUpstream({ canned: { text: 'so it is' } })
})
afterAll(() => upstream.close())

describe.each([
  ['SQLite', () => Promise.resolve(sqlitePlace())],
  ['PostgreSQL', postgresPlace],
])('requests that are wrong, before %s', (_, makePlace) => {
  let place: GatewayPlace
  let gateway: GatewayProcess
  beforeAll(async () => {
    place = await makePlace()
    const config = {
      upstreams: [{ name: 'canned', url: upstream.url, retries: 0, tellsTokens: 'no' }],
      limits: { requestsPerMinute: 1_000_000, signalsPerDay: 1_000_000, signalsPerTrajectory: 1_000_000 },
    }
    gateway = startGatewayProcess({ store: place.store, config, logLevel: 'error' })
    await gateway.listening
  })
  afterAll(async () => {
    killGateways()
    await gateway.ended
    await place.remove()
  })

  /** Sends a body, and holds that the answer is one: of the API, or a refusal in its shape, soon. */
  async function expectAnswer(path: string, body: unknown): Promise<void> {
    const text = JSON.stringify(body)
    const shown = `${path} ${text?.slice(0, 500)}`
    let response: Response
    let answer: string
    try {
      response = await fetch(`${gateway.url}${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: text ?? '',
        signal: AbortSignal.timeout(60_000),
      })
      answer = await response.text()
    } catch (error) {
      throw new Error(`no answer to ${shown}`, { cause: error })
    }
    if (response.ok) {
      // The canned answer fits one choice; of several the others are missing, and that is said in the stream.
      expect(answer, shown).not.toContain('gateway/unexpected')
      return
    }
    expect([400, 401, 403, 404, 413, 415, 422], `${shown} → ${response.status} ${answer}`).toContain(response.status)
    expect(ErrorShape.safeParse(JSON.parse(answer)).success, `${shown} → ${answer}`).toBe(true)
  }

  describe.each(Object.entries(requests))('%s', (path, examples) => {
    it('with each value gone or of another type', async () => {
      const bodies = examples.flatMap((example) =>
        pathsIn(example).flatMap((at) => [undefined, ...wrong].map((value) => changed(example, at, value))),
      )
      for (let i = 0; i < bodies.length; i += 16) {
        await Promise.all(bodies.slice(i, i + 16).map((body) => expectAnswer(path, body)))
      }
    })

    it('with values of chance at places of chance', async () => {
      const change = fc.tuple(
        fc.nat(),
        fc.oneof(fc.jsonValue({ maxDepth: 4 }), fc.constantFrom(...wrong), fc.string({ unit: 'binary' })),
      )
      const body = fc
        .tuple(
          fc.constantFrom(...examples),
          fc.array(change, { minLength: 1, maxLength: 4 }),
          fc.dictionary(fc.string(), fc.jsonValue()),
        )
        .map(([example, changes, more]) => {
          let made: unknown = Array.isArray(example) ? example : { ...more, ...example }
          for (const [at, value] of changes) {
            const paths = pathsIn(made)
            made = changed(made, paths[at % paths.length] ?? [], value)
          }
          return made
        })
      await fc.assert(
        fc.asyncProperty(fc.array(body, { minLength: 8, maxLength: 8 }), async (bodies) => {
          await Promise.all(bodies.map((one) => expectAnswer(path, one)))
        }),
        { numRuns: Math.ceil(runs / 8) },
      )
    })
  })

  it('leave a store that can be read, and a gateway that is well', async () => {
    expect(await reading(place, allTrajectories)).not.toEqual([])
    expect(await place.damage()).toEqual([])
    const listed = await fetch(`${gateway.url}/ratchet/trajectories?limit=1000`)
    expect(listed.status).toBe(200)
    expect((await fetch(`${gateway.url}/readyz`)).status).toBe(200)
    expect(gateway.isAlive()).toBe(true)
    expect(gateway.log).toEqual([])
    expect(gateway.stderr()).toBe('')
  })
})
