import type { Span, TrajectoryNode } from '../core/index.ts'

/** Tokens, flat: which were sampled, and the log-probabilities that those were drawn with, in order. */
export interface FlatTokens {
  readonly ids: number[]
  readonly mask: boolean[]
  /** `null` where it is not told, of any of them, how it was drawn, or where the distribution was truncated. */
  readonly logprobs: number[] | null
}

export function flatten(spans: readonly Span[]): FlatTokens {
  const flat: FlatTokens = { ids: [], mask: [], logprobs: howDrawn(spans) === null ? null : [] }
  for (const span of spans) {
    for (const token of span.tokens) {
      flat.ids.push(token)
      flat.mask.push(span.kind === 'sampled')
    }
    if (span.kind === 'sampled') for (const lp of span.behaviourLogprobs ?? []) flat.logprobs?.push(lp)
  }
  return flat
}

/** The temperature that a node's tokens were sampled at; `null` where none were, or where it is not told how. */
export function temperatureOf({ spans }: Pick<TrajectoryNode, 'spans'>): number | null {
  return howDrawn(spans)?.temperature ?? null
}

/** `null` where it is not known with what log-probabilities tokens were drawn from a whole distribution. */
function howDrawn(spans: readonly Span[]): { readonly temperature: number | null } | null {
  const sampled = spans.filter((span) => span.kind === 'sampled')
  const told = sampled.every(({ sampling, behaviourLogprobs }) => !sampling.truncated && behaviourLogprobs !== null)
  return told ? { temperature: sampled[0]?.sampling.temperature ?? null } : null
}

/**
 * Spans of tokens that another system recorded. Sampled ones keep their log-probabilities when they were drawn from the
 * whole distribution at temperature 1, where both kinds are the same number; otherwise what is known does not suffice, and
 * the tokens are context.
 * @param logprobs one for each sampled token, in order.
 */
export function unflatten(
  ids: readonly number[],
  mask: readonly boolean[],
  logprobs: readonly number[],
  plain: boolean,
): readonly Span[] {
  const sampled = mask.filter(Boolean).length
  if (ids.length === 0) return []
  if (!plain || logprobs.length !== sampled || ids.length !== mask.length)
    return [{ kind: 'encoded', tokens: [...ids] }]
  const spans: Span[] = []
  let next = 0
  for (let start = 0; start < ids.length; ) {
    const kind = mask[start]
    let end = start
    while (end < ids.length && mask[end] === kind) end++
    const tokens = ids.slice(start, end)
    if (kind) {
      const own = logprobs.slice(next, next + tokens.length).map((lp) => Math.min(0, lp))
      next += tokens.length
      spans.push({
        kind: 'sampled',
        tokens,
        behaviourLogprobs: own,
        logprobs: [...own],
        sampling: { temperature: 1, truncated: false },
      })
    } else spans.push({ kind: 'encoded', tokens })
    start = end
  }
  return spans
}
