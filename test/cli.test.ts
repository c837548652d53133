import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openStore } from '../src/store/index.ts'
import { tinyJob, type TinyConfig, type TinyFiles, writeTinyJob, jsonl } from './tiny/job.ts'
import { writeTinyModel } from './tiny/model.ts'
import { Summary } from './tiny/summary.ts'
import { type Ended, listing, ratchet, startRatchet } from './tiny/ratchet.ts'

let folder: string
let files: TinyFiles
let store: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'ratchet-cli-'))
  files = writeTinyJob(join(folder, 'job'))
})
beforeEach(() => {
  store = join(mkdtempSync(join(folder, 'case-')), 'store')
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** The tiny configuration, changed, in a file of its own. */
function configured(change: (config: TinyConfig) => unknown): string {
  const path = `${store}.json`
  const changed: unknown = change(JSON.parse(readFileSync(files.config, 'utf8')) as TinyConfig)
  writeFileSync(path, typeof changed === 'string' ? changed : JSON.stringify(changed))
  return path
}

/** A file beside the store. */
function written(name: string, content: string): string {
  const path = `${store}-${name}`
  writeFileSync(path, content)
  return path
}

/** What a person is told: one paragraph with what happened, then what to do, then the code. */
function expectRefused({ code, stdout, stderr }: Ended, errorCode: string, message: RegExp): void {
  expect(stderr).toMatch(message)
  expect(stderr.trim().split('\n').length, stderr).toBeLessThanOrEqual(3)
  expect(stderr).toMatch(/^✗ .+\n {2}.+ \[[a-z]+\/[a-z-]+\]\n$/s)
  expect(stderr).toContain(`[${errorCode}]`)
  expect(stderr).not.toMatch(/^\s+at /m)
  expect(stdout).toBe('')
  expect(code).toBe(1)
}

/** Runs what must be refused, and holds that no file came, went or changed its name. */
async function refused(args: readonly string[], errorCode: string, message: RegExp): Promise<void> {
  const before = listing(folder)
  expectRefused(await ratchet(args), errorCode, message)
  expect(listing(folder)).toEqual(before)
}

const learn = (config: string, ...more: readonly string[]) => ['learn', '--config', config, '--store', store, ...more]

describe('a model that cannot be used', () => {
  /** The tiny model with one thing wrong. */
  function broken(damage: (model: string) => void): string {
    const model = `${store}-model`
    cpSync(files.model, model, { recursive: true })
    damage(model)
    return configured((config) => ({ ...config, model }))
  }
  const edit = (file: string, change: (json: Record<string, unknown>) => object) => (model: string) => {
    const path = join(model, file)
    writeFileSync(path, JSON.stringify(change(JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>)))
  }

  it('is not there', () =>
    refused(
      learn(files.config, '--model', 'minimind2-smal'),
      'model/not-found',
      /no model "minimind2-smal".*\n.*Did you mean minimind2-small\?/,
    ))

  it('is cut short', () =>
    refused(
      learn(broken((model) => truncateSync(join(model, 'model.safetensors'), 5000))),
      'model/malformed-safetensors',
      /model\.safetensors is not a valid safetensors file/,
    ))

  it('has the tokenizer of another model', () =>
    refused(
      learn(
        broken((model) => {
          writeTinyModel(`${model}-other`, { words: Array.from({ length: 200 }, (_, i) => `w${i}`) })
          cpSync(join(`${model}-other`, 'tokenizer.json'), join(model, 'tokenizer.json'))
        }),
      ),
      'model/malformed-model',
      /tokenizer .* does not belong to its model/,
    ))

  it('is of another architecture', () =>
    refused(
      learn(broken(edit('config.json', (config) => ({ ...config, architectures: ['MambaForCausalLM'] })))),
      'model/unsupported-architecture',
      /MambaForCausalLM/,
    ))
})

describe('documents, tasks and demonstrations that cannot be used', () => {
  const { documents, tasks, demonstrations } = tinyJob()
  const withCorpus = (rows: string) => {
    const corpus = written('corpus.jsonl', rows)
    return configured((config) => ({ ...config, environment: { ...config.environment, corpus } }))
  }
  const withTasks = (rows: string) => {
    const file = written('tasks.jsonl', rows)
    return configured((config) => ({ ...config, environment: { ...config.environment, tasks: file } }))
  }
  const withDemonstrations = (rows: string) => {
    const file = written('demonstrations.jsonl', rows)
    return configured((config) => ({ ...config, demonstrations: file }))
  }

  it.each([
    ['twice the same id', jsonl([...documents, documents[0]]), /Lines 1 and 5 have the same id "lemon"/],
    ['a missing field', jsonl([{ id: 'x', lines: ['y'] }]), /Line 1 of .* is not a document: title/],
    ['a line that is not JSON', `${jsonl(documents)}{"id": `, /Line 5 of .* is not JSON/],
    ['nothing', '\n\n', /holds no document/],
  ])('documents with %s', (_, rows, message) =>
    refused(learn(withCorpus(rows)), 'environment/malformed-corpus', message),
  )

  it('documents that are not there', () =>
    refused(
      learn(configured((config) => ({ ...config, environment: { ...config.environment, corpus: 'nowhere.jsonl' } }))),
      'environment/malformed-corpus',
      /nowhere\.jsonl cannot be read/,
    ))

  it.each([
    ['twice the same id', jsonl([...tasks, tasks[0]]), 'environment/malformed-corpus', /have the same id "train-0"/],
    ['an unknown split', jsonl([{ ...tasks[0], split: 'test' }]), 'environment/malformed-corpus', /Line 1 .*split/],
    ['no answer', jsonl([{ ...tasks[0], answer: undefined }]), 'environment/malformed-corpus', /Line 1 .*answer/],
    [
      'an empty split',
      jsonl(tasks.filter(({ split }) => split !== 'holdout')),
      'learn/empty-split',
      /no holdout tasks/,
    ],
  ])('tasks with %s', (_, rows, code, message) => refused(learn(withTasks(rows)), code, message))

  it.each([
    [
      'a role that is not one',
      jsonl([{ messages: [{ role: 'robot', content: '' }] }]),
      'environment/malformed-corpus',
      /Line 1 of .*role/,
    ],
    [
      'a line that is not JSON',
      `${jsonl(demonstrations)}nonsense`,
      'environment/malformed-corpus',
      /Line 13 of .* is not JSON/,
    ],
    [
      'no act',
      jsonl([
        {
          messages: [
            { role: 'user', content: 'a' },
            { role: 'user', content: 'b' },
          ],
        },
      ]),
      'input/unusable-demonstration',
      /Line 1 of .*no turn of the assistant/i,
    ],
  ])('demonstrations with %s', (_, rows, code, message) => refused(learn(withDemonstrations(rows)), code, message))

  it('a corpus of one’s own without tasks', () =>
    refused(
      learn(configured((config) => ({ ...config, environment: { corpus: files.corpus } }))),
      'input/incomplete-job',
      /needs tasks and demonstrations of your own/,
    ))
})

describe('a configuration that cannot be used', () => {
  it.each([
    [
      'schedule.updates',
      (config: TinyConfig) => ({ ...config, schedule: { update: 3 } }),
      /unknown key "schedule\.update": did you mean "updates"\?/,
    ],
    ['agent', (config: TinyConfig) => ({ ...config, agnet: 'x' }), /unknown key "agnet": did you mean "agent"\?/],
    ['a wrong type', (config: TinyConfig) => ({ ...config, gate: { alpha: 'low' } }), /gate\.alpha: .*number/],
    ['a wrong name', (config: TinyConfig) => ({ ...config, policy: { loss: 'pop' } }), /policy\.loss: .*"ppo"/],
    ['a wrong range', (config: TinyConfig) => ({ ...config, gate: { alpha: 0.4 } }), /alpha/],
  ])('%s', (_, change, message) => refused(learn(configured(change)), 'input/invalid', message))

  it('is not JSON, or not there', async () => {
    await refused(learn(configured(() => '{"agent": ')), 'input/unreadable-config', /is not JSON/)
    await refused(learn('nowhere.json'), 'input/unreadable-config', /nowhere\.json cannot be read/)
  })

  it('bounds a deterministic run by the clock', () =>
    refused(
      learn(
        configured((config) => ({ ...config, schedule: { ...config.schedule, seconds: 10 } })),
        '--deterministic',
      ),
      'learn/not-deterministic',
      /cannot depend on the clock, and seconds does/,
    ))

  it('or a flag of one run, for a learner of traffic', () =>
    refused(
      ['learn', '--agent', 'support', '--model', 'minimind2-small', '--store', store],
      'input/flag-of-one-run',
      /--model is for one run over tasks/,
    ))

  it('or a flag that does not exist', async () => {
    const { code, stderr } = await ratchet(['learn', '--sed', '1'])
    expect(stderr).toMatch(/unknown option '--sed'\n\(Did you mean --seed\?\)/)
    expect(code).toBe(1)
  })
})

describe('a store that cannot be used', () => {
  it('is not there', async () => {
    for (const command of [['runs'], ['report'], ['releases'], ['rollback'], ['learn', '--resume']])
      await refused([...command, '--store', store], 'store/missing', /There is no store at/)
  })

  it('is written by another process', async () => {
    const writer = await openStore({ path: join(store, 'ratchet.db') })
    try {
      await refused(learn(files.config), 'store/locked', new RegExp(`${process.pid}`))
      await refused(learn(files.config, '--new-store'), 'store/locked', new RegExp(`${process.pid}`))
    } finally {
      await writer.close()
    }
  })

  it('is a folder that is no store: it is not moved aside', async () => {
    mkdirSync(store)
    writeFileSync(join(store, 'thesis.txt'), 'years of work')
    await refused(learn(files.config, '--new-store'), 'input/not-a-store', /holds files, and no store/)
  })

  it.skipIf(process.platform === 'win32')('may not be written', async () => {
    mkdirSync(store)
    chmodSync(store, 0o555)
    // Root may write anywhere: the binary is run as nobody, who can read what this test wrote.
    const uid = process.getuid?.() === 0 ? 65_534 : undefined
    for (const path of [folder, join(folder, 'job'), join(store, '..')]) chmodSync(path, 0o755)
    const before = listing(folder)
    const ended = await ratchet(learn(files.config), uid === undefined ? {} : { uid })
    expectRefused(ended, 'store/read-only', new RegExp(store))
    expect(listing(folder)).toEqual(before)
  })
})

describe('a whole run', () => {
  const linesOf = ({ stdout }: Ended) =>
    stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { readonly type: string })

  it('tells machines its story, a JSON object a line, and ends with the summary', async () => {
    const home = mkdtempSync(join(folder, 'home-'))
    const ended = await ratchet(learn(files.config, '--json', '--seed', '3', '--control'), { home })
    expect(ended.stderr).toBe('')
    expect(ended.code).toBe(0)
    const lines = linesOf(ended)
    expect(lines[0]).toMatchObject({ type: 'started', seed: 3, resumedAt: null })
    const summary = Summary.parse(lines.at(-1))
    expect(summary.base.success).toBe(0)
    expect(summary.control).not.toBeNull()
    expect(lines.filter(({ type }) => type === 'summary')).toHaveLength(1)
    expect(listing(store)).toContain(`report-${summary.runId}.html`)
    // ONNX Runtime would leave a device id there, and tell its makers.
    expect(listing(home)).toEqual([])

    const [run] = linesOf(await ratchet(['runs', '--json', '--store', store]))
    expect(run).toMatchObject({ id: summary.runId, status: 'completed', seed: 3, release: summary.releaseId })
    for (const id of [[], [summary.runId]]) {
      const again = await ratchet(['learn', '--resume', ...id, '--json', '--store', store])
      expect({ ...Summary.parse(linesOf(again).at(-1)), seconds: 0 }).toEqual({ ...summary, seconds: 0 })
    }
    await refused(['learn', '--resume', 'run-7', '--store', store], 'input/no-run-to-resume', /no run "run-7"/)

    const report = readFileSync(join(store, `report-${summary.runId}.html`), 'utf8')
    expect(report).toContain('Constant answer')
    const out = written('again.html', '')
    const made = await ratchet(['report', summary.runId, '--out', out, '--store', store])
    expect(made).toMatchObject({ code: 0, stderr: '', stdout: `${out}\n` })
    expect(readFileSync(out, 'utf8')).toBe(report)
    await refused(['report', 'run-7', '--store', store], 'cli/unknown-run', /no run "run-7"/)
    const nowhere = join(store, 'no', 'such', 'folder.html')
    await refused(['report', '--out', nowhere, '--store', store], 'input/unwritable-report', /cannot be written/)
  })

  it('tells people what happened, goes back when told to, and no further than the beginning', async () => {
    const { code, stdout, stderr } = await ratchet(learn(files.config))
    expect(stderr).toBe('')
    expect(code).toBe(0)
    expect(stdout).toMatch(/On 40 held-out tasks: base .* → primed .* → learned/)
    expect(stdout).toMatch(/The gate says promote; release [0-9a-f]+ serves now\. Undo it with: npx ratchet rollback/)

    const releases = async () =>
      linesOf(await ratchet(['releases', '--json', '--store', store])) as unknown as {
        readonly id: string
        readonly serving: boolean
        readonly receipt: string | null
      }[]
    const [learned, initial] = await releases()
    expect([learned?.serving, initial?.serving]).toEqual([true, false])
    const out = join(store, '..', 'adapter')
    const exported = await ratchet(['adapter', 'export', out, '--store', store])
    expect(exported).toMatchObject({ code: 0, stderr: '' })
    expect(exported.stdout).toMatch(/\d+ tokens of 8 recorded episodes differ by at most 0 nats; 0\.000001 is allowed/)
    expect(readFileSync(join(out, 'adapter_config.json'), 'utf8')).toContain(files.model)
    await refused(['adapter', 'export', out, '--store', store], 'model/unwritable-peft-folder', /of that name/)
    const before = ['--release', String(initial?.id), '--store', store]
    await refused(['adapter', 'export', `${out}-0`, ...before], 'input/no-adapter', /are the base model as it is/)

    await refused(['rollback', 'no-such', '--store', store], 'release/unknown-release', /no release no-such/)
    const back = await ratchet(['rollback', '--store', store])
    expect(back).toMatchObject({ code: 0, stderr: '', stdout: `✓ greengrocer serves ${initial?.id} again.\n` })
    await refused(['rollback', '--store', store], 'release/nothing-before', /nothing served before it/)
    expect((await releases()).map(({ serving }) => serving)).toEqual([false, true])
    expect(await ratchet(['rollback', String(learned?.id), '--store', store])).toMatchObject({ code: 0 })
    expect((await releases()).map(({ serving }) => serving)).toEqual([true, false])

    const again = await ratchet(learn(files.config, '--new-store', '--json'))
    expect(Summary.parse(linesOf(again).at(-1)).primed.n).toBe(40)
    expect(listing(join(store, '..'))).toContain('store.1')
  })

  it('that is interrupted says how to go on, and does; flags that say otherwise are refused', async () => {
    const { child, ended, said } = startRatchet(learn(files.config, '--json'))
    while (!said.stdout.includes('"updated"')) await new Promise((resolve) => child.stdout.once('data', resolve))
    child.kill('SIGINT')
    const interrupted = await ended
    expect(interrupted.code).toBe(1)
    expect(interrupted.stderr).toMatch(/^✗ The run was interrupted\.\n {2}Continue .*ratchet learn --resume --store/)
    const [run] = linesOf(await ratchet(['runs', '--json', '--store', store]))
    expect(run).toMatchObject({ status: 'interrupted', failure: null })
    const report = await ratchet(['report', '--json', '--store', store])
    expect(report).toMatchObject({ code: 0, stderr: '' })
    const [made] = linesOf(report) as unknown as { status: string; report: string }[]
    expect(made?.status).toBe('interrupted')
    expect(readFileSync(made?.report ?? '', 'utf8')).toContain('Interrupted')

    const resume = ['learn', '--resume', '--store', store]
    const other = configured((config) => ({ ...config, agent: 'other' }))
    for (const [flag, ...value] of [
      ['--seed', '5'],
      ['--control'],
      ['--deterministic'],
      ['--new-store'],
      ['--config', other],
    ])
      await refused(
        [...resume, String(flag), ...value],
        'input/resume-differs',
        new RegExp(`did not begin with this ${flag}`),
      )

    const resumed = await ratchet([...resume, '--config', files.config, '--seed', '0', '--json'])
    expect(resumed.stderr).toBe('')
    expect(linesOf(resumed)[0]).toMatchObject({ type: 'started', resumedAt: expect.any(Number) as number })
    expect(Summary.parse(linesOf(resumed).at(-1)).runId).toBe((run as unknown as { id: string }).id)
  })
})
