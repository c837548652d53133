/** One body, as text that may be no JSON. */
export interface WorstBody {
  /** Where in the body what stands in great number. */
  readonly what: string
  readonly body: () => string
}

/** A route that takes a body. */
export interface WorstRoute {
  /** With its parameters filled in. */
  readonly path: string
  readonly route: string
  readonly bodies: readonly WorstBody[]
}

/** Bodies that cost a server the most for their bytes, of every route of an OpenAPI document. */
export function worstBodies(
  document: object,
  limits?: { readonly bytes?: number; readonly values?: number; readonly keys?: number },
): readonly WorstRoute[]
