import {
  asText,
  AlertId,
  contentHash,
  type ParameterName,
  type Release,
  ReleaseId,
  type Repositories,
  type Store,
  tellOnce,
  type Version,
  type VersionId,
  type VersionSet,
} from '../core/index.ts'
import { RatchetError } from '../errors/index.ts'
import { activatedBeside } from './beside.ts'
import { InitialChangedError, UnknownAgentError } from './errors.ts'
import { activate, differences, keepRelease, newRelease, releaseOf, versionSetOf } from './release-record.ts'

/** Declarations that are looked through, at most: the newest. */
const mostDeclarations = 1_000

/** The Versions of each Parameter that declarations have, by Parameter. */
type DeclaredOnce = ReadonlyMap<ParameterName, ReadonlySet<VersionId>>

const nothing = { receipt: null, run: null }

const atOnce: ReadonlySet<string> = new Set(['store/record-conflict', 'store/generation-conflict'])
/** Times that other processes may come first. */
const mostAtOnce = 5

/**
 * Records an agent as its code declares it, and lets that serve as far as nothing learned stands in its place. A declaration
 * changes texts once: when it is seen first. Whoever declares again what was declared before, a restart or a process with
 * other code, changes none of them, so that two that differ do not take turns; an Alert tells of a text that does not serve
 * so. A declaration takes no Parameter away: programs that still run may need it, and one that does not declare it does not
 * ask for it. Each declaration is kept as a release that rests on no receipt: the agent with everything learned turned off.
 * @returns that release.
 */
export async function declare(store: Store, agent: string, versions: readonly Version[], at: number): Promise<Release> {
  for (let left = mostAtOnce; ; left--) {
    try {
      return await store.transaction((tx) => declareIn(tx, agent, versions, at))
    } catch (error) {
      // Another process declared it at the same time: now what that one did is known.
      if (left === 0 || !RatchetError.is(error) || !atOnce.has(error.code)) throw error
    }
  }
}

async function declareIn(tx: Repositories, agent: string, versions: readonly Version[], at: number): Promise<Release> {
  const made = newRelease({ agent, versions: versionSetOf(versions), createdAt: at }, nothing)
  const known = await tx.releases.get(made.id)
  const asDeclared = known ?? made
  const activation = await tx.releases.current(agent)
  const serving = activation && (await releaseOf(tx, activation))
  if (known && versions.every(({ parameter, id }) => serving?.versions[parameter] === id)) return known
  const once = declaredOnce(await tx.releases.list({ agent, asDeclared: true, limit: mostDeclarations }))
  if (!known) {
    if (serving) refuseOthers(versions, once, agent)
    for (const version of versions) await tx.versions.put(version)
    await tx.releases.put(asDeclared)
  }
  if (!activation || !serving) {
    await tx.releases.activate({ agent, release: asDeclared.id, reason: 'initial', generation: 1, at })
    return asDeclared
  }
  const next: VersionSet = { ...serving.versions }
  for (const version of versions) {
    const { parameter, id } = version
    const serves = next[parameter]
    const declared = serves === undefined || once.get(parameter)?.has(serves) === true
    if (serves === undefined || (declared && !known)) next[parameter] = id
    else if (serves === id) continue
    else if (declared) await tellOtherServes(tx, asDeclared, version, serving, at)
    else if (!known && !once.get(parameter)?.has(id)) await tellOverlooked(tx, asDeclared, version, serving, at)
  }
  if (differences(next, serving.versions).length === 0) return asDeclared
  const joined = await keepRelease(tx, joinedRelease(asDeclared, next, serving, at))
  await activatedBeside(tx, serving, await activate(tx, activation, joined, 'declared', at), joined)
  return asDeclared
}

/**
 * The agent as it was declared last, by a declaration that was new then, and beside it, as they were declared last, the
 * Parameters that this one lacks: a program that still declares them goes on.
 */
export async function declaredLast(tx: Repositories, agent: string, at: number): Promise<Release> {
  const kept = await tx.releases.list({ agent, asDeclared: true, limit: mostDeclarations })
  const declarations = kept.filter(isDeclaration)
  const [newest] = declarations
  if (!newest) throw new UnknownAgentError(agent)
  const versions = Object.fromEntries(declarations.toReversed().flatMap((release) => Object.entries(release.versions)))
  return keepRelease(tx, joinedRelease(newest, versions, newest, at))
}

/** Whether a release that rests on no receipt is what one code declared, and not joined of several. */
const isDeclaration = ({ id, agent, versions, createdAt }: Release): boolean =>
  newRelease({ agent, versions, createdAt }, nothing).id === id

/** The Parameters that the agent was ever declared with, by whatever code. */
export async function declaredParameters(
  { releases }: Pick<Repositories, 'releases'>,
  agent: string,
): Promise<ReadonlySet<ParameterName>> {
  return new Set(declaredOnce(await releases.list({ agent, asDeclared: true, limit: mostDeclarations })).keys())
}

/**
 * A set of Versions as a release: it rests on what the latest that was learned of it rests on. Where nothing was, it is what
 * was declared so, and else has an id that no declaration has.
 * @param on how its Parameters came to serve: of those that were declared so it counts for nothing.
 */
export async function releaseResting(
  tx: Pick<Repositories, 'releases'>,
  { agent, versions }: Pick<Release, 'agent' | 'versions'>,
  on: readonly RestsOn[],
  at: number,
): Promise<Release> {
  const declarations = await tx.releases.list({ agent, asDeclared: true, limit: mostDeclarations })
  const once = declaredOnce(declarations)
  const learned = on.filter(({ parameter, version }) => once.get(parameter)?.has(version) !== true)
  const [latest] = learned.toSorted((a, b) => b.generation - a.generation)
  const same = declarations.find((release) => differences(release.versions, versions).length === 0)
  const [newest] = declarations
  if (!newest) throw new UnknownAgentError(agent)
  return keepRelease(tx, joinedRelease(same ?? newest, versions, latest?.release ?? { ...newest, ...nothing }, at))
}

/** How one Parameter of a release came to serve. */
interface RestsOn {
  readonly parameter: ParameterName
  readonly version: VersionId
  readonly generation: number
  readonly release: Release
}

function declaredOnce(declarations: readonly Release[]): DeclaredOnce {
  const once = new Map<ParameterName, Set<VersionId>>()
  for (const { versions } of declarations) {
    for (const [parameter, id] of Object.entries(versions)) {
      once.set(parameter, (once.get(parameter) ?? new Set()).add(id))
    }
  }
  return once
}

/**
 * A release of what is declared joined with what serves. What was learned of that rests on what it rested on before. Where
 * nothing was, it is the declaration itself if it has the same Versions, and else has an id that no declaration has.
 */
function joinedRelease(asDeclared: Release, versions: VersionSet, { receipt, run }: Release, at: number): Release {
  const { agent } = asDeclared
  if (receipt !== null) return newRelease({ agent, versions, createdAt: at }, { receipt, run })
  if (differences(versions, asDeclared.versions).length === 0) return asDeclared
  const id = ReleaseId.parse(contentHash({ agent, versions, joined: true }).slice(0, 16))
  return { id, agent, versions, createdAt: at, ...nothing }
}

/** Weights rest on their base, and what was learned of them is nothing on another. */
function refuseOthers(versions: readonly Version[], once: DeclaredOnce, agent: string): void {
  const changed = versions.flatMap(({ parameter, id, value }) => {
    const known = once.get(parameter)
    return known && asText(value) === null && !known.has(id) ? [parameter] : []
  })
  if (changed.length > 0) throw new InitialChangedError(agent, changed)
}

/** Tells the owner, once, that an edit waits. */
async function tellOverlooked(
  { alerts }: Pick<Repositories, 'alerts'>,
  { agent, id: release }: Release,
  { parameter, id }: Version,
  serving: Release,
  at: number,
): Promise<void> {
  await alerts.put({
    id: AlertId.parse(contentHash({ agent, declared: id, release }).slice(0, 16)),
    agent,
    kind: 'declared',
    name: parameter,
    message: `The text of "${parameter}" was edited where it is declared, and a learned one serves: that one stays. To compare them, \`ratchet try\` with the edited text; \`ratchet rollback ${release}\` lets it serve, with everything learned turned off.`,
    evidence: { declared: id, serves: serving.versions[parameter] ?? null, release: serving.id },
    run: null,
    at,
  })
}

/**
 * Tells the owner that a text is declared as it was before, and another one that was declared serves: the edit was taken
 * back, or programs of different code run. Once, until the owner changes again what serves.
 */
async function tellOtherServes(
  { alerts, releases }: Pick<Repositories, 'alerts' | 'releases'>,
  { agent, id: release }: Release,
  { parameter, id }: Version,
  serving: Release,
  at: number,
): Promise<void> {
  const serves = serving.versions[parameter] ?? null
  const since = (await releases.activations(agent)).findLast(({ reason }) => reason !== 'promote')?.generation ?? 1
  await tellOnce(alerts, {
    id: AlertId.parse(contentHash({ agent, declaredAgain: id, release, serves, since }).slice(0, 16)),
    agent,
    kind: 'declared',
    name: parameter,
    message: `A program started that declares the text of "${parameter}" as it was declared before, and another declared one serves: that one stays, so that programs of different code take no turns. If you took an edit back, \`ratchet rollback ${release}\` lets the text serve that the program declares, with everything learned turned off.`,
    evidence: { declared: id, serves, release: serving.id },
    run: null,
    at,
  })
}
