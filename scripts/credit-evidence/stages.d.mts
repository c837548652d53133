import type { Policy } from './policy.mjs'

export const worth: (policy: Policy) => number
