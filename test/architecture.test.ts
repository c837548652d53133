import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import {
  cycles,
  dependencyViolations,
  floorViolations,
  type Project,
  roomViolations,
  typeHoles,
} from './support/architecture.ts'
import { readSource } from './support/source.ts'

/** Imports go down only. A new room gets a floor here and a line in `docs/architecture.md`. */
const floors: Readonly<Record<string, number>> = {
  errors: 0,
  core: 1,
  store: 2,
  model: 2,
  codec: 2,
  environment: 2,
  agent: 3,
  reward: 3,
  rollout: 4,
  credit: 4,
  optimize: 5,
  gate: 6,
  release: 7,
  learn: 8,
  recipe: 9,
  report: 9,
  gateway: 10,
  trainer: 10,
  cli: 11,
}

const fromRoot = (path: string) => new URL(`../${path}`, import.meta.url)
const read = (path: string) => readFileSync(fromRoot(path), 'utf8')

const manifest = z
  .object({
    exports: z.record(z.string(), z.object({ types: z.string(), default: z.string() })),
    dependencies: z.record(z.string(), z.string()),
    peerDependencies: z.record(z.string(), z.string()),
  })
  .parse(JSON.parse(read('package.json')))

/** The rows of a Markdown table's body, cell by cell. */
const rowsOf = (markdown: string): string[][] =>
  markdown
    .split('\n')
    .filter((line) => line.startsWith('|') && !/^\|[\s:|-]+$/.test(line))
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    )

const named = (cell = '') => /^`([^`]+)`$/.exec(cell)?.[1]

const explained = rowsOf(read('docs/dependencies.md')).flatMap(([package_, , licence = '']) => {
  const name = named(package_)
  return name === undefined ? [] : [{ name, licence }]
})

const project: Project = {
  sources: new Map(
    readdirSync(fromRoot('src'), { recursive: true, encoding: 'utf8' })
      .map((path) => path.replaceAll('\\', '/'))
      .filter((path) => path.endsWith('.ts') && !/\.(?:test|conformance)\.ts$/.test(path))
      .map((path) => [path, read(`src/${path}`)]),
  ),
  floors,
  divided: ['optimize'],
  faces: Object.values(manifest.exports).map(({ types }) => types.replace('./dist/', '').replace(/\.d\.ts$/, '.ts')),
  programs: ['cli'],
  dependencies: Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies }),
  explained: explained.map(({ name }) => name),
}

describe('this project', () => {
  it('imports go down, between faces', () => {
    expect(project.sources.size).toBeGreaterThan(100)
    expect(floorViolations(project)).toEqual([])
  })

  it('has no circles', () => {
    expect(cycles(project)).toEqual([])
  })

  it('gives every room a floor and a face', () => {
    expect(roomViolations(project)).toEqual([])
    for (const [subpath, { types, default: main }] of Object.entries(manifest.exports)) {
      const stem = `./dist/${subpath === '.' ? '' : `${subpath.slice(2)}/`}index`
      expect([types, main]).toEqual([`${stem}.d.ts`, `${stem}.js`])
    }
  })

  it('documents the floors that it has', () => {
    const documented = rowsOf(read('docs/architecture.md')).flatMap(([floor = '', room]) => {
      const name = /^\d+$/.test(floor) ? named(room)?.replace(/\/$/, '') : undefined
      return name === undefined ? [] : [[name, Number(floor)]]
    })
    expect(Object.fromEntries(documented)).toEqual(floors)
  })

  it('has no holes in its types', () => {
    expect(typeHoles(project)).toEqual([])
  })

  it('names no Kind of Parameter in what serves them all', () => {
    const shared = /^(?:cli|credit|gate|gateway|learn|recipe|release|report|rollout|store)\//
    // A part of an answer is `text` or `refusal`, and no Parameter.
    const parts = 'gateway/responses/item-drafts.ts'
    const names = /\bkind(?::| [!=]==) '(?:choice|memory|program|skill|text|weights)'/
    const naming = [...project.sources].filter(
      ([path, text]) => shared.test(path) && path !== parts && names.test(text),
    )
    expect(naming.map(([path]) => path)).toEqual([])
  })

  it('declares and explains the packages that it uses', () => {
    expect(dependencyViolations(project)).toEqual([])
  })

  it.each(explained.map(({ name, licence }) => [name, licence]))('%s is under %s', (name, licence) => {
    const path = `node_modules/${name}/package.json`
    expect(existsSync(fromRoot(path))).toBe(true)
    expect(z.object({ license: z.string() }).parse(JSON.parse(read(path))).license).toBe(licence)
  })
})

/** The rules, broken one at a time. */
describe('the rules', () => {
  const projectOf = (sources: Record<string, string>, change: Partial<Project> = {}): Project => ({
    sources: new Map(Object.entries(sources)),
    floors: { errors: 0, core: 1, store: 2, model: 2, optimize: 5 },
    divided: ['optimize'],
    faces: Object.keys(sources).filter((path) => path.endsWith('/index.ts')),
    programs: [],
    dependencies: ['zod'],
    explained: ['zod'],
    ...change,
  })
  const whole = {
    'index.ts': "export * from './core/index.ts'",
    'errors/index.ts': 'export const e = 1',
    'core/index.ts': "export * from './task.ts'",
    'core/task.ts': "import { z } from 'zod'\nimport { e } from '../errors/index.ts'\nimport { x } from 'node:fs'",
    'store/index.ts': "import type { Task } from '../core/index.ts'",
    'model/index.ts': "import { e } from '../errors/index.ts'",
    'optimize/weights/index.ts': "import { t } from '../../core/index.ts'\nimport { d } from './datum.ts'",
    'optimize/weights/datum.ts': '',
    'optimize/text/index.ts': '',
  }
  const broken = (path: string, text: string) => projectOf({ ...whole, [path]: text })

  it('hold for a small project', () => {
    const small = projectOf(whole)
    for (const rule of [floorViolations, cycles, roomViolations, typeHoles, dependencyViolations]) {
      expect(rule(small)).toEqual([])
    }
  })

  it.each([
    ['up', 'core/task.ts', "import { s } from '../store/index.ts'", 'imports up: core (1) from store (2)'],
    ['up by type', 'core/task.ts', "import type { S } from '../store/index.ts'", 'imports up'],
    ['up by re-export', 'core/task.ts', "export { S } from '../store/index.ts'", 'imports up'],
    ['up at run time', 'core/task.ts', "await import('../store/index.ts')", 'imports up'],
    ['up for an effect', 'core/task.ts', "import '../store/index.ts'", 'imports up'],
    ['up in a type', 'core/task.ts', "type S = import('../store/index.ts').S", 'imports up'],
    ['sideways', 'store/index.ts', 'import { m } from "../model/index.ts"', 'both on floor 2'],
    ['sideways within optimize', 'optimize/text/index.ts', "import { w } from '../weights/index.ts'", 'floor 5'],
    ['past the face', 'store/index.ts', "import { t } from '../core/task.ts'", 'core/task.ts is no face'],
    ['past the face from the front door', 'index.ts', "export * from './core/task.ts'", 'is no face'],
    ['through the front door', 'store/index.ts', "import { t } from '../index.ts'", 'own front door'],
    ['nothing', 'store/index.ts', "import { t } from './gone.ts'", 'does not exist'],
  ])('no import %s', (_, path, text, violation) => {
    expect(floorViolations(broken(path, text))).toEqual([expect.stringContaining(violation)])
  })

  it('no circles', () => {
    expect(cycles(broken('core/task.ts', "import type { T } from './index.ts'"))).toEqual([
      'core/index.ts → core/task.ts → core/index.ts',
    ])
    expect(cycles(broken('core/task.ts', "import { t } from './task.ts'"))).toEqual(['core/task.ts → core/task.ts'])
  })

  it('every room has a floor and a face, and every face is there', () => {
    expect(roomViolations(broken('search/index.ts', ''))).toEqual(['src/search/ has no floor'])
    expect(roomViolations(projectOf(whole, { faces: ['core/index.ts'] }))).toContain(
      'src/store/ has no face in package.json',
    )
    expect(roomViolations(broken('optimize/skill/skill.ts', ''))).toEqual([
      'src/optimize/skill/ has no face in package.json',
    ])
    const faces = [...projectOf(whole).faces, 'core/gone.ts']
    expect(roomViolations(projectOf(whole, { faces }))).toEqual([
      'package.json exports src/core/gone.ts, which does not exist',
      'package.json exports src/core/gone.ts, which is no index.ts',
    ])
  })

  it.each(['core/utils/text.ts', 'core/helpers.ts', 'core/common/x.ts', 'core/util.ts'])('no name like %s', (path) => {
    expect(roomViolations(broken(path, ''))).toEqual([`src/${path} says nothing by its name`])
  })

  it.each([
    'let x: any',
    'const x = y as any',
    'type X = Record<string, any>',
    'let x: any[] = []',
    'const x = y!.z',
    'const x = y[0]!',
    'f(x!)',
    'const t = `${x!.y}`',
    '// @ts-ignore\nf()',
    '/* @ts-expect-error */ f()',
    '// @ts-nocheck',
  ])('no hole like %j', (text) => {
    expect(typeHoles(broken('core/task.ts', text)).length).toBe(1)
  })

  it.each([
    'AbortSignal.any([a, b])',
    'if (a !== b && !c) return !d',
    "const text = 'any! @ts-ignore'",
    '// any value! is fine in a comment',
    'const pattern = /any!/',
    'const t = `any! ${a} any!`',
    'const half = a / b // any!',
    'const company = anyone',
  ])('no false alarm over %j', (text) => {
    expect(typeHoles(broken('core/task.ts', text))).toEqual([])
  })

  it('packages are declared and explained', () => {
    expect(dependencyViolations(broken('core/task.ts', "import { debounce } from 'lodash/fp'"))).toEqual([
      'src/core/task.ts uses lodash, which is no dependency of package.json',
    ])
    expect(dependencyViolations(broken('core/task.ts', "import type { A } from '@scope/name/deep'"))).toEqual([
      'src/core/task.ts uses @scope/name, which is no dependency of package.json',
    ])
    expect(dependencyViolations(projectOf(whole, { explained: [] }))).toEqual([
      'docs/dependencies.md does not explain zod',
    ])
    expect(dependencyViolations(projectOf(whole, { explained: ['zod', 'pg'] }))).toEqual([
      'docs/dependencies.md explains pg, which is no dependency',
    ])
  })
})

describe('reading a source', () => {
  it('finds every kind of import, and nothing that only looks like one', () => {
    const text = [
      "import a from 'a'",
      'import { b,',
      "  c } from 'b' // from 'not-this'",
      "import type { D } from 'd'",
      "export * from 'e'",
      "import 'f'",
      "const g = await import('g')",
      "type H = import('h').H",
      'const hint = "import { x } from \'not-this\'"',
      "const code = `import x from 'not-this' ${await import('i')} from 'nor-this'`",
      "/* import x from 'not-this' */",
      "const parts = Array.from('abc')",
      "const pattern = /from '[/]'/",
      "const escaped = 'it\\'s from \\\\' + from('x')",
    ].join('\n')
    expect(readSource(text).imports).toEqual(['a', 'b', 'd', 'e', 'f', 'g', 'h', 'i'])
  })

  it('goes on after nested templates, divisions and escapes', () => {
    const text = "const x = `a${f({ b: `c${'}'}` })}d` / 2 / 3; const y = '\\\\'; import('z')"
    expect(readSource(text)).toMatchObject({ imports: ['z'], comments: '' })
    expect(readSource(text).code).toContain('/ 2 / 3')
  })
})
