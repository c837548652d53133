import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { trajectoryOf } from '../../../test/support/trajectories.ts'
import { NodeId, type Trajectory } from '../../core/index.ts'
import { decisionGraph } from './decision-graph.ts'
import { fitted } from './fitted.ts'
import { graphSvg, noteOf } from './svg.ts'

/** A plan, two sides of which one was used, and a text that was read as a string. */
const episode = (words = 'a plum'): Trajectory => ({
  ...trajectoryOf({
    nodes: [
      { id: 'q', message: { role: 'user', content: words } },
      { id: 'plan', parent: 'q', message: { role: 'assistant', content: words } },
      { id: 'ql', message: { role: 'user', content: 'left' } },
      { id: 'left', parent: 'ql', message: { role: 'assistant', content: words } },
      { id: 'qr', message: { role: 'tool', name: words, content: 'right' } },
      {
        id: 'right',
        parent: 'qr',
        message: { role: 'assistant', content: '', toolCalls: [{ name: words || 'x', arguments: { words } }] },
      },
      { id: 'on', parent: 'right' },
      { id: 'end', parent: 'on', message: { role: 'assistant', content: 'the end' } },
    ],
    decisions: [
      { parameter: 'hint', kind: 'text' },
      { inputs: ['q', { decision: 'd0' }], output: 'plan' },
      { inputs: ['ql', { decision: 'd1' }], output: 'left' },
      { inputs: ['qr', { decision: 'd1' }], output: 'right' },
      { inputs: ['on'], output: 'end' },
    ],
  }),
  outcome: { inputs: [NodeId.parse('end')] },
})

describe('the graph of an episode', () => {
  it('has what each decision read at first hand, and what the outcome was built from', () => {
    const { decisions, outcome } = decisionGraph(episode())
    expect(decisions.map(({ from }) => from)).toEqual([[], ['d0'], ['d1'], ['d1'], ['d3']])
    expect(decisions.map(({ used }) => used)).toEqual([true, true, false, true, true])
    expect(outcome).toEqual({ from: ['d4'], known: true })
  })

  it('says when it is not known what the outcome was built from', () => {
    const { outcome, ...older } = episode()
    const graph = decisionGraph(older)
    expect(outcome).toBeDefined()
    expect(graph.outcome).toEqual({ from: ['d2', 'd4'], known: false })
    expect(noteOf(graph)).toContain('was not recorded')
    expect(noteOf(decisionGraph(episode()))).toBe('The outcome was built from 4 of 5 decisions.')
    expect(noteOf(decisionGraph(trajectoryOf({ decisions: [] })))).toBe('No decisions were recorded.')
  })

  it('of an older record, which names every node, is as plain', () => {
    const nodes = [{ id: 'a' }, { id: 'b', parent: 'a' }, { id: 'c', parent: 'b' }, { id: 'd', parent: 'c' }]
    const decisions = [
      { inputs: ['a'], output: 'b' },
      { inputs: ['a', 'b', 'c'], output: 'd' },
    ]
    expect(decisionGraph(trajectoryOf({ nodes, decisions })).decisions.map(({ from }) => from)).toEqual([[], ['d0']])
  })
})

/** Fails where tags do not close each other in order, or a text holds what is no XML. */
function expectWellFormed(svg: string): void {
  const open: string[] = []
  // What XML may not hold is what is looked for.
  // oxlint-disable-next-line no-control-regex
  expect(svg).not.toMatch(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff\u202a-\u202e\u2066-\u2069]/)
  expect(svg).not.toMatch(/\p{Surrogate}/u)
  for (const [tag, close, name = '', self] of svg.matchAll(/<(\/?)(\w+)(?:\s+[\w-]+="[^"<]*")*\s*(\/?)>/g)) {
    if (close) expect(open.pop(), tag).toBe(name)
    else if (!self) open.push(name)
  }
  expect(open).toEqual([])
  const texts = svg.replaceAll(/<\/?\w+(?:\s+[\w-]+="[^"<]*")*\s*\/?>/g, '')
  expect(texts).not.toMatch(/<|&(?!(?:amp|lt|gt|quot|#39);)/)
}

describe('the drawing', () => {
  it('has a box for each decision and the outcome, and a line for each link', () => {
    const svg = graphSvg(episode())
    expectWellFormed(svg)
    expect(svg.match(/class="box/g)?.length).toBe(6)
    expect(svg.match(/<path class="line/g)?.length).toBe(5)
    expect(svg.match(/class="line unused"/g)?.length).toBe(1)
    expect(svg).toContain('@media (prefers-color-scheme: dark)')
  })

  it('is well-formed, and holds no markup of others, whatever they say', () => {
    for (const words of [
      '</text><script>alert(1)</script>',
      '"><a href="javascript:x">',
      ']]>&nbsp;&#0;',
      '\u0000\uffff\ud800',
    ])
      expectWellFormed(graphSvg(episode(words)))
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (words) => expectWellFormed(graphSvg(episode(words)))),
      { numRuns: 50 },
    )
  })

  it('of nothing is a drawing', () => {
    expectWellFormed(graphSvg(trajectoryOf({ nodes: [], decisions: [] })))
  })
})

it('a line is cut to so many columns, in which some characters take two', () => {
  expect(fitted('plum', 4)).toBe('plum')
  expect(fitted('plums', 4)).toBe('plu…')
  expect(fitted('漢字漢字', 5)).toBe('漢…')
  expect(fitted('a\n b\tc', 20)).toBe('a ⏎ b c')
})
