import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { recordRun } from '../../test/report-fixture/index.ts'
import { present } from '../errors/index.ts'
import { openMemoryStore } from '../store/index.ts'
import { renderReport, type RunReport, reportOf } from './index.ts'
import { reproduce } from '../cli/reproduce.ts'

async function reported(options: Parameters<typeof recordRun>[1]): Promise<RunReport> {
  const store = await openMemoryStore()
  return reportOf(store, await recordRun(store, { tasks: 60, ...options }), { reproduce })
}

/** Names of the tags of a page, in order, its style left out. */
const tags = (page: string) =>
  [...page.replace(/<style>[^<]*<\/style>/, '').matchAll(/<\/?([a-z0-9]+)/gi)].map(([, name]) => name)
const text = (page: string) => page.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ')

/** A report with a text in the place of every text that it holds, keys and fixed words aside. */
function withText(report: RunReport, hostile: string): RunReport {
  const story = (s: RunReport['stories'][number]): RunReport['stories'][number] => ({
    ...s,
    task: { ...s.task, instruction: hostile, tier: hostile },
    attempts: s.attempts.map((attempt) => ({
      ...attempt,
      reward: { status: 'vetoed', value: 0, parts: {}, guard: hostile, reason: hostile },
      failure: { code: hostile, message: hostile },
      finalState: { [`x${hostile}`]: hostile, list: [hostile] },
      messages: [
        { role: 'system', content: hostile },
        { role: 'user', content: `${hostile}.` },
        {
          role: 'assistant',
          content: hostile,
          toolCalls: [{ name: `x${hostile}`, arguments: { [hostile]: hostile } }],
        },
        { role: 'assistant', content: hostile, malformedCalls: [{ text: hostile, problem: hostile }] },
        { role: 'tool', name: hostile, content: hostile, isError: true },
      ],
    })),
  })
  return {
    ...report,
    run: {
      ...report.run,
      agent: hostile,
      config: { [`x${hostile}`]: hostile },
      failure: { code: hostile, message: hostile, hint: hostile },
    },
    steering: report.steering && {
      ...report.steering,
      findings: report.steering.findings.map((one) => ({ ...one, code: hostile, message: hostile, hint: hostile })),
      looks: report.steering.looks.map((look) => ({ ...look, diagnosis: { message: hostile, hint: hostile } })),
      enough: { update: 30, message: hostile },
      stopped: { update: 30, message: hostile, diagnosis: { message: hostile, hint: hostile } },
      families: report.steering.families.map((one) => ({ ...one, family: hostile })),
    },
    tiers: report.tiers.map((tier) => ({
      ...tier,
      tier: hostile,
      baselines: tier.baselines.map((b) => ({ ...b, name: hostile })),
    })),
    validation: report.validation.map((curve) => ({ ...curve, tier: hostile })),
    stories: report.stories.map(story),
    gate: report.gate && {
      ...report.gate,
      gate: hostile,
      reasons: [hostile],
      rivals: report.gate.rivals.map((rival) => ({ ...rival, name: hostile })),
      evidence: { [`x${hostile}`]: hostile, vetoes: { [`y${hostile}`]: { [hostile]: 1 } } },
    },
    reproduce: { arguments: hostile, config: { file: hostile, content: { [hostile]: hostile } } },
  }
}

describe('hostile text', async () => {
  const report = await reported({})
  const harmless = tags(renderReport(withText(report, 'harmless')))
  const attacks = fc.constantFrom(
    '<script>alert(1)</script>',
    '"><img src=x onerror=alert(1)>',
    "' onmouseover='alert(1)",
    '</text></svg><iframe src=//x>',
    '</style><script>',
    '</title><base href=//x>',
    '<!--',
    ']]>',
    '&lt;b&gt;',
    '\u202egnirts',
  )
  const hostile = fc
    .tuple(fc.string({ unit: 'binary' }), attacks, fc.string({ unit: 'grapheme' }))
    .map((parts) => parts.join(''))

  it('never becomes markup, wherever it stands', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        expect(tags(renderReport(withText(report, text)))).toEqual(harmless)
      }),
      { numRuns: 40 },
    )
  })

  it('is shown for people to read', () => {
    const page = renderReport(withText(report, '<script>alert(1)</script>'))
    expect(page.match(/&lt;script&gt;alert\(1\)&lt;\/script&gt;/g)!.length).toBeGreaterThan(40)
  })
})

describe('the page', () => {
  it('refuses scripts, other styles and every request', async () => {
    const page = renderReport(await reported({}))
    const policy = /Content-Security-Policy" content="([^"]*)"/.exec(page)?.[1]
    expect(policy).toMatch(/^default-src &#39;none&#39;; style-src &#39;sha256-[\w+/]{43}=&#39;; img-src data:;/)
    expect(page).not.toMatch(/<script|\sstyle=|\son\w+=|https?:|src=/)
  })

  it('is the same for the same report', async () => {
    expect(renderReport(await reported({}))).toBe(renderReport(await reported({})))
  })

  it.each([
    [{}, 'Promoted', 'it had never seen, up from'],
    [{ skill: { learned: 0.02, base: 0.5 } }, 'Rejected', 'What served before still serves.'],
    [{ skill: { learned: 0.3, base: 0.25 } }, 'Needs more evidence', 'What served before still serves.'],
    [{ status: 'failed', until: 'started' }, 'Failed', 'librarian failed while priming. The model asked for 41 GiB'],
    [{ status: 'failed', until: 'primed' }, 'Failed', 'while priming, after pass 8.'],
    [
      { status: 'interrupted', until: 'measured' },
      'Interrupted',
      'was stopped while it was measured on held-out tasks.',
    ],
    [{ status: 'running', until: 'updated' }, 'Running', 'after update 30 of 30.'],
  ] as const)('says what happened: %j', async (options, verdict, sentence) => {
    const page = text(renderReport(await reported(options)))
    expect(page).toContain(verdict)
    expect(page).toContain(sentence)
    expect(page).not.toMatch(/NaN|undefined|Infinity|\[object/)
  })

  it('shows what had to be beaten, and whether it was', async () => {
    const beaten = text(renderReport(await reported({})))
    expect(beaten).toContain('Beats every rival: 2 of 2')
    expect(beaten).toMatch(/constant answer 60 0\.\d+ 0\.\d+ \+0\.\d+ \[\+0\.\d+, \+0\.\d+\] yes/)
    const held = text(renderReport(await reported({ skill: { base: 0.1, primed: 0.98, learned: 0.7 } })))
    expect(held).toContain('Does not beat every rival: 1 of 2')
    expect(held).toContain('So it is held')
    expect(held).toContain('The candidate does not beat the primed policy: 0.')
  })

  it('says in one place what an unfinished run waits for', async () => {
    const page = text(renderReport(await reported({ status: 'failed', until: 'primed' })))
    expect(page).toContain('Not there yet')
    expect(page).toContain('The gate was never asked, so nothing was released')
    expect(text(renderReport(await reported({})))).not.toContain('Not there yet')
  })

  it('cuts transcripts that are too long and says so', async () => {
    const report = await reported({})
    const { stories } = withText(report, 'long '.repeat(100_000))
    const page = renderReport({ ...report, stories })
    expect(page.length).toBeLessThan(1_000_000)
    expect(page).toContain('498,000 more characters')
  })
})

describe('what the run decided by itself', () => {
  it('is a story in words: found, imitated, sampled on, went back', async () => {
    const report = await reported({})
    const steering = {
      ...present(report.steering, 'what it decided'),
      primeTarget: { success: 0.25, informative: 0.33, passes: 48 },
    }
    const page = text(renderReport({ ...report, steering }))
    expect(page).toContain('What the run decided by itself')
    expect(page).toContain('Found 1 thing in the job 3 of 16 demonstrations end without an answer')
    expect(page).toMatch(/Pass 8 Imitated for 8 passes After pass 8, 42% of the attempts .* 50% of the groups differed/)
    expect(page).toContain('So many succeed that practice teaches more (25% were wanted)')
    expect(page).toContain('Update 14 Success collapsed, so it returned to update 12')
    expect(page).toContain('In 3 of 29 updates too few groups differed')
    expect(page).toContain('attempts more at tasks of such families, warmer or with a hint')
  })

  it('names the look that imitation went back to, and no rule that it does not know', async () => {
    const report = await reported({})
    const { steering } = report
    const [first] = steering?.looks ?? []
    if (!steering || !first) throw new Error('the fixture steers')
    const looks = [first, { ...first, pass: 8, success: 0.1, informative: 0 }]
    const page = text(renderReport({ ...report, steering: { ...steering, looks, primeTarget: null } }))
    expect(page).toContain('It went on with the weights after pass 4, which did best.')
    expect(page).not.toContain('were wanted')
    const known = text(renderReport({ ...report, steering: { ...steering, looks } }))
    expect(known).toContain('More imitation brought nothing better.')
  })

  it('shows the worst 20 families, marks the dead ones, and counts the others', async () => {
    const page = renderReport(await reported({}))
    expect(page.match(/class="trend"/g)).toHaveLength(20)
    expect(page.match(/nothing succeeds<\/span>/g)).toHaveLength(2)
    expect(text(page)).toContain('6 more families, which fare no worse, not shown')
  })

  it('draws what steers beside the other figures of an update', async () => {
    const page = text(renderReport(await reported({})))
    for (const title of ['Groups that differ', 'KL divergence', 'Learning rate', 'Dead families']) {
      expect(page).toContain(title)
    }
  })

  it('is not there for a run of an earlier version, whose page is whole without it', async () => {
    const page = renderReport(await reported({ steered: false }))
    expect([...page.matchAll(/<h2[^>]*>([^<]*)</g)].map(([, title]) => title)).toEqual([
      'On tasks it had never seen',
      'How it learned',
      'How the gate decided',
      'The same task, before and after',
      'Training health',
      'The run itself',
    ])
    expect(text(page)).not.toMatch(/Groups that differ|KL divergence|Dead families/)
  })
})

describe('a run that could not learn its job', () => {
  const hint = 'Give more demonstrations, or a shorter form.'
  it.each([
    ['learn/cannot-prime', 'primed', 'could not be taught to act by imitation'],
    ['learn/nothing-learned', 'updated', 'learned nothing beyond imitation'],
    ['learn/noisy-reward', 'updated', 'its reward is noise'],
    ['learn/unknown-tool', 'started', 'was not trained: the check found what keeps it from learning'],
  ] as const)('says what is wrong and what would help: %s', async (code, until, sentence) => {
    const failure = { code, message: 'Of 96 attempts 81 % break the first call.', hint }
    const page = text(renderReport(await reported({ status: 'failed', until, failure })))
    expect(page).toContain(sentence)
    expect(page).toContain(failure.message)
    expect(page).toContain(`What would help: ${hint} Then begin a new run`)
    expect(page).toContain('What the run decided by itself')
  })

  it('tells why it stopped early, what the attempts came to, and what would help', async () => {
    const failure = { code: 'learn/nothing-learned', message: 'Stopped.', hint }
    const page = text(renderReport(await reported({ status: 'failed', until: 'updated', failure })))
    expect(page).toMatch(
      /Stopped learning before the last update Success has not risen for 24 updates\. Of 96 attempts/,
    )
    expect(page).toContain('What would help: Show in the observations')
  })

  it('goes on from its last checkpoint where the machine was the cause', async () => {
    const failure = { code: 'model/out-of-memory', message: 'Too little memory.', hint: 'Free some.' }
    const page = text(renderReport(await reported({ status: 'failed', until: 'primed', failure })))
    expect(page).toContain('What would help: Free some. Go on from the last checkpoint')
  })
})
