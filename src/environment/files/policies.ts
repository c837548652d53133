import type { Episode } from '../../core/index.ts'
import { call, type Policy } from '../play.ts'
import { readNote, resultFile } from './jobs/note.ts'
import { type FilesJob, readFilesTask } from './task-data.ts'
import { type FileTool, fileArguments } from './tools.ts'

/** Longer trails than this are given up: a careless policy may walk in circles. */
const longestWalk = 12

/** What a scripted policy does at the decisions of a job. */
interface Habits {
  /** The value it takes from a note: the next note, or a folder. */
  readonly choose: (note: ReadonlyMap<string, string>, key: string) => string | undefined
  /** Whether it leaves kept notes where they are. */
  readonly keeps: boolean
  /** What it writes or where it sorts to, whatever the notes say; `null`: what they say. */
  readonly constant: { readonly result: string; readonly folder: string } | null
}

const careful: Habits = { choose: (note, key) => note.get(key), keeps: true, constant: null }

/** Reads each note, follows the key of the job, archives or sorts what is not kept. For priming only. */
export const filesExpert: Policy = scripted(careful)

/** Goes by whatever a note lists first. */
export const filesFirstLine: Policy = scripted({ ...careful, choose: (note) => choicesOf(note)[0]?.[1] })

/** Goes by a key that the job does not name. */
export const filesWrongKey: Policy = scripted({
  ...careful,
  choose: (note, key) => choicesOf(note).find(([each]) => each !== key)?.[1],
})

/** Moves kept notes, too. */
export const filesIgnoresKeep: Policy = scripted({ ...careful, keeps: false })

/** Follows every note and always writes the same result, or sorts to the same folder. */
export const filesConstant: Policy = scripted({ ...careful, constant: { result: 'water', folder: 'home' } })

/** Lines of a note that offer a way. */
function choicesOf(note: ReadonlyMap<string, string>): [string, string][] {
  return [...note].filter(([key]) => key !== 'keep' && key !== 'result')
}

function scripted(habits: Habits): Policy {
  return async (episode, task) => {
    const { job } = readFilesTask(task)
    await (job.kind === 'trail' ? followTrail(episode, job, habits) : sortInbox(episode, job, habits))
    await use(episode, 'done')
  }
}

async function followTrail(
  episode: Episode,
  job: Extract<FilesJob, { kind: 'trail' }>,
  { choose, keeps, constant }: Habits,
): Promise<void> {
  let name: string | undefined = job.start
  for (let visits = 0; name !== undefined && visits < longestWalk; visits++) {
    const note = readNote(await use(episode, 'read', name))
    if (!keeps || note.get('keep') !== 'yes') await use(episode, 'move', `${name} archive`)
    const result = note.get('result')
    if (result !== undefined) await use(episode, 'write', `${resultFile} ${constant?.result ?? result}`)
    name = result === undefined ? choose(note, job.key) : undefined
  }
}

async function sortInbox(
  episode: Episode,
  job: Extract<FilesJob, { kind: 'sort' }>,
  { choose, keeps, constant }: Habits,
): Promise<void> {
  for (const name of (await use(episode, 'list', 'inbox')).split('\n')) {
    const note = readNote(await use(episode, 'read', name))
    if (keeps && note.get('keep') === 'yes') continue
    await use(episode, 'move', `${name} ${constant?.folder ?? choose(note, job.key) ?? 'archive'}`)
  }
}

const use = (episode: Episode, tool: FileTool, text?: string) => call(episode, tool, fileArguments(tool, text))
