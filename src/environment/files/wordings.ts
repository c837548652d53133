import type { FilesJob } from './task-data.ts'

type Wording = (slots: { readonly key: string; readonly start: string }) => string

/** Ways to ask for each kind of job; key and name follow a space, so that they can be copied token by token. */
const seen: Readonly<Record<FilesJob['kind'], readonly Wording[]>> = {
  trail: [
    ({ key, start }) => `Follow ${key} from ${start} and archive every note.`,
    ({ key, start }) => `Start with ${start}. Follow the ${key} notes and archive them.`,
    ({ key, start }) => `From ${start} on, go where ${key} leads. Archive what you finish.`,
    ({ key, start }) => `Read ${start} and take the ${key} way to its result. Archive each note.`,
    ({ key, start }) => `The ${key} trail begins at ${start}. Follow it, archive it, write the result.`,
  ],
  sort: [
    ({ key }) => `Sort the notes by ${key}.`,
    ({ key }) => `Move every note where ${key} says.`,
    ({ key }) => `Tidy the inbox: ${key} names the folder.`,
    ({ key }) => `Each note goes to its ${key} folder.`,
    ({ key }) => `Empty the inbox. Use the ${key} folder of each note.`,
  ],
}

/** The same, in words that no task to learn from uses. */
const heldOut: Readonly<Record<FilesJob['kind'], readonly Wording[]>> = {
  trail: [
    ({ key, start }) => `Begin at ${start}, let ${key} lead you, and archive all that you read.`,
    ({ key, start }) => `Please archive the ${key} trail, which opens with ${start}.`,
  ],
  sort: [
    ({ key }) => `Please put all notes into the folders that ${key} gives.`,
    ({ key }) => `Where does ${key} send each note? Take it there.`,
  ],
}

/** One way to ask for one kind of job. */
export interface Frame {
  readonly kind: FilesJob['kind']
  /** The kind and the words around the slots: `sort: Sort the notes by ….` */
  readonly family: string
  readonly instruction: (job: FilesJob) => string
}

/** Every way that training asks, and those that are held out. Kinds take turns. */
export const frames = { seen: framesOf(seen), heldOut: framesOf(heldOut) } as const

function framesOf(wordings: typeof seen): readonly Frame[] {
  return wordings.trail.flatMap((trail, at) => {
    const sort = wordings.sort[at]
    return [frameOf('trail', trail), ...(sort === undefined ? [] : [frameOf('sort', sort)])]
  })
}

function frameOf(kind: FilesJob['kind'], wording: Wording): Frame {
  return {
    kind,
    family: `${kind}: ${wording({ key: '…', start: '…' })}`,
    instruction: (job) => wording({ key: job.key, start: job.kind === 'trail' ? job.start : '' }),
  }
}
