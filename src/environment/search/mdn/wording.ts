import type { Rng } from '../../../core/index.ts'
import { present } from '../../../errors/index.ts'
import type { Question, QuestionKind } from './question.ts'
import { browserNames } from './wordings/browser-names.ts'
import { courtesies } from './wordings/courtesies.ts'
import { type Form, type FrameSets, forms } from './wordings/frame.ts'
import { howMany } from './wordings/how-many.ts'
import { since } from './wordings/since.ts'
import { wherever } from './wordings/wherever.ts'
import { whichFirst } from './wordings/which-first.ts'

/** `seen`: what training and validation say. `heldOut`: sentences that they never do, in the politeness and names of both. */
export type WordingSet = 'seen' | 'heldOut'

/** A sentence that asks one kind of question; see `Frames` for what stands in it. */
export interface Frame {
  readonly form: Form
  /** Unique among the frames of its kind, seen and held out. */
  readonly name: string
  readonly sentence: string
}

/** A question in words. */
export interface Worded {
  readonly instruction: string
  /** Kind and frame, whatever the politeness and the browser's name: `since: which-version-first-supports`. */
  readonly family: string
}

const frameSets: Readonly<Record<QuestionKind, FrameSets>> = {
  since,
  'which-first': whichFirst,
  wherever,
  'how-many': howMany,
}

/** The frames of one kind. Which are held out is fixed by the lists: no seed and no option moves one. */
export function framesOf(kind: QuestionKind, set: WordingSet): readonly Frame[] {
  const frames = frameSets[kind][set]
  return forms.flatMap((form) => Object.entries(frames[form]).map(([name, sentence]) => ({ form, name, sentence })))
}

/** What may be said around a frame of this form, with `{ask}` or `{Ask}` in the place of the frame. */
export function courtesiesOf(form: Form, set: WordingSet): readonly string[] {
  return set === 'seen' ? courtesies.seen[form] : [...courtesies.seen[form], ...courtesies.heldOut[form]]
}

/**
 * Puts a question into words. Frames are dealt in turn, so that families are equally large; politeness and the browser's name
 * are drawn.
 * @param turn counts the questions of one kind from 0.
 */
export function putInWords({ kind, browser, titles }: Question, set: WordingSet, turn: number, random: Rng): Worded {
  const frames = framesOf(kind, set)
  const { form, name, sentence } = present(frames[turn % frames.length], 'a frame')
  const courtesy = draw(courtesiesOf(form, set), random)
  const [a = '', b = '', c = ''] = titles
  const asked = fill(sentence, { a, b, c, browser: browser === null ? '' : draw(namesOf(browser, set), random) })
  const instruction = fill(courtesy, { ask: asked, Ask: asked.charAt(0).toUpperCase() + asked.slice(1) })
  return { instruction, family: `${kind}: ${name}` }
}

function namesOf(browser: keyof typeof browserNames.seen, set: WordingSet): readonly string[] {
  return set === 'seen' ? browserNames.seen[browser] : [...browserNames.seen[browser], ...browserNames.heldOut[browser]]
}

const draw = (choices: readonly string[], random: Rng) => present(choices[random.int(choices.length)], 'a choice')

/** Fills the places of a template in one pass: what is put in is never read as a place. */
function fill(template: string, values: Readonly<Record<string, string>>): string {
  return template.replaceAll(/\{(\w+)\}/g, (place, name: string) => values[name] ?? place)
}
