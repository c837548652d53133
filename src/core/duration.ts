import { z } from 'zod'

const units = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const

/** A length of time as people write it: `90s`, `30m`, `6h`, `7d`, `2w`. Parsed, it is in milliseconds. */
export const Duration = z
  .string()
  .regex(/^\d{1,6}\s*[smhdw]$/, 'write 30m, 6h or 7d')
  .transform((text) => Number.parseInt(text, 10) * units[text.at(-1) as keyof typeof units])
