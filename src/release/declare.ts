import {
  AlertId,
  contentHash,
  type ParameterName,
  type Release,
  type Repositories,
  type Version,
  type VersionId,
  type VersionSet,
} from '../core/index.ts'
import { present } from '../errors/index.ts'
import { activatedBeside } from './beside.ts'
import { InitialChangedError } from './errors.ts'
import { activate, differences, keepRelease, newRelease, releaseOf, versionSetOf } from './release-record.ts'

/** Declarations that are looked through, at most: the newest. */
const mostDeclarations = 1_000

/** What a declaration makes of what serves. */
interface Declared {
  readonly versions: VersionSet
  /** Declared anew, while a learned Version serves. */
  readonly overlooked: readonly Version[]
}

/**
 * Records an agent as its code declares it, and lets that serve as far as nothing learned stands in its place. A declaration
 * changes something once: when it is seen first. Whoever declares again what was declared before, a restart or a process
 * with older code, changes nothing; so two that differ do not take turns. Each is kept as a release that rests on no receipt:
 * the agent with everything learned turned off.
 * @returns that release.
 */
export async function declare(
  tx: Repositories,
  agent: string,
  versions: readonly Version[],
  at: number,
): Promise<Release> {
  const nothing = { receipt: null, run: null }
  const asDeclared = newRelease({ agent, versions: versionSetOf(versions), createdAt: at }, nothing)
  const known = await tx.releases.get(asDeclared.id)
  if (known) return known
  const activation = await tx.releases.current(agent)
  const earlier = await tx.releases.list({ agent, asDeclared: true, limit: mostDeclarations })
  const serving = activation && (await releaseOf(tx, activation))
  const next = serving && declaredOver(serving.versions, versions, earlier)
  for (const version of versions) await tx.versions.put(version)
  await tx.releases.put(asDeclared)
  if (!activation || !serving || !next) {
    await tx.releases.activate({ agent, release: asDeclared.id, reason: 'initial', generation: 1, at })
    return asDeclared
  }
  for (const version of next.overlooked) await tellOverlooked(tx, asDeclared, version, serving, at)
  if (differences(next.versions, serving.versions).length === 0) return asDeclared
  const changed = { agent, versions: next.versions, createdAt: at }
  // What was learned of the others rests on what it rested on before.
  const { receipt, run } = serving
  const made = await keepRelease(tx, newRelease(changed, receipt === null ? nothing : { receipt, run }))
  const activated = await activate(tx, activation, made, 'declared', at)
  await activatedBeside(tx, serving, activated, made)
  return asDeclared
}

/**
 * A declaration over what serves. A Parameter that does not serve joins; one that serves as it was once declared becomes as it
 * is declared now; one that was learned stays. What was declared once and is no more is left out.
 * @throws InitialChangedError where something else than a text is declared otherwise.
 */
function declaredOver(serving: VersionSet, versions: readonly Version[], earlier: readonly Release[]): Declared {
  const once = new Map<ParameterName, Set<VersionId>>()
  for (const release of earlier) {
    for (const [parameter, id] of Object.entries(release.versions)) {
      once.set(parameter, (once.get(parameter) ?? new Set()).add(id))
    }
  }
  refuseOthers(versions, once, present(earlier[0], 'an earlier declaration').agent)
  const next: VersionSet = {}
  for (const [parameter, id] of Object.entries(serving)) if (!once.has(parameter)) next[parameter] = id
  const overlooked: Version[] = []
  for (const version of versions) {
    const { parameter, id } = version
    const serves = serving[parameter]
    const learned = serves !== undefined && serves !== id && !once.get(parameter)?.has(serves)
    next[parameter] = learned ? serves : id
    if (learned && !once.get(parameter)?.has(id)) overlooked.push(version)
  }
  return { versions: next, overlooked }
}

/** Weights rest on their base, and what was learned of them is nothing on another. */
function refuseOthers(
  versions: readonly Version[],
  once: ReadonlyMap<ParameterName, ReadonlySet<VersionId>>,
  agent: string,
): void {
  const changed = versions.flatMap(({ parameter, id, value }) => {
    const known = once.get(parameter)
    return known && value.kind !== 'text' && !known.has(id) ? [parameter] : []
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
