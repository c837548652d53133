import type { Index } from 'usearch'
import { noVectorIndex } from '../errors/archive-error.ts'

/** Neighbours of a vector in the graph, and candidates that are kept while it is added, and while one is searched for. */
const [connectivity, addWidth, searchWidth] = [16, 128, 128] as const

/**
 * An empty index: a graph of near neighbours (HNSW: Malkov and Yashunin 2016), by usearch. It keeps a signed byte a number,
 * in which a vector has the length 127: enough to find what may be near, and not to compare in full.
 * @throws ArchiveError (`store/no-vector-index`) where the package is not installed.
 */
export async function vectorIndex(dimensions: number): Promise<Index> {
  const { Index, MetricKind, ScalarKind } = await import('usearch').catch((error: unknown) => {
    throw noVectorIndex(error)
  })
  return new Index({
    dimensions,
    metric: MetricKind.Cos,
    quantization: ScalarKind.I8,
    connectivity,
    expansion_add: addWidth,
    expansion_search: searchWidth,
    multi: false,
  })
}
