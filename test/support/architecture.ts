import { posix } from 'node:path'
import { readSource } from './source.ts'

/** Everything that the rules look at. */
export interface Project {
  /** Text of each source under `src/`, by its path from there: `core/task.ts`. Tests are left out. */
  readonly sources: ReadonlyMap<string, string>
  /** Floor of each folder of `src/`. */
  readonly floors: Readonly<Record<string, number>>
  /** Folders whose own folders are rooms that do not know each other, as `optimize/weights` and `optimize/text`. */
  readonly divided: readonly string[]
  /** Sources that package.json exports: the faces of the rooms. */
  readonly faces: readonly string[]
  /** Rooms that have no face because they are programs. */
  readonly programs: readonly string[]
  /** npm packages that package.json lists for run time, and those that `docs/dependencies.md` explains. */
  readonly dependencies: readonly string[]
  readonly explained: readonly string[]
}

const roomOf = (path: string, { divided }: Pick<Project, 'divided'>): string | null => {
  const [top = '', next = '', ...rest] = path.split('/')
  if (next === '') return null
  return divided.includes(top) && rest.length > 0 ? `${top}/${next}` : top
}

const floorOf = (room: string, { floors }: Pick<Project, 'floors'>): number | undefined =>
  floors[room.split('/')[0] ?? '']

/** The package of a bare specifier: `@scope/name/deep` is `@scope/name`. */
const packageOf = (specifier: string): string => specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/')

/** The sources that each source imports, as paths from `src/`. */
function graphOf({ sources }: Project): ReadonlyMap<string, readonly string[]> {
  return new Map(
    [...sources].map(([path, text]) => [
      path,
      readSource(text)
        .imports.filter((specifier) => specifier.startsWith('.'))
        .map((specifier) => posix.join(posix.dirname(path), specifier)),
    ]),
  )
}

/** Imports go down only, between faces; rooms of one floor do not know each other. */
export function floorViolations(project: Project): readonly string[] {
  const found: string[] = []
  for (const [path, targets] of graphOf(project)) {
    const room = roomOf(path, project)
    for (const target of targets) {
      const other = roomOf(target, project)
      if (!project.sources.has(target)) found.push(`${path} imports ${target}, which does not exist`)
      if (other === null || room === other) continue
      if (!project.faces.includes(target)) found.push(`${path} reaches into ${other}: ${target} is no face`)
      if (room === null) continue
      const [from, to] = [floorOf(room, project), floorOf(other, project)]
      if (from === undefined || to === undefined) continue
      if (to > from) found.push(`${path} imports up: ${room} (${from}) from ${other} (${to})`)
      if (to === from) found.push(`${path} imports sideways: ${room} and ${other} are both on floor ${to}`)
    }
    if (room !== null && targets.includes('index.ts')) found.push(`${path} imports the package's own front door`)
  }
  return found
}

/** Circles of imports, types included; each is told once. */
export function cycles(project: Project): readonly string[] {
  const graph = graphOf(project)
  const state = new Map<string, 'open' | 'closed'>()
  const found: string[] = []
  const visit = (path: string, trail: readonly string[]): void => {
    if (state.get(path) === 'closed') return
    if (state.get(path) === 'open') {
      found.push([...trail.slice(trail.indexOf(path)), path].join(' → '))
      return
    }
    state.set(path, 'open')
    for (const target of graph.get(path) ?? []) visit(target, [...trail, path])
    state.set(path, 'closed')
  }
  for (const path of graph.keys()) visit(path, [])
  return found
}

/** Every folder has a floor, and every room a face. */
export function roomViolations(project: Project): readonly string[] {
  const found: string[] = []
  const rooms = new Set([...project.sources.keys()].flatMap((path) => roomOf(path, project) ?? []))
  for (const room of rooms) {
    if (floorOf(room, project) === undefined) found.push(`src/${room}/ has no floor`)
    if (project.programs.includes(room)) continue
    if (!project.faces.some((face) => face.startsWith(`${room}/`)))
      found.push(`src/${room}/ has no face in package.json`)
  }
  for (const face of project.faces) {
    if (!project.sources.has(face)) found.push(`package.json exports src/${face}, which does not exist`)
    if (posix.basename(face) !== 'index.ts') found.push(`package.json exports src/${face}, which is no index.ts`)
  }
  const vague = /(?:^|\/)(?:utils?|helpers?|common|misc)(?:\/|\.ts$)/
  for (const path of project.sources.keys()) if (vague.test(path)) found.push(`src/${path} says nothing by its name`)
  return found
}

const holes: readonly (readonly [RegExp, string])[] = [
  [/(?<![.\w$])any(?!\s*[:(]|[\w$])/, 'any'],
  [/[\w$)\]]!(?!=)/, 'a non-null assertion'],
]
const silencers = /@ts-(?:ignore|nocheck|expect-error)/

/** Ways around the type system. */
export function typeHoles({ sources }: Pick<Project, 'sources'>): readonly string[] {
  return [...sources].flatMap(([path, text]) => {
    const { code, comments } = readSource(text)
    const found = holes.flatMap(([pattern, name]) => {
      const at = code.search(pattern)
      return at === -1 ? [] : [`src/${path} uses ${name}: ${code.slice(Math.max(0, at - 20), at + 20).trim()}`]
    })
    return silencers.test(comments) ? [...found, `src/${path} silences the compiler`] : found
  })
}

/** npm packages: what is used is declared, and what is declared is explained. */
export function dependencyViolations({ sources, dependencies, explained }: Project): readonly string[] {
  const found = [...sources].flatMap(([path, text]) =>
    readSource(text)
      .imports.filter((specifier) => !specifier.startsWith('.') && !specifier.startsWith('node:'))
      .map(packageOf)
      .filter((name) => !dependencies.includes(name))
      .map((name) => `src/${path} uses ${name}, which is no dependency of package.json`),
  )
  for (const name of dependencies) {
    if (!explained.includes(name)) found.push(`docs/dependencies.md does not explain ${name}`)
  }
  for (const name of explained) {
    if (!dependencies.includes(name)) found.push(`docs/dependencies.md explains ${name}, which is no dependency`)
  }
  return found
}
