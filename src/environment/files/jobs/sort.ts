import type { Rng } from '../../../core/index.ts'
import { present } from '../../../errors/index.ts'
import type { FilesTaskData } from '../task-data.ts'
import { keys, shelves } from '../words.ts'
import { writeNote } from './note.ts'
import { type JobSize, keptFlags } from './size.ts'

/**
 * An inbox of notes, each with a folder under two keys. The key of the job names the folder that the note belongs in, the
 * other key another one; kept notes stay in the inbox.
 */
export function makeSort(words: readonly string[], size: JobSize, random: Rng): FilesTaskData {
  const names = random.shuffle(words).slice(0, size.notes)
  const [key, other] = random.shuffle(keys) as [string, string]
  // Folders are dealt in turns, so that no job has a single one.
  const dealt = random.shuffle(shelves)
  const kept = keptFlags(size, random)
  const files: Record<string, string> = {}
  const changes: Record<string, string | null> = {}
  for (const [at, name] of names.entries()) {
    const folder = present(dealt[at % dealt.length], 'a folder')
    const tempting = present(dealt[(at + 1 + random.int(dealt.length - 1)) % dealt.length], 'another folder')
    const text = writeNote({ [key]: folder, [other]: tempting }, kept[at] === true, random)
    files[`inbox/${name}`] = text
    if (kept[at] !== true) Object.assign(changes, { [`inbox/${name}`]: null, [`${folder}/${name}`]: text })
  }
  return { job: { kind: 'sort', key }, files, changes }
}
