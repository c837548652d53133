import { z } from 'zod'
import { Json } from '../../core/index.ts'

/** The files of an archive. */
export const files = {
  manifest: 'archive.json',
  rows: 'rows.db',
  vectors: 'vectors.i16',
  index: 'vectors.usearch',
} as const

/** What an archive says of itself. */
export const Manifest = z.strictObject({
  format: z.literal(1),
  id: z.string().regex(/^[0-9a-f]{64}$/),
  /** What the rows are. */
  about: Json,
  embedder: z.strictObject({ name: z.string().min(1), dimensions: z.int().positive() }),
  size: z.int().positive(),
  /** Bytes of the other files: a copy that was cut is found by them. */
  bytes: z.strictObject({ rows: z.int().positive(), vectors: z.int().positive(), index: z.int().positive() }),
})
export type Manifest = z.infer<typeof Manifest>
