import type {
  WeightsAnchoring,
  WeightsImitation,
  WeightsLesson,
  WeightsOptimizer,
  WeightsPreferring,
  WeightsRehearsal,
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
 * Over traffic each is done with one batch; over rollouts in every update, after demonstrations were imitated. What keeps what
 * was learned before has no turn: `anchor()` comes before everything else, and `rehearse()` adds to what is imitated.
 * @throws OptimizeError for none that moves weights, and for two of one sort: the second would undo what the first did.
 */
export function sequence(...lessons: readonly WeightsLesson[]): WeightsSequence {
  const sorts = lessons.map(sortOf)
  requireOption(sorts.some(isTurn), 'A sequence of nothing teaches nothing', 'Give it policyGradient() or imitate()')
  requireOption(
    !sorts.includes('rehearse') || sorts.includes('imitate'),
    'A sequence rehearses and imitates nothing',
    'Add imitate(): what is rehearsed is imitated',
  )
  const twice = sorts.find((sort, i) => sorts.indexOf(sort) !== i)
  requireOption(twice === undefined, `A sequence has two parts that ${twice}`, 'Leave one out')
  return { name: lessons.map(({ name }) => name).join('+'), kind: 'weights', lessons }
}

/** What a lesson does when it is its turn. */
export type Turn = 'practise' | 'imitate' | 'prefer'

/** What a lesson does; what has no turn keeps what was learned before. */
type Sort = Turn | 'anchor' | 'rehearse'

function sortOf(lesson: WeightsLesson): Sort {
  if ('step' in lesson) return 'practise'
  if ('anchor' in lesson) return 'anchor'
  if ('rehearse' in lesson) return 'rehearse'
  return 'imitate' in lesson ? 'imitate' : 'prefer'
}

const isTurn = (sort: Sort): sort is Turn => sort !== 'anchor' && sort !== 'rehearse'

/** How weights learn in a run: what practises, imitates and prefers, or does not, and in which order. */
export interface WeightsPlan {
  readonly practice: WeightsOptimizer | null
  readonly imitation: WeightsImitation | null
  readonly preferring: WeightsPreferring | null
  readonly anchoring: WeightsAnchoring | null
  readonly rehearsal: WeightsRehearsal | null
  readonly turns: readonly Turn[]
}

/** What is done for what `optimize` names; see {@link sequence}. */
export function weightsPlan(given: WeightsLesson | WeightsSequence): WeightsPlan {
  const lessons = lessonsOf(given)
  return {
    practice: lessons.find((lesson) => 'step' in lesson) ?? null,
    imitation: lessons.find((lesson) => 'imitate' in lesson) ?? null,
    preferring: lessons.find((lesson) => 'prefer' in lesson) ?? null,
    anchoring: lessons.find((lesson) => 'anchor' in lesson) ?? null,
    rehearsal: lessons.find((lesson) => 'rehearse' in lesson) ?? null,
    turns: lessons.map(sortOf).filter(isTurn),
  }
}

/** The lessons of what `optimize` names, with those that a policy gradient alone stands for. */
export function lessonsOf(given: WeightsLesson | WeightsSequence): readonly WeightsLesson[] {
  if ('lessons' in given) return given.lessons
  return 'step' in given ? [given, imitate(), preferences()] : [given]
}
