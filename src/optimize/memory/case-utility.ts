import {
  archiveIds,
  assertSameEmbedder,
  lexicalEmbedder,
  type MemoryArchive,
  memoryBounds,
  MemoryError,
  type MemoryKind,
  problemsOf,
} from '../../agent/index.ts'
import { type Embedder, type Optimizer } from '../../core/index.ts'
import { z } from 'zod'
import { bars } from './bars.ts'
import { memoryOptimizer } from './memory-optimizer.ts'
import type { MemoryPart } from './part.ts'
import { prune } from './prune.ts'
import { itemUtilities } from './utilities.ts'
import { writeCases } from './write-cases.ts'

/** How a memory of cases learns. */
export interface CaseUtilityOptions {
  /** MemRL's α in (0, 1]: how fast a utility follows what episodes earn. Default 0.2. */
  readonly rate?: number
  /** The chance in [0, 0.5] that an item is left out of an attempt in practice. Default 0.1. */
  readonly explore?: number
  /**
   * The chance in [0, 1] that an attempt in practice recalls nothing at all: 0.5 where weights learn beside it by
   * `stripExperience`, so that each group has attempts with and without. Default: the memory's own.
   */
  readonly withhold?: number
  /** The chance in [0, 0.5] that an item which did harm is recalled in an update of practice, to see whether it still does. Default 0.1. */
  readonly retry?: number
  /** Days after which an item that did harm is recalled again and judged anew. Default 14. */
  readonly barDays?: number
  /** Items at most, up to 100,000. Default 2,000. */
  readonly capacity?: number
  /** Write down what did not work, too. Default false. */
  readonly failures?: boolean
  /**
   * Whom a case reaches that a person's session taught: `subject`, that person alone, or `tenant`, everybody of the tenant.
   * Default `subject`. What practice taught reaches everybody.
   */
  readonly share?: 'subject' | 'tenant'
  /** Cosine in (0, 1] from which two cues ask the same. Default 0.95. */
  readonly alike?: number
  /** Bytes of one case's text, at most 8,192. Default 2,048. */
  readonly textBytes?: number
  /** Days after which what was learned of an episode is forgotten; `null`: not by age. Default `null`. */
  readonly days?: number | null
  /** What a thousand tokens in the prompt must bring, in the unit of utilities. Default 0.02. */
  readonly tokenPrice?: number
  /** The memory's own. Default: that of `memory()`. */
  readonly embedder?: Embedder
  /** What the memory recalls from beside its items; others are what the learned memory recalls from. Default: none. */
  readonly archives?: readonly MemoryArchive[]
  /** What learns on the same memory after it: `caseSelector()`, `caseExemplars()`, `insights()`. */
  readonly also?: readonly MemoryPart[]
}

const Numbers = z.object({
  rate: z.number().positive().max(1).default(0.2),
  explore: z.number().min(0).max(0.5).default(0.1),
  withhold: z.number().min(0).max(1).optional(),
  retry: z.number().min(0).max(0.5).default(0.1),
  barDays: z.number().positive().default(14),
  capacity: z.int().positive().max(memoryBounds.items).default(2_000),
  alike: z.number().positive().max(1).default(0.95),
  textBytes: z.int().positive().max(memoryBounds.textBytes).default(2_048),
  days: z.number().positive().nullable().default(null),
  tokenPrice: z.number().nonnegative().default(0.02),
  failures: z.boolean().default(false),
  share: z.enum(['subject', 'tenant']).default('subject'),
})

const dayMs = 24 * 60 * 60 * 1_000

/**
 * Learns a memory of cases from episodes' outcomes: it writes down what worked, moves the utilities of what was recalled
 * (MemRL), supersedes what is contradicted, and drops what is not worth its rent. Works on practice and on traffic alike.
 * @throws MemoryError for a number out of its range, and for an archive of another embedder.
 */
export function caseUtility(options: CaseUtilityOptions = {}): Optimizer<MemoryKind> {
  const { embedder = lexicalEmbedder(), archives = [], also = [] } = options
  archiveIds(archives)
  for (const archive of archives) assertSameEmbedder(archive.embedder, embedder)
  const { success, data, error } = Numbers.safeParse(options)
  if (!success) throw badOptions(error)
  const { rate, explore, withhold, retry, barDays, capacity, tokenPrice, days, share, ...write } = data
  const parts = [
    itemUtilities(rate, write.textBytes),
    writeCases(write),
    ...also,
    bars({ retry, barFor: barDays * dayMs, textBytes: write.textBytes }),
    prune({ capacity, tokenPrice }),
  ]
  const forgetAfter = days === null ? null : days * dayMs
  const acting = { explore, withhold }
  return memoryOptimizer({ name: 'case-utility', parts, acting, embedder, archives, share, forgetAfter })
}

const badOptions = (error: z.ZodError) =>
  new MemoryError({
    code: 'memory/bad-options',
    message: `caseUtility: ${problemsOf(error)}.`,
    hint: 'See CaseUtilityOptions for what each may be.',
  })
