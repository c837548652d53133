import { randomUUID } from 'node:crypto'
import {
  lexicalEmbedder,
  memory,
  type MemoryItem,
  type MemoryKind,
  type MemoryMade,
  type MemoryValue,
  noArchive,
  type ParameterDefinition,
  prepareMemory,
  reaches,
  storedValue,
  valueIn,
} from '../../agent/index.ts'
import {
  type Audience,
  type Embedder,
  type ParameterName,
  type ParameterValue,
  type Propensity,
  rng,
  type Version,
  type VersionId,
} from '../../core/index.ts'
import { InvariantError } from '../../errors/index.ts'
import type { MemoryConfig } from '../config.ts'

/** The Parameter that an agent's memory is. */
export const memoryParameter: ParameterName = 'memory'

/** One for all: an index is made for one embedder, and what prepares a memory is declared apart from what recalls from it. */
const words = lexicalEmbedder()
const models = new Map<string, Promise<Embedder>>()

/**
 * What makes vectors for a memory: of words, or the sentence model that it names, which a process opens once.
 * @throws ModelNotFoundError where it was not pulled, and where its folder lacks a file.
 * @throws ModelUseError, MalformedModelError for what is no sentence model.
 */
export async function embedderOf({ embedder: model }: Pick<MemoryConfig, 'embedder'>): Promise<Embedder> {
  if (model === undefined) return words
  const known = models.get(model)
  if (known) return known
  // With the engine: a gateway that asks other servers loads it for this alone.
  const opening = import('../../model/index.ts').then(({ openSentenceEmbedder }) => openSentenceEmbedder({ model }))
  models.set(model, opening)
  opening.catch(() => models.delete(model))
  return opening
}

/**
 * The memory that a configured agent begins with. Its numbers stay whatever becomes of `memory()`'s defaults: with others it
 * would be another agent, which the registry refuses.
 */
export const declaredMemory = (embedder: Embedder): ParameterDefinition<MemoryKind> =>
  memory({ recall: 4, floor: 0.35, minTrust: 0.25, explore: 0.05, embedder })

/** The memory of an agent, whichever Version of it serves. */
export interface AgentMemory {
  /** Its value before anything was learned: empty. */
  readonly initial: ParameterValue
  /** @returns `null` for a value of another Kind. */
  serving(version: Version, generation: number): ServedMemory | null
}

/** The memory that a session recalls from. */
export interface ServedMemory {
  /** The name of its Kind. */
  readonly kind: string
  readonly version: VersionId
  /**
   * @param query what was asked.
   * @throws MemoryError for a memory of archives or of another embedder, which a gateway has not.
   */
  recall(query: string, audience: Audience): Promise<Recollected>
  /** Whether it still has all that was shown, and for whom: an erasure takes items from a Version. */
  holds(recalled: Pick<Recollected, 'made'>, audience: Audience): boolean
  /** Makes it ready to recall at once. @throws MemoryError as {@link recall} does. */
  prepare(): Promise<void>
}

/** What a memory recalled for one query. */
export interface Recollected {
  /** What the model is to read before what was asked; `null` where nothing is near enough, or chance left all of it out. */
  readonly text: string | null
  readonly made: MemoryMade
  readonly propensity: Propensity
}

/** @throws what {@link embedderOf} throws. */
export async function agentMemory(config: MemoryConfig): Promise<AgentMemory> {
  const embedder = await embedderOf(config)
  const declared = declaredMemory(embedder)
  const kind = declared.of
  return {
    initial: storedValue(
      memoryParameter,
      kind,
      declared.initial(() => ''),
    ),
    serving: (version, generation) =>
      version.value.kind === kind.kind ? servedMemory(kind, embedder, version, generation) : null,
  }
}

function servedMemory(kind: MemoryKind, embedder: Embedder, { id, value }: Version, generation: number): ServedMemory {
  const inForce = { version: id, generation, checkpoint: null }
  const read = () => valueIn(memoryParameter, kind, value)
  return {
    kind: kind.kind,
    version: id,
    async prepare() {
      const { archives: [archive] = [] } = read()
      if (archive !== undefined) throw noArchive(archive)
      await prepareMemory(read(), embedder)
    },
    holds({ made }, audience) {
      const shown = made.did === 'recall' ? made.items.filter((one) => one.shown) : []
      if (shown.length === 0) return true
      const owners = ownersIn(read())
      return shown.every(({ id }) => {
        const owner = owners.get(id)
        return owner !== undefined && reaches(owner, audience)
      })
    },
    async recall(query, audience) {
      const decided: Pick<Recollected, 'made' | 'propensity'>[] = []
      const bound = { kind: kind.kind, inForce, value: read(), audience }
      // As long as from a full one: beside a canary the arms would differ.
      if (bound.value.items.length === 0) await embedder.embed([query])
      const recorder = { decide: (one: Pick<Recollected, 'made' | 'propensity'>) => void decided.push(one) }
      const handle = kind.handle({ ...bound, rng: rng('recall', randomUUID()) }, recorder, memoryParameter)
      const [message] = await handle.recall(query)
      const [decision] = decided
      if (decision === undefined) throw new InvariantError('a memory recalled without a decision')
      return { text: message?.content ?? null, ...decision }
    },
  }
}

const owners = new WeakMap<MemoryValue, ReadonlyMap<string, MemoryItem['owner']>>()

/** Whose each item is. Of a value that was read: the same for the same one. */
function ownersIn(value: MemoryValue): ReadonlyMap<string, MemoryItem['owner']> {
  const known = owners.get(value) ?? new Map(value.items.map(({ id, owner }) => [id, owner]))
  owners.set(value, known)
  return known
}
