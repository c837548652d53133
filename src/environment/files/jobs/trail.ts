import type { Rng } from '../../../core/index.ts'
import { present } from '../../../errors/index.ts'
import type { FilesTaskData } from '../task-data.ts'
import { keys } from '../words.ts'
import { resultFile, writeNote } from './note.ts'
import { type JobSize, keptFlags } from './size.ts'

/**
 * Notes that name one another under two keys. The key of the job leads from note to note to the one with the result; the
 * other key leads to a trail of its own, whose end has a wrong result. Finished notes go to the archive, kept ones stay.
 */
export function makeTrail(words: readonly string[], size: JobSize, random: Rng): FilesTaskData {
  const sideNotes = Math.max(3, Math.ceil(size.notes / 2))
  const [result, wrongResult, ...names] = random.shuffle(words)
  const trail = names.slice(0, size.notes)
  const side = names.slice(size.notes, size.notes + sideNotes)
  const [key, other] = random.shuffle(keys) as [string, string]
  const files: Record<string, string> = {}
  const changes: Record<string, string | null> = { [`inbox/${resultFile}`]: present(result, 'a result') }

  const kept = keptFlags(size, random)
  for (const [at, name] of trail.entries()) {
    const next = trail[at + 1]
    const tempting = present(side[at % sideNotes], 'a side note')
    const facts = next === undefined ? { result: present(result, 'a result') } : { [key]: next, [other]: tempting }
    const text = writeNote(facts, kept[at] === true, random)
    files[`inbox/${name}`] = text
    if (kept[at] !== true) Object.assign(changes, { [`inbox/${name}`]: null, [`archive/${name}`]: text })
  }
  for (const [at, name] of side.entries()) {
    const next = side[at + 1]
    const before = present(side.at(at - 1), 'a side note')
    const facts = next === undefined ? { result: present(wrongResult, 'a result') } : { [key]: next, [other]: before }
    files[`inbox/${name}`] = writeNote(facts, random.int(3) === 0, random)
  }
  return { job: { kind: 'trail', key, start: present(trail[0], 'a first note') }, files, changes }
}
