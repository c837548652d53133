import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { type Store, Trajectory } from '../src/core/index.ts'
import { type RunningGateway, ServeConfig, startGateway } from '../src/gateway/index.ts'
import { newKey } from '../src/gateway/auth/index.ts'
import { gatewayLogger } from '../src/gateway/observe/index.ts'
import { bounded, openAiUpstream } from '../src/model/openai/index.ts'
import { openStore } from '../src/store/index.ts'
import { type LeakingUpstream, leakingUpstream, type Leaks } from './support/leaking-upstream.ts'

/** Every secret that was planted, by the place where: an address, of which the first part is looked for. */
let planted: Map<string, string>
const local = (place: string) => {
  const known = planted.get(place) ?? `pl${planted.size}x${Math.random().toString(36).slice(2, 10)}`
  planted.set(place, known)
  return known
}
const mail = (place: string) => `${local(place)}@leak.example`
/** Where no address can be: what a rule of the operator's own finds. */
const badge = (place: string) => `BADGE_${local(place)}_0`
const base64 = (text: string) => Buffer.from(text).toString('base64')
const percent = (text: string) => [...Buffer.from(text)].map((byte) => `%${byte.toString(16)}`).join('')
const escaped = (text: string) => text.replaceAll(/[@.]/g, (one) => `\\u00${one.charCodeAt(0).toString(16)}`)
const entities = (text: string) => text.replaceAll('@', '&#64;').replaceAll('.', '&period;')
const zeroWidth = (text: string) => text.split('').join('\u200b')
const fullWidth = (text: string) => text.replaceAll(/[!-~]/g, (one) => String.fromCharCode(one.charCodeAt(0) + 0xfee0))

let folder: string
let store: Store
let upstream: LeakingUpstream
let gateway: RunningGateway
let log: string[]
let admin: string

const leaks = (): Leaks => ({
  id: mail('upstream: id'),
  model: mail('upstream: model'),
  content: `I write to ${mail('upstream: content')}.`,
  reasoning: mail('upstream: reasoning'),
  refusal: mail('upstream: refusal'),
  callId: mail('upstream: id of a call'),
  callName: badge('upstream: name of a called tool'),
  callArguments: JSON.stringify({ to: mail('upstream: arguments') }),
  fingerprint: mail('upstream: fingerprint'),
  errorCode: mail('upstream: code of an error'),
  errorMessage: mail('upstream: message of an error'),
})

async function start(config: object = {}): Promise<void> {
  const parsed = ServeConfig.parse({
    port: 0,
    journalMs: 20,
    redact: ['email', { name: 'badge', pattern: 'BADGE_[a-z0-9]+_0' }],
    upstreams: [{ name: 'leaking', url: upstream.url }],
    ...config,
  })
  const model = bounded(openAiUpstream({ name: 'leaking', url: upstream.url }), { concurrency: 9, queue: 9 })
  const logger = gatewayLogger({ level: 'trace', destination: { write: (line) => void log.push(line) } })
  gateway = await startGateway({ config: parsed, store, upstream: model, exclusive: true, logger })
}

beforeEach(async () => {
  planted = new Map()
  log = []
  folder = mkdtempSync(join(tmpdir(), 'ratchet-secrets-'))
  store = await openStore({ path: join(folder, 'ratchet.db') })
  upstream = await leakingUpstream(leaks())
  const made = newKey({ name: 'admin', tenant: 'default', scopes: ['admin'], now: Date.now() })
  await store.keys.put(made.key)
  admin = made.token
})
afterEach(async () => {
  await gateway.close()
  await upstream.close()
  await store.close()
  rmSync(folder, { recursive: true, force: true })
})

const send = (path: string, body: unknown, { token = admin, method = 'POST', headers = {} } = {}) =>
  fetch(`${gateway.url}${path}`, {
    method,
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}`, ...headers },
    ...(body !== null && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
const said = async (response: Promise<Response>, status: number) => {
  const got = await response
  const text = await got.text()
  expect([got.status, text.slice(0, 500)]).toEqual([status, expect.any(String)])
  return text
}

/** Every byte that is on the disk. */
const onDisk = () =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((file) => file.isFile())
    .map((file) => readFileSync(join(file.parentPath, file.name)).toString('latin1'))
    .join('\n')
const holds = (all: string, one: string) =>
  [one, base64(one).slice(0, 12), percent(one), percent(percent(one)), zeroWidth(one), fullWidth(one)].some((form) =>
    all.includes(Buffer.from(form).toString('latin1')),
  )
/** Places whose secrets are in what was written: on the disk, or in the log too. */
const leaked = (all: string) => {
  return [...planted].flatMap(([place, one]) => (holds(all, one) ? [place] : []))
}

const tool = (name: string, description: string) => ({
  type: 'function',
  function: {
    name,
    description,
    parameters: { type: 'object', properties: { [mail('tool: property')]: { description: mail('tool: parameter') } } },
  },
})

const conversation = (at: string) => [
  { role: 'system', content: mail(`${at}: system`) },
  {
    role: 'user',
    name: badge(`${at}: name of a user`),
    content: [
      { type: 'text', text: `split: ${mail(`${at}: split`).slice(0, 20)}` },
      { type: 'image_url', image_url: { url: `data:image/png;base64,${base64(mail(`${at}: data URL`))}` } },
      { type: 'text', text: mail(`${at}: split`).slice(20) },
      { type: 'image_url', image_url: { url: `https://x.example/?to=${percent(mail(`${at}: escaped URL`))}` } },
      { type: 'file', file: { filename: mail(`${at}: file's name`), file_data: base64(mail(`${at}: file`)) } },
      { type: 'input_audio', input_audio: { data: base64(mail(`${at}: sound`)), format: 'wav' } },
    ],
  },
  {
    role: 'assistant',
    content: null,
    refusal: mail(`${at}: refusal`),
    reasoning_content: mail(`${at}: reasoning`),
    tool_calls: [
      {
        id: mail(`${at}: id of a call`),
        type: 'function',
        function: {
          name: badge(`${at}: name of a called tool`),
          arguments: JSON.stringify({ [mail(`${at}: key of an argument`)]: [mail(`${at}: argument`)] }),
        },
      },
      { id: 'c2', type: 'function', function: { name: 'find', arguments: `{"to": "${mail(`${at}: broken call`)}"` } },
    ],
  },
  { role: 'tool', tool_call_id: mail(`${at}: id of a call`), content: escaped(mail(`${at}: JSON's escapes`)) },
  { role: 'tool', tool_call_id: 'c2', content: entities(mail(`${at}: HTML's references`)) },
  {
    role: 'user',
    content: [
      zeroWidth(mail(`${at}: zero-width`)),
      fullWidth(mail(`${at}: full-width`)),
      percent(percent(mail(`${at}: percent, twice`))),
      `see data:text/plain;base64,${base64(mail(`${at}: data URL in a text`))} there`,
    ].join(' and '),
  },
]

const chat = (at: string, more: object = {}) => ({
  model: mail(`${at}: model`),
  messages: conversation(at),
  tools: [tool(badge(`${at}: tool`), mail(`${at}: description`))],
  tool_choice: { type: 'function', function: { name: badge(`${at}: tool`) } },
  user: mail(`${at}: user`),
  metadata: { who: mail(`${at}: metadata`) },
  prompt_cache_key: mail(`${at}: cache key`),
  stop: [mail(`${at}: stop`)],
  logit_bias: { [mail(`${at}: bias`)]: 1 },
  response_format: {
    type: 'json_schema',
    json_schema: { name: badge(`${at}: schema`), schema: { description: mail(`${at}: schema's text`) } },
  },
  [mail(`${at}: key of a field`)]: { deep: [mail(`${at}: unknown field`)] },
  ...more,
})

const headers = (at: string) => ({
  'ratchet-agent': mail(`${at}: agent`),
  'ratchet-subject': mail(`${at}: subject`),
  'idempotency-key': mail(`${at}: idempotency key`),
  'user-agent': mail(`${at}: user agent`),
  'x-request-id': mail(`${at}: request id`),
  'x-forwarded-for': mail(`${at}: forwarded`),
})

const demonstration = (at: string) => ({
  kind: 'demonstration',
  messages: [
    {
      role: 'assistant',
      content: mail(`${at}: content`),
      toolCalls: [{ id: mail(`${at}: id`), name: mail(`${at}: tool`), arguments: { to: mail(`${at}: argument`) } }],
    },
    { role: 'tool', name: mail(`${at}: tool`), toolCallId: mail(`${at}: id`), content: mail(`${at}: result`) },
  ],
})

describe('what must not be written is on no disk and in no log, whichever field of which route it comes in', () => {
  it('with redaction on, SQLite on the disk, and every route of the document', async () => {
    await start()
    const asked = new Set<string>()
    const ask = (route: string, path: string, body: unknown, options: object = {}, status = 200) => {
      asked.add(route)
      return said(send(path, body, options), status)
    }
    const session = (at: string) => encodeURIComponent(mail(`${at}: session`))
    const chatPath = '/v1/chat/completions'
    await ask(`POST ${chatPath}`, chatPath, chat('chat'), {
      headers: { ...headers('chat'), 'ratchet-session': mail('chat: session') },
    })
    await ask(
      `POST /s/{session}${chatPath}`,
      `/s/${session('streamed')}${chatPath}`,
      chat('streamed', { stream: true }),
      {
        headers: headers('streamed'),
      },
    )
    for (const content of [`fail ${mail('refused: content')}`, [{ type: 'text', text: mail('refused: content') }, 7]]) {
      await ask(`POST ${chatPath}`, chatPath, { model: 'm', messages: [{ role: 'user', content }] }, {}, 400)
    }
    const responses = {
      model: mail('responses: model'),
      instructions: mail('responses: instructions'),
      input: [
        { role: 'user', content: [{ type: 'input_text', text: mail('responses: input') }] },
        {
          type: 'function_call',
          call_id: mail('responses: id of a call'),
          name: badge('responses: called tool'),
          arguments: JSON.stringify({ a: mail('responses: argument') }),
        },
        {
          type: 'function_call_output',
          call_id: mail('responses: id of a call'),
          output: mail('responses: output'),
        },
        { role: 'user', content: zeroWidth(mail('responses: zero-width')) },
      ],
      tools: [{ type: 'function', name: badge('responses: tool'), description: mail('responses: description') }],
      user: mail('responses: user'),
      metadata: { who: mail('responses: metadata') },
    }
    await ask('POST /v1/responses', '/v1/responses', responses, { headers: headers('responses') })
    const responsesPath = `/s/${session('responses')}/v1/responses`
    await ask('POST /s/{session}/v1/responses', responsesPath, { ...responses, stream: true })
    const embedded = {
      model: mail('embeddings: model'),
      input: mail('embeddings: input'),
      user: mail('embeddings: user'),
    }
    await ask('POST /v1/embeddings', '/v1/embeddings', embedded, { headers: headers('embeddings') })
    await ask('POST /s/{session}/v1/embeddings', `/s/${session('embeddings')}/v1/embeddings`, embedded)

    const named = { agent: mail('session key: agent'), subject: mail('session key: subject') }
    const made = await ask(
      'POST /ratchet/sessions',
      '/ratchet/sessions',
      { session: mail('session key: session'), ...named },
      {},
      201,
    )
    const { token } = JSON.parse(made) as { token: string }
    // The name and what stands for it in the key are one session, and one person.
    for (const more of [{}, { 'ratchet-session': mail('session key: session') }]) {
      await ask(`POST ${chatPath}`, chatPath, chat('with a session key'), { token, headers: more })
    }
    const about = { name: 'thumbs', value: true }
    await ask('POST /ratchet/signals', '/ratchet/signals', about, { token })
    await ask(
      'POST /ratchet/keys',
      '/ratchet/keys',
      {
        name: mail('key: name'),
        agent: mail('key: agent'),
        subject: mail('key: subject'),
      },
      {},
      201,
    )
    const signal = (at: string, change: object) => ({
      session: mail(`${at}: session`),
      name: mail(`${at}: name`),
      value: mail(`${at}: value`),
      reporter: mail(`${at}: reporter`),
      idempotencyKey: mail(`${at}: idempotency key`),
      ...change,
    })
    await ask('POST /ratchet/signals', '/ratchet/signals', [
      signal('signal', {}),
      signal('edit', { value: { kind: 'edit', text: mail('edit: text') } }),
      signal('demonstration', { value: demonstration('demonstration') }),
      signal('node', { session: undefined, trajectory: mail('node: trajectory'), node: mail('node: node') }),
    ])
    await ask(
      'POST /ratchet/signals',
      '/ratchet/signals',
      signal('bad', { session: undefined, response: mail('bad: response') }),
      {},
      400,
    )
    const agent = `/ratchet/agents/${encodeURIComponent(mail('release: agent'))}`
    for (const [verb, body] of [
      ['try', { system: mail('try: system'), tools: { find: mail('try: tool') } }],
      ['rollback', { release: mail('rollback: release') }],
      ['promote', { canary: mail('promote: canary') }],
      ['pin', { reason: mail('pin: reason') }],
      ['unpin', {}],
    ] as const) {
      await ask(`POST /ratchet/agents/{agent}/${verb}`, `${agent}/${verb}`, body, {}, 404)
    }
    const judged = { draw: 'd', truth: true, note: mail('audit: note'), reviewer: mail('audit: reviewer') }
    await ask('POST /ratchet/agents/{agent}/audit/labels', `${agent}/audit/labels`, judged, {}, 404)
    await ask('POST /ratchet/audit/withdraw', '/ratchet/audit/withdraw', { key: mail('audit: key') })
    const query = `session=${session('query')}&subject=${session('query')}&agent=${session('query')}`
    await ask('GET /ratchet/trajectories', `/ratchet/trajectories?${query}`, null, { method: 'GET' })
    await ask('DELETE /ratchet/keys/{id}', `/ratchet/keys/${session('revoke')}`, null, { method: 'DELETE' }, 404)
    await ask('DELETE /ratchet/subjects/{subject}', `/ratchet/subjects/${session('erase')}`, null, { method: 'DELETE' })
    await said(send(`/nowhere/${session('nowhere')}`, { a: mail('nowhere: body') }), 404)

    const { paths } = (await (await fetch(`${gateway.url}/openapi.json`)).json()) as { paths: Record<string, object> }
    const writing = Object.entries(paths).flatMap(([path, verbs]) =>
      Object.keys(verbs).flatMap((verb) => (verb === 'get' ? [] : [`${verb.toUpperCase()} ${path}`])),
    )
    expect(writing.filter((route) => !asked.has(route))).toEqual([])
    expect(planted.size).toBeGreaterThan(120)
    const metrics = await (await send('/metrics', null, { method: 'GET' })).text()
    log.push(metrics)
    expect(leaked([onDisk(), ...log].join('\n'))).toEqual([])
    expect(await store.trajectories.count({})).toBeGreaterThan(4)

    // A person is found, and goes, by the name that only a hash of is there.
    const erase = (name: string) => send(`/ratchet/subjects/${encodeURIComponent(name)}`, null, { method: 'DELETE' })
    const { removed } = (await (await erase(named.subject)).json()) as { removed: object }
    expect(removed).toMatchObject({ trajectories: 1, signals: 1, keys: 1 })
    expect((await send(chatPath, chat('after'), { token })).status).toBe(401)
  }, 60_000)

  it('tells the two calls of a key and of a name for one session, and the arms of its tree, apart from no other', async () => {
    await start()
    const name = mail('one session')
    const made = (await (await send('/ratchet/sessions', { session: name })).json()) as { token: string }
    const ask = (options: object) =>
      send('/v1/chat/completions', { model: 'm', messages: [{ role: 'user', content: 'hi' }] }, options)
    const trajectories = new Set<string | null>()
    for (const options of [{ token: made.token }, { headers: { 'ratchet-session': name } }]) {
      trajectories.add((await ask(options)).headers.get('ratchet-trajectory'))
    }
    trajectories.add(
      (
        await send(`/s/${encodeURIComponent(name)}/v1/chat/completions`, {
          model: 'm',
          messages: [{ role: 'user', content: 'hi' }],
        })
      ).headers.get('ratchet-trajectory'),
    )
    expect(trajectories.size).toBe(1)
    const listed = await send(`/ratchet/trajectories?session=${encodeURIComponent(name)}`, null, { method: 'GET' })
    expect(((await listed.json()) as { trajectories: object[] }).trajectories).toHaveLength(1)
    expect((await ask({ token: made.token, headers: { 'ratchet-session': mail('another session') } })).status).toBe(400)
  })
})

describe('a stream under way while its person is erased', () => {
  const stream = (content: string, more: object) =>
    send('/v1/chat/completions', { model: 'm', stream: true, messages: [{ role: 'user', content }] }, more)

  it.each([
    ['by its own name', { 'ratchet-subject': 'ann' }, 'required'],
    ['by what came before in its session', { 'ratchet-session': 'of-ann' }, 'required'],
    ['where an answer need not be recorded', { 'ratchet-subject': 'ann' }, 'best-effort'],
  ])('leaves nothing behind, and says so: %s', async (_, how, record) => {
    await start({ redact: [], record })
    const own = { 'ratchet-subject': 'ann', 'ratchet-session': 'of-ann' }
    await said(stream(local('before'), { headers: own }), 200)
    const underWay = await stream(`hold ${local('asked')}`, { headers: how })
    await vi.waitFor(() => expect(upstream.held).toBe(1))
    // Noted down before it is erased.
    await vi.waitFor(() => expect(leaked(onDisk())).toContain('asked'), { timeout: 5_000 })
    const erased = (await (await send('/ratchet/subjects/ann', null, { method: 'DELETE' })).json()) as object
    expect(erased).toMatchObject({ remains: 'nowhere' })
    expect(leaked(onDisk())).toEqual([])
    upstream.release()
    const text = await underWay.text()
    expect(text).toContain('store/erased')
    expect(text.includes('[DONE]')).toBe(record === 'best-effort')
    await new Promise((resolve) => setTimeout(resolve, 100))
    expect(leaked(onDisk())).toEqual([])
    expect(await store.trajectories.count({})).toBe(0)

    // What begins afterwards is recorded.
    await said(stream('again', { headers: own }), 200)
    expect(await store.trajectories.count({ subject: 'ann' })).toBe(1)
    expect((await send('/readyz', null, { method: 'GET' })).status).toBe(200)
  })
})

describe('what redaction does not reach', () => {
  const ask = (content: unknown, more: object = {}) =>
    said(send('/v1/chat/completions', { model: 'm', messages: [{ role: 'user', content }], ...more }), 200)

  /** Each way in, by the name that the documentation gives it. */
  const ways: Readonly<Record<string, (at: string) => Promise<unknown>>> = {
    'two messages': async (at) => {
      const [first, second] = [local(at), '@leak.example']
      await send('/v1/chat/completions', {
        model: 'm',
        messages: [first, second].map((content) => ({ role: 'user', content })),
      })
    },
    'other spellings': (at) => ask(`write to ${local(at)} at leak dot example`),
    'other encodings': (at) => ask(`as I said: ${base64(mail(at))}, understood?`),
    'pictures, sound and files': (at) => {
      const picture = Buffer.concat([Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 0xff]), Buffer.from(mail(at))])
      return ask([{ type: 'image_url', image_url: { url: `data:image/png;base64,${picture.toString('base64')}` } }])
    },
    'values of signals that are numbers': async (at) => {
      const number = 4_111_111_111_111_111
      planted.set(at, String(number))
      await said(send('/ratchet/signals', { session: 's', name: 'n', value: number }), 200)
    },
    'texts and names in the configuration': async () => {},
    'keys made in the terminal': (at) =>
      store.keys.put(newKey({ name: mail(at), tenant: 'default', scopes: ['infer'], now: 1 }).key),
    'imported records': (at) =>
      store.trajectories.append([
        {
          trajectory: Trajectory.parse({
            id: 'imported',
            origin: { kind: 'import', tenant: 'default', format: 'atif', metadata: {} },
            task: { id: 'task', instruction: mail(at), split: 'train' },
            group: 'imported',
            attempt: 0,
            seed: 0,
            nodes: [],
            steps: [],
            decisions: [],
            stopReason: 'done',
            failure: null,
            finalState: null,
            startedAt: 1,
            seconds: 0,
          }),
          reward: { status: 'missing', value: null, parts: {}, reason: 'none' },
          run: null,
        },
      ]),
  }

  it('is what the documentation lists, each of it and nothing else', async () => {
    const page = readFileSync(new URL('../docs/gateway.md', import.meta.url), 'utf8')
    const [, list = ''] = /\| not redacted \|[^\n]*\n\|[-|]+\n((?:\|[^\n]*\n)+)/.exec(page) ?? []
    const listed = list.split('\n').flatMap((line) => /^\| ([^|]+?) \|/.exec(line)?.[1] ?? [])
    expect(listed).toEqual(Object.keys(ways))
  })

  it.each(Object.keys(ways))('is on the disk: %s', async (way) => {
    const system = `Answer ${mail('texts and names in the configuration')}.`
    await start({
      redact: ['email', 'card'],
      agents: [{ name: 'helper', model: 'm', system }],
    })
    await ways[way]?.(way)
    const all = onDisk()
    const one = local(way)
    const encoded = [0, 1, 2].map((shift) => base64(' '.repeat(shift) + one).slice(4, 16))
    expect([one, ...encoded].some((form) => all.includes(form))).toBe(true)
  })
})
