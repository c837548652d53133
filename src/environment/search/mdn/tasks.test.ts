import { describe, expect, it } from 'vitest'
import { sha256, type Task } from '../../../core/index.ts'
import { questionOf } from './expert.ts'
import { loadMdn } from './load.ts'
import { QuestionKind } from './question.ts'
import { framesOf } from './wording.ts'
import { browserNames } from './wordings/browser-names.ts'

const counts = { train: 360, validation: 120, holdout: 240 }
const { tasks } = loadMdn({ tasks: counts })
const isReworded = ({ tier }: Task) => tier?.endsWith(' reworded')
const plain: readonly Task[] = [
  ...tasks.train,
  ...tasks.validation,
  ...tasks.holdout.filter((task) => !isReworded(task)),
]
const reworded: readonly Task[] = tasks.holdout.filter(isReworded)

/** Whether an instruction holds what a frame says between its places, in this order. */
function says({ instruction }: Task, sentence: string): boolean {
  let at = 0
  for (const part of sentence.split(/\{\w+\}/)) {
    const found = instruction.toLowerCase().indexOf(part.toLowerCase(), at)
    if (found === -1) return false
    at = found + part.length
  }
  return true
}

const saidOf = (those: readonly Task[], sets: readonly ('seen' | 'heldOut')[]) =>
  those.filter((task) =>
    sets.flatMap((set) => framesOf(questionOf(task).kind, set)).some(({ sentence }) => says(task, sentence)),
  )

describe('tasks in many wordings', () => {
  it('say no held-out sentence in training, validation and the plain tiers of the holdout', () => {
    expect(saidOf(plain, ['heldOut'])).toEqual([])
    expect(saidOf(plain, ['seen'])).toHaveLength(plain.length)
  })

  it('say nothing but held-out sentences in the reworded tiers, which only the holdout has', () => {
    expect(saidOf(reworded, ['heldOut'])).toHaveLength(reworded.length)
    expect(saidOf(reworded, ['seen'])).toEqual([])
    const tiers = (those: readonly Task[]) => new Set(those.map(({ tier }) => tier))
    for (const split of ['train', 'validation'] as const)
      expect(tiers(tasks[split])).toEqual(new Set(['single-hop', 'composed']))
    expect(tiers(reworded)).toEqual(new Set(['single-hop reworded', 'composed reworded']))
  })

  it('call browsers by held-out names in held-out sentences only', () => {
    const names = Object.values(browserNames.heldOut).flat()
    const called = (those: readonly Task[]) =>
      those.filter(({ instruction }) => names.some((name) => instruction.includes(name)))
    expect(called(plain)).toEqual([])
    expect(called(reworded).length).toBeGreaterThan(reworded.length / 5)
  })

  it('call each browser by every seen name', () => {
    for (const [browser, names] of Object.entries(browserNames.seen)) {
      const asked = tasks.train.filter((task) => questionOf(task).browser === browser)
      for (const name of names)
        expect(
          asked.some(({ instruction }) => instruction.includes(name)),
          name,
        ).toBe(true)
    }
  })

  it.each(QuestionKind.options)('have as many of each family of %s', (kind) => {
    for (const [those, set] of [
      [tasks.train, 'seen'],
      [reworded, 'heldOut'],
    ] as const) {
      const sizes = framesOf(kind, set).map((frame) => those.filter(({ family }) => family === frame.family).length)
      expect(sizes.reduce((sum, size) => sum + size)).toBe(
        those.filter((task) => questionOf(task).kind === kind).length,
      )
      expect(Math.min(...sizes)).toBeGreaterThan(0)
      expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(1)
    }
  })
})

describe('tasks in few wordings', () => {
  it('are the tasks that measurements were made on, to the letter', () => {
    const few = loadMdn({ seed: 3, tasks: { train: 60, validation: 30, holdout: 30 }, wordings: 'few' }).tasks
    const hashes = [few.train, few.validation, few.holdout].map((those) => sha256(JSON.stringify(those)))
    expect(hashes).toEqual([
      'a371edab5043731f2b807e9fe954ed05e4fcd41890d35c9bb91a295e1f8c0a3d',
      'db4c2b5ed0ae4e5362e9def5d6ffc4ae3c03166e602cdd8c7efc3a9b07d31958',
      'e102697d802bd885bed81a4a6140f11b417b2f2a7ff617ed38edcd88c9ceccbd',
    ])
  })
})
