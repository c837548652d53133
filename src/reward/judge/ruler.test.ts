import { array, assert, asyncProperty, constantFrom } from 'fast-check'
import { describe, expect, it } from 'vitest'
import { answering, answeringModel, dataOf } from '../../../test/support/judged.ts'
import { rng, type ChatQuestion } from '../../core/index.ts'
import { checkJudge, judgeCalibration, ruler, rulerInOrder, saidAndTrue } from './index.ts'

/** Scores by a rule of what stands in an attempt and in which place. */
const scoring = (score: (record: string, place: number) => number) => (question: ChatQuestion) => {
  const [, ...own] = dataOf(question)
  return JSON.stringify(own.map((record, i) => ({ attempt: i + 1, score: score(record, i), why: `place ${i}` })))
}
const byMerit = (record: string) => (record.includes('good') ? 0.9 : record.includes('fair') ? 0.5 : 0.1)
const attempts = (...said: string[]) => said.map((content, i) => answering(content, { id: `t${i}` }))

describe('ruler', () => {
  it('scores a whole group by one question', async () => {
    const { model, asked } = answeringModel(scoring(byMerit))
    const verdict = await ruler({ model }).judge(attempts('bad', 'good', 'fair'))
    expect(verdict).toMatchObject({ status: 'scored', scores: [0.1, 0.9, 0.5] })
    expect(asked.length).toBe(1)
  })

  it('identical attempts are sent once and get one score; order changes nothing; all in [0, 1]', async () => {
    // A judge that sees places alone: only what it is shown can decide.
    const said = array(constantFrom('good', 'bad', 'fair', 'other'), { minLength: 2, maxLength: 8 })
    await assert(
      asyncProperty(said, async (words) => {
        const { model, asked } = answeringModel(scoring((_, place) => 1 / (1 + place)))
        const judge = ruler({ model, votes: 2 })
        const [verdict, reversed] = [
          await judge.judge(attempts(...words)),
          await judge.judge(attempts(...words.toReversed())),
        ]
        const different = new Set(words).size
        if (different < 2) {
          expect([verdict, asked.length]).toMatchObject([{ scores: words.map(() => 0.5) }, 0])
          return
        }
        expect(dataOf(asked[0] ?? { instructions: '', material: '', maxTokens: 1 })).toHaveLength(different + 1)
        const scores = verdict.status === 'scored' ? verdict.scores : []
        expect(reversed).toMatchObject({ scores: scores.toReversed() })
        for (const [i, word] of words.entries()) {
          expect(scores[i]).toBe(scores[words.indexOf(word)])
          expect((scores[i] ?? -1) >= 0 && (scores[i] ?? 2) <= 1).toBe(true)
        }
      }),
    )
  })

  it('shows attempts in an order that is drawn for each vote', async () => {
    const { model, asked } = answeringModel(scoring(byMerit))
    await ruler({ model, votes: 8 }).judge(attempts('bad', 'good', 'fair'))
    expect(new Set(asked.map((question) => JSON.stringify(dataOf(question)))).size).toBeGreaterThan(1)
    const other = answeringModel(scoring(byMerit))
    await ruler({ model: other.model, votes: 8 }).judge(attempts('bad', 'good', 'fair'))
    expect(other.asked.map(dataOf)).toEqual(asked.map(dataOf))
  })

  it('asks once more, and then has no verdict', async () => {
    const second = answeringModel((question, i) => (i === 0 ? 'Both are fine.' : scoring(byMerit)(question)))
    expect(await ruler({ model: second.model }).judge(attempts('bad', 'good'))).toMatchObject({ status: 'scored' })
    for (const answer of [null, undefined, '[]']) {
      const { model, asked } = answeringModel(() => answer)
      expect(await ruler({ model }).judge(attempts('bad', 'good'))).toMatchObject({ status: 'missing' })
      expect(asked.length).toBe(2)
    }
  })

  it('gives attempts that are all the same, or one alone, the middle, and asks nobody', async () => {
    const { model, asked } = answeringModel(scoring(byMerit))
    expect(await ruler({ model }).judge(attempts('good', 'good'))).toMatchObject({ scores: [0.5, 0.5] })
    expect(await ruler({ model }).judge(attempts('good'))).toMatchObject({ scores: [0.5] })
    expect(asked).toEqual([])
  })

  it('judges more than 16 in parts that are alike in size, drawn for each vote', async () => {
    const said = Array.from({ length: 40 }, (_, i) => `${['good', 'bad', 'fair'][i % 3]} ${i}`)
    const { model, asked } = answeringModel(scoring(byMerit))
    const judge = ruler({ model, votes: 2 })
    const scores = said.map((one) => byMerit(one))
    expect(await judge.judge(attempts(...said))).toMatchObject({ scores })
    expect(asked.map((question) => dataOf(question).length - 1)).toEqual([14, 13, 13, 14, 13, 13])
    const parts = asked.map((question) => new Set(dataOf(question).slice(1)))
    expect(parts[0]).not.toEqual(parts[3])
    expect(await judge.judge(attempts(...said.toReversed()))).toMatchObject({ scores: scores.toReversed() })
    expect(asked.slice(6).map(dataOf)).toEqual(asked.slice(0, 6).map(dataOf))
    // One part without an answer leaves the group without a verdict: scores of others would be all that there is.
    const silent = answeringModel((question, i) => (i === 1 || i === 2 ? null : scoring(byMerit)(question)))
    expect(await ruler({ model: silent.model }).judge(attempts(...said))).toMatchObject({ status: 'missing' })
  })
})

describe('checks of a judge', () => {
  const pairs = Array.from({ length: 30 }, (_, i) => {
    const [a, b] = [answering(`good ${i}`), answering(`bad ${i}`)]
    return [a, b] as const
  })
  const check = (score: (record: string, place: number) => number) =>
    checkJudge(rulerInOrder({ model: answeringModel(scoring(score)).model }), pairs)
  const noise = () => {
    const random = rng('noise')
    return () => 0.1 * (random.next() - 0.5)
  }

  it('find nothing where there is nothing', async () => {
    const some = noise()
    const report = await check((record) => byMerit(record) + some())
    expect(report).toMatchObject({ unbiased: true, identical: { n: 30, unanswered: 0, biased: false } })
  })

  it('find a taste for the first place, by both checks', async () => {
    const some = noise()
    const report = await check((record, place) => byMerit(record) - (place === 0 ? 0 : 0.1) + some())
    expect(report).toMatchObject({
      unbiased: false,
      identical: { biased: true },
      position: { biased: true },
      length: { biased: false },
    })
    expect(report.identical.effect?.mean).toBeCloseTo(0.1, 1)
  })

  it('find a taste for many words', async () => {
    const some = noise()
    const report = await check((record) => Math.min(1, 0.4 + record.length / 4_000) + some())
    expect(report).toMatchObject({
      unbiased: false,
      identical: { biased: false },
      position: { biased: false },
      length: { biased: true },
    })
  })

  it('tell nothing of a judge that does not answer, and call it not unbiased', async () => {
    const report = await checkJudge(() => Promise.resolve(null), pairs)
    expect(report).toMatchObject({ unbiased: false, identical: { n: 0, unanswered: 30, effect: null, biased: null } })
  })
})

describe('calibration', () => {
  it('tells what was said beside what was true', () => {
    const told = [0.9, 0.9, 0.1, 0.5].map((said, i) => ({ told: said, truth: [1, 0, 0, 1][i] ?? 0 }))
    const report = judgeCalibration(told)
    expect(report).toMatchObject({ n: 4, constantBrier: 0.25 })
    expect(report?.brier).toBeCloseTo((0.01 + 0.81 + 0.01 + 0.25) / 4, 12)
    expect(report?.bias?.mean).toBeCloseTo(0.1, 12)
    expect(judgeCalibration([])).toBeNull()
  })

  it('pairs signals by episode, and leaves out what only one of both says', () => {
    const of = (trajectory: string, source: 'judge' | 'user', name: string, value: number | boolean | string) =>
      ({
        trajectory,
        source,
        name,
        value,
        node: null,
        key: `${trajectory}${source}${String(value)}`,
        at: 0,
        reporter: 'r',
        tenant: 'default',
      }) as never
    const signals = [
      of('a', 'judge', 'good', 0.8),
      of('a', 'judge', 'good', 0.6),
      of('a', 'user', 'kept', true),
      of('b', 'judge', 'good', 0.5),
      of('c', 'user', 'kept', false),
      of('d', 'judge', 'good', 7),
      of('d', 'user', 'kept', true),
    ]
    const paired = saidAndTrue(signals, {
      said: { name: 'good', source: 'judge' },
      truth: { name: 'kept', source: 'user' },
    })
    expect(paired).toEqual([{ told: 0.7, truth: 1 }])
  })
})
