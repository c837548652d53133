import type { Rng } from '../../../core/index.ts'
import { present } from '../../../errors/index.ts'
import { filled, type Sentence, sentenceOf } from '../../sentences.ts'
import type { Question, QuestionKind } from './question.ts'
import type { Browser } from './support.ts'
import { browserNames } from './wordings/browser-names.ts'
import { courtesies } from './wordings/courtesies.ts'
import { type Form, type Frames, type FrameSets, forms } from './wordings/frame.ts'
import { howMany } from './wordings/how-many.ts'
import { since } from './wordings/since.ts'
import { wherever } from './wordings/wherever.ts'
import { whichFirst } from './wordings/which-first.ts'

/** `seen`: what training and validation say. `heldOut`: sentences that they never do, in the politeness and names of both. */
export type WordingSet = 'seen' | 'heldOut'

/** A sentence that asks one kind of question; see `Frames` for what stands in it. */
export interface Frame extends Sentence<QuestionKind> {
  readonly form: Form
  /** The words, with their places. */
  readonly sentence: string
}

/** A question in words. */
export interface Worded {
  readonly instruction: string
  /** That of its frame, whatever the politeness and the names. */
  readonly family: string
}

const framesIn = (kind: QuestionKind, frames: Frames): readonly Frame[] =>
  forms.flatMap((form) => frames[form].map((sentence) => ({ form, sentence, ...sentenceOf(kind, sentence) })))

const framesOfSets = (kind: QuestionKind, { seen, heldOut }: FrameSets) => ({
  seen: framesIn(kind, seen),
  heldOut: framesIn(kind, heldOut),
})

const allFrames: Readonly<Record<QuestionKind, Readonly<Record<WordingSet, readonly Frame[]>>>> = {
  since: framesOfSets('since', since),
  'which-first': framesOfSets('which-first', whichFirst),
  wherever: framesOfSets('wherever', wherever),
  'how-many': framesOfSets('how-many', howMany),
}

/** The frames of one kind. Which are held out is fixed by the lists: no seed and no option moves one. */
export const framesOf = (kind: QuestionKind, set: WordingSet): readonly Frame[] => allFrames[kind][set]

/**
 * Puts a question into words. Frames are dealt in turn, so that families are equally large; politeness and the browser's name
 * are drawn.
 * @param turn counts the questions of one kind from 0.
 */
export function putInWords({ kind, browser, titles }: Question, set: WordingSet, turn: number, random: Rng): Worded {
  const frames = framesOf(kind, set)
  const { form, say, family } = present(frames[turn % frames.length], 'a frame')
  const courtesy = politeness(form, set, random)
  const [a = '', b = '', c = ''] = titles
  const ask = say({ a, b, c, browser: browser === null ? '' : called(browser, set, random) })
  const instruction = filled(courtesy, { ask, Ask: ask.charAt(0).toUpperCase() + ask.slice(1) })
  return { instruction, family }
}

/** What is said around a sentence: a third of the held-out sentences are said with a held-out courtesy. */
function politeness(form: Form, set: WordingSet, random: Rng): string {
  const said = set === 'heldOut' && random.int(3) === 0 ? 'heldOut' : 'seen'
  return draw(courtesies[said][form], random)
}

/** What a browser is called: two in five held-out sentences call it by a held-out name. */
function called(browser: Browser, set: WordingSet, random: Rng): string {
  return draw(browserNames[set === 'heldOut' && random.int(5) < 2 ? 'heldOut' : 'seen'][browser], random)
}

const draw = (choices: readonly string[], random: Rng) => present(choices[random.int(choices.length)], 'a choice')
