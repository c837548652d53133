import type { Json } from './json.ts'

/**
 * A language that a continuation is held to. Plain data, so that it crosses threads and becomes a cache's key.
 *
 * - `text`: exactly this text.
 * - `json`: the JSON texts of values that a JSON Schema accepts, with at most 16 characters of white space in a place. It
 *   may be fewer than the schema accepts, never others: an object that names its properties holds no others, in their order.
 * - `sequence`: one after the other.
 * - `or`: any of them.
 * - `several`: it, once or more often, with a text between two.
 */
export type Grammar =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'json'; readonly schema: JsonSchema }
  | { readonly kind: 'sequence'; readonly of: readonly Grammar[] }
  | { readonly kind: 'or'; readonly of: readonly Grammar[] }
  | { readonly kind: 'several'; readonly of: Grammar; readonly between: string }

/** A JSON Schema: an object of keywords, or whether anything is accepted. */
export type JsonSchema = boolean | { readonly [keyword: string]: Json }
