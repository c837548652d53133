import type { Rng } from '../../../core/index.ts'

/** Where a trail's result is written. */
export const resultFile = 'result'

/** Lines of a note by what they begin with: `red forest` is `red` → `forest`. A line without a space is left out. */
export function readNote(text: string): ReadonlyMap<string, string> {
  return new Map(text.split('\n').flatMap((line) => (line.includes(' ') ? [partAtSpace(line)] : [])))
}

function partAtSpace(line: string): [string, string] {
  const at = line.indexOf(' ')
  return [line.slice(0, at), line.slice(at + 1)]
}

/** A note's text: one fact a line, key before value, in random order. `keep yes` says that the note stays where it is. */
export function writeNote(facts: Readonly<Record<string, string>>, keep: boolean, random: Rng): string {
  const lines = Object.entries({ ...facts, keep: keep ? 'yes' : 'no' }).map(([key, value]) => `${key} ${value}`)
  return random.shuffle(lines).join('\n')
}
