import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { recordRun } from '../../../test/report-fixture/index.ts'
import { openMemoryStore } from '../../store/index.ts'
import { renderReport, type RunReport, reportOf } from './index.ts'

async function reported(options: Parameters<typeof recordRun>[1]): Promise<RunReport> {
  const store = await openMemoryStore()
  return reportOf(store, await recordRun(store, { tasks: 60, ...options }))
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
      failure: { code: hostile, message: hostile },
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
    reproduce: { command: hostile, config: { file: hostile, content: { [hostile]: hostile } } },
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
    [{ status: 'failed', until: 'primed' }, 'Failed', 'while priming, after pass 5.'],
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
