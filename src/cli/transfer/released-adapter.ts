import {
  asWeights,
  type BlobHash,
  branches,
  parseInput,
  type Release,
  ReleaseId,
  type Repositories,
  type Store,
  type Version,
  visible,
  type WeightsValue,
} from '../../core/index.ts'
import { InputError } from '../../errors/index.ts'
import { Registry, UnknownReleaseError } from '../../release/index.ts'
import { type AgentFlags, agentOf } from '../commands/release/agent.ts'

export interface AdapterFlags extends AgentFlags {
  /** Default: what serves. */
  readonly release?: string
  /** Which weights, where the release has several. */
  readonly parameter?: string
}

/** An adapter whose bytes are in the store, and the release that has it. */
export interface ReleasedAdapter extends Pick<WeightsValue, 'base' | 'baseHash'> {
  readonly release: Release
  readonly version: Version
  readonly adapter: BlobHash
}

/**
 * The adapter of a release.
 * @throws UnknownAgentError, UnknownReleaseError
 * @throws InputError `input/which-agent`, `input/which-weights` where the flags do not say which one; `input/no-adapter` where
 * there is none; `input/adapter-at-trainer` where only its trainer's server has it.
 */
export async function releasedAdapter(store: Store, flags: AdapterFlags): Promise<ReleasedAdapter> {
  const release = await releaseOf(store, flags)
  const { version, value } = await weightsOf(store, release, flags.parameter)
  const { base, baseHash, adapter } = value
  const which = `The weights "${version.parameter}" of ${visible(release.agent)} in release ${release.id}`
  if (adapter === null) {
    throw new InputError({
      code: 'input/no-adapter',
      message: `${which} are the base model as it is, ${visible(base)}.`,
      hint: 'There is an adapter once a run has released what it learned: see `ratchet releases`, and name one with --release.',
    })
  }
  if (typeof adapter === 'string') return { release, version, base, baseHash, adapter }
  throw new InputError({
    code: 'input/adapter-at-trainer',
    message: `${which} are kept at their trainer, as ${visible(adapter.uri.slice(0, 200))}.`,
    hint: 'Download them there: `checkpoints` of openTinkerModel in a program (docs/trainers.md).',
  })
}

async function releaseOf(store: Store, flags: AdapterFlags): Promise<Release> {
  if (flags.release === undefined) {
    return (await new Registry(store).current(await agentOf(store, flags))).release
  }
  const id = parseInput(ReleaseId, flags.release, 'The release')
  const release = await store.releases.get(id)
  if (release && (flags.agent ?? release.agent) === release.agent) return release
  throw new UnknownReleaseError(await agentOf(store, flags), id)
}

async function weightsOf({ versions }: Pick<Repositories, 'versions'>, release: Release, parameter?: string) {
  const found: { readonly version: Version; readonly value: WeightsValue }[] = []
  for (const id of Object.values(release.versions)) {
    const version = await versions.get(id)
    const value = asWeights(version?.value)
    if (version && value) found.push({ version, value })
  }
  const wanted = found.filter(({ version }) => (parameter ?? version.parameter) === version.parameter)
  const [only] = wanted
  if (only && wanted.length === 1) return only
  const names = found.map(({ version }) => version.parameter).join(', ')
  const named = parameter === undefined ? '' : ` "${visible(parameter)}"`
  throw new InputError({
    code: 'input/which-weights',
    message: `The release ${release.id} has ${wanted.length === 0 ? 'no' : 'several'} weights${named}.`,
    hint:
      names === ''
        ? 'Name a release that has an adapter with --release.'
        : `Name one of these with --parameter: ${names}.`,
  })
}

/** Episodes that are read to compare on. */
const mostEpisodes = 8

/**
 * Tokens of episodes of the run that made an adapter: one branch of each of the latest ones, as far as they are tokens of this
 * vocabulary; none where they are not recorded.
 */
export async function recordedSequences(
  { trajectories }: Pick<Repositories, 'trajectories'>,
  { run }: Pick<Version, 'run'>,
  vocabularySize: number,
): Promise<readonly (readonly number[])[]> {
  if (run === null) return []
  return (await trajectories.list({ run, limit: mostEpisodes }))
    .map(({ trajectory }) =>
      (branches(trajectory)[0] ?? []).flatMap(({ spans }) => spans.flatMap(({ tokens }) => tokens)),
    )
    .filter((tokens) => tokens.length > 1 && tokens.every((token) => token < vocabularySize))
}
