import { z } from 'zod'

/** Scopes that one request names, repetitions included. */
const mostScopes = 16

/** The scopes that a new key is to have. */
export const scopesOf = <S extends z.ZodType>(scope: S) => z.array(scope).min(1).max(mostScopes)
