/// <reference lib="dom" />
/// <reference lib="dom.iterable" />
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type Browser, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { renderReport, reportOf } from '../src/report/index.ts'
import { openMemoryStore } from '../src/store/index.ts'
import type { RunId, Store } from '../src/core/index.ts'
import { likedSessions, recordSessions, runTraffic, type TrafficChanges } from './support/learner-traffic.ts'
import { practisedModel } from './support/practised-model.ts'
import { type FixtureOptions, recordRun } from './report-fixture/index.ts'
import { shadow } from '../src/learn/index.ts'
import { reproduce } from '../src/cli/reproduce.ts'

const flags = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]
const attack = `"'><img src="http://attacker.invalid/x" onerror="globalThis.owned=1"><script>globalThis.owned=1</script></style>`

const cases: Readonly<Record<string, FixtureOptions>> = {
  promoted: {},
  rejected: { skill: { learned: 0.02, base: 0.5 } },
  'failed while priming': { status: 'failed', until: 'primed' },
  'nothing learned': {
    status: 'failed',
    until: 'updated',
    failure: {
      code: 'learn/nothing-learned',
      message: 'Stopped: practice brought nothing beyond imitation. Of 128 attempts 60 % break a later call.',
      hint: 'Give more demonstrations, and shorter observations.',
    },
  },
  'stopped while measured': { status: 'interrupted', until: 'measured' },
  hostile: { hostile: attack },
}

/** Runs that learned from sessions. */
const overTraffic: Readonly<Record<string, TrafficChanges>> = {
  'over traffic, in a canary': {},
  'over traffic, in the shadow': { release: shadow() },
}

async function recordTraffic(store: Store, changes: TrafficChanges): Promise<RunId> {
  const now = 3_600_000
  const { renderer } = practisedModel().service
  await likedSessions(store, { now, prefix: 's', count: 8 })
  await recordSessions(store, renderer, [{ id: 'forbidden', at: now - 100_000, train: false }])
  return (await runTraffic(store, now, changes)).summary.runId
}

let browser: Browser
let folder: string

beforeAll(async () => {
  browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: flags })
  folder = await mkdtemp(join(tmpdir(), 'ratchet-report-'))
})
afterAll(async () => {
  await browser?.close()
  await rm(folder, { recursive: true, force: true })
})

/** Opens the report of a made-up run, with everything that the page said or asked for. */
async function open(name: string, look: { colorScheme?: 'light' | 'dark'; width?: number } = {}) {
  const store = await openMemoryStore()
  const traffic = overTraffic[name]
  const run = traffic ? await recordTraffic(store, traffic) : await recordRun(store, { tasks: 60, ...cases[name] })
  const path = join(folder, `${name}.html`)
  await writeFile(path, renderReport(await reportOf(store, run, { reproduce })))
  await store.close()
  const { colorScheme = 'light', width = 1400 } = look
  const page = await browser.newPage({ colorScheme, viewport: { width, height: 900 } })
  const heard: string[] = []
  page.on('console', (message) => heard.push(`console: ${message.text()}`))
  page.on('pageerror', (error) => heard.push(`error: ${error.message}`))
  page.on('dialog', (dialog) => heard.push(`dialog: ${dialog.message()}`))
  page.on('request', (request) => heard.push(`request: ${request.url()}`))
  const address = pathToFileURL(path).href
  await page.goto(address)
  await page.evaluate(() => {
    for (const details of document.querySelectorAll('details')) details.open = true
  })
  return { page, heard, address }
}

/** Boxes that stick out of the page, other than in what scrolls by itself. */
const stickingOut = (page: Page) =>
  page.evaluate(() => {
    const wide = [...document.querySelectorAll('body *')].filter((element) => {
      if (element.closest('.scroll, .column')) return false
      const { left, right, width } = element.getBoundingClientRect()
      return width > 0 && (left < -0.5 || right > document.documentElement.clientWidth + 0.5)
    })
    return wide.map(
      (element) => `${element.tagName}.${element.getAttribute('class')}: ${element.textContent?.slice(0, 40)}`,
    )
  })

/** Texts whose contrast with what is behind them is below WCAG AA: 4.5, or 3 for large type. */
const faintTexts = (page: Page) =>
  page.evaluate(() => {
    type Rgba = [number, number, number, number]
    const channels = (css: string): Rgba => {
      const [r = 0, g = 0, b = 0, a = 1] = (css.match(/[\d.]+/g) ?? []).map(Number)
      return [r, g, b, a]
    }
    const over = ([r, g, b, a]: Rgba, under: Rgba): Rgba => [
      r * a + under[0] * (1 - a),
      g * a + under[1] * (1 - a),
      b * a + under[2] * (1 - a),
      1,
    ]
    const behind = (element: Element | null): Rgba =>
      element === null
        ? [255, 255, 255, 1]
        : over(channels(getComputedStyle(element).backgroundColor), behind(element.parentElement))
    const luminance = ([r, g, b]: Rgba) => {
      const linear = (c: number) => (c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4)
      return 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b)
    }
    const faint: string[] = []
    for (const element of document.querySelectorAll('body *')) {
      const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent?.trim() !== '')
      if (!own || element.closest('.tip')) continue
      const style = getComputedStyle(element)
      const under = behind(element)
      const ink = over(channels(element instanceof SVGElement ? style.fill : style.color), under)
      const [light = 0, dark = 0] = [luminance(ink), luminance(under)].toSorted((a, b) => b - a)
      const contrast = (light + 0.05) / (dark + 0.05)
      const large = Number.parseFloat(style.fontSize) >= 24
      if (contrast < (large ? 3 : 4.5)) faint.push(`${contrast.toFixed(2)} ${element.textContent?.slice(0, 40)}`)
    }
    return faint
  })

describe.each([...Object.keys(cases), ...Object.keys(overTraffic)])('the report of a run: %s', (name) => {
  it.each([
    ['light', 390],
    ['light', 1400],
    ['dark', 390],
    ['dark', 1400],
  ] as const)('is quiet, fits and can be read, %s, %i wide', async (colorScheme, width) => {
    const { page, heard, address } = await open(name, { colorScheme, width })
    expect(heard).toEqual([`request: ${address}`])
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width)
    expect(await stickingOut(page)).toEqual([])
    expect(await faintTexts(page)).toEqual([])
    await page.close()
  })
})

it('runs nothing that a model or a document wrote, and shows it', async () => {
  const { page } = await open('hostile')
  expect(await page.evaluate(() => (globalThis as { owned?: number }).owned)).toBeUndefined()
  expect(await page.locator('script, img, iframe').count()).toBe(0)
  expect(await page.locator('.transcript').first().textContent()).toContain(attack)
  await page.close()
})

it('has a policy that would stop what got in', async () => {
  const { page, heard } = await open('promoted')
  const refused: (string | undefined)[] = []
  page.on('requestfailed', (request) => refused.push(request.failure()?.errorText))
  await page.evaluate(() => {
    const script = document.createElement('script')
    script.textContent = 'globalThis.owned = 1'
    const image = document.createElement('img')
    image.src = 'http://attacker.invalid/x'
    document.body.append(script, image)
    document.body.setAttribute('style', 'color: red')
  })
  expect(await page.evaluate(() => (globalThis as { owned?: number }).owned)).toBeUndefined()
  await expect.poll(() => refused).toEqual(['csp'])
  expect(heard.filter((line) => line.includes('Content Security Policy')).length).toBeGreaterThanOrEqual(3)
  await page.close()
})

it.each([390, 1400])('shows an update’s figures under the pointer, inside the page, %i wide', async (width) => {
  const { page } = await open('promoted', { width })
  const columns = page.locator('.column')
  for (const [index, update] of [
    [0, 0],
    [12, 12],
    [13, 13],
    [29, 30],
  ] as const) {
    const column = columns.nth(index)
    await column.locator('.hit').hover()
    const tip = column.locator('.tip')
    expect(await tip.evaluate((element) => getComputedStyle(element).opacity)).toBe('1')
    expect(await tip.textContent()).toContain(update === 0 ? 'After priming' : `Update ${update}`)
    const { left, right } = await tip.locator('rect').evaluate((element) => {
      const box = element.getBoundingClientRect()
      return { left: box.left, right: box.right }
    })
    expect(left).toBeGreaterThanOrEqual(0)
    expect(right).toBeLessThanOrEqual(width)
  }
  await page.close()
})

it('prints in dark ink on white whatever the screen shows', async () => {
  const { page } = await open('promoted', { colorScheme: 'dark' })
  await page.emulateMedia({ media: 'print', colorScheme: 'dark' })
  const { backgroundColor, color } = await page.evaluate(() => {
    const style = getComputedStyle(document.body)
    return { backgroundColor: style.backgroundColor, color: style.color }
  })
  expect([backgroundColor, color]).toEqual(['rgb(255, 255, 255)', 'rgb(26, 30, 34)'])
  await page.close()
})
