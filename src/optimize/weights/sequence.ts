import type {
  WeightsImitation,
  WeightsLesson,
  WeightsOptimizer,
  WeightsPreferring,
  WeightsSequence,
} from '../../core/index.ts'
import { requireOption } from './errors.ts'
import { imitate } from './imitate.ts'
import { preferences } from './preferences.ts'

/**
 * Joins the ways in which weights learn, for `optimize` of a run over either source: they take turns in this order, and what
 * is not among them is not done. A policy gradient alone, without a sequence, stands for
 * `sequence(policyGradient(…), imitate(), preferences())`.
 *
 * Over traffic each is done with one batch; over rollouts in every update, after demonstrations were imitated.
 * @throws OptimizeError for none, and for two of one sort: the second would undo what the first did.
 */
export function sequence(...lessons: readonly WeightsLesson[]): WeightsSequence {
  requireOption(lessons.length > 0, 'A sequence of nothing teaches nothing', 'Give it policyGradient() or imitate()')
  const sorts = lessons.map(sortOf)
  const twice = sorts.find((sort, i) => sorts.indexOf(sort) !== i)
  requireOption(twice === undefined, `A sequence has two parts that ${twice}`, 'Leave one out')
  return { name: lessons.map(({ name }) => name).join('+'), kind: 'weights', lessons }
}

/** What a lesson does when it is its turn. */
export type Turn = 'practise' | 'imitate' | 'prefer'

function sortOf(lesson: WeightsLesson): Turn {
  if ('step' in lesson) return 'practise'
  return 'imitate' in lesson ? 'imitate' : 'prefer'
}

/** How weights learn in a run: what practises, imitates and prefers, or does not, and in which order. */
export interface WeightsPlan {
  readonly practice: WeightsOptimizer | null
  readonly imitation: WeightsImitation | null
  readonly preferring: WeightsPreferring | null
  readonly turns: readonly Turn[]
}

/** What is done for what `optimize` names; see {@link sequence}. */
export function weightsPlan(given: WeightsLesson | WeightsSequence): WeightsPlan {
  const lessons = lessonsOf(given)
  return {
    practice: lessons.find((lesson) => 'step' in lesson) ?? null,
    imitation: lessons.find((lesson) => 'imitate' in lesson) ?? null,
    preferring: lessons.find((lesson) => 'prefer' in lesson) ?? null,
    turns: lessons.map(sortOf),
  }
}

/** The lessons of what `optimize` names, with those that a policy gradient alone stands for. */
export function lessonsOf(given: WeightsLesson | WeightsSequence): readonly WeightsLesson[] {
  if ('lessons' in given) return given.lessons
  return 'step' in given ? [given, imitate(), preferences()] : [given]
}
