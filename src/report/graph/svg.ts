import type { Trajectory } from '../../core/index.ts'
import { type DecisionGraph, decisionGraph, type DrawnDecision } from './decision-graph.ts'
import { fitted, xml } from './fitted.ts'
import { layersOf, type Place, type Route } from './layers.ts'
import { speakerOf, wordsOf } from './message-words.ts'
import { graphStyle, stripes } from './style.ts'

const box = { width: 264, height: 66, gap: 28 }
const between = 56
const margin = { side: 24, top: 64, bottom: 24 }
/** Columns of the drawing's font that fit into a box. */
const columns = 33

const outcomeId = 'outcome'

/**
 * A trajectory's decisions as a drawing of its own: SVG, light or dark as its reader's screen is. What is read is above what
 * reads it; the outcome is at the bottom, and what it was not built from is drawn faintly. Text from outside is data.
 */
export function graphSvg(trajectory: Trajectory): string {
  const graph = decisionGraph(trajectory)
  const items = [
    ...graph.decisions.map(({ decision, from }) => ({ id: `d ${decision.id}`, after: from.map((id) => `d ${id}`) })),
    { id: outcomeId, after: graph.outcome.from.map((id) => `d ${id}`) },
  ]
  const layout = layersOf(items, { box: box.width + box.gap, line: box.gap })
  const width = layout.width + 2 * margin.side
  const height = margin.top + layout.layers * box.height + (layout.layers - 1) * between + margin.bottom
  const unused = new Set(graph.decisions.flatMap(({ decision, used }) => (used === false ? [`d ${decision.id}`] : [])))
  const kinds = [...new Set(graph.decisions.map(({ decision }) => decision.kind))].toSorted()
  const boxes = graph.decisions.map((drawn, i) =>
    decisionBox(drawn, i, layout.places.get(`d ${drawn.decision.id}`), kinds),
  )
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${xml(`Decisions of trajectory ${trajectory.id}`)}">
<style>${graphStyle}</style>
<rect class="page" width="100%" height="100%"/>
<text class="title" x="${margin.side}" y="28">${xml(fitted(`Decisions of ${trajectory.id}`, Math.floor((width - 48) / 8)))}</text>
<text class="note" x="${margin.side}" y="46">${xml(fitted(noteOf(graph), Math.floor((width - 48) / 7)))}</text>
${layout.routes.map((route) => line(route, unused)).join('\n')}
${boxes.join('\n')}
${outcomeBox(graph, trajectory, layout.places.get(outcomeId))}
</svg>
`
}

/** How much of the episode its outcome was built from. */
export function noteOf({ decisions, outcome }: DecisionGraph): string {
  const [all, every] =
    decisions.length === 1
      ? ['1 decision', 'the one decision']
      : [`${decisions.length} decisions`, `all ${decisions.length} decisions`]
  const used = decisions.filter(({ used: of }) => of === true).length
  if (decisions.some(({ used: of }) => of !== null)) return `The outcome was built from ${used} of ${all}.`
  if (decisions.length === 0) return 'No decisions were recorded.'
  return outcome.known
    ? `The outcome was built from ${every}.`
    : `What the outcome was built from was not recorded: it may be ${every}.`
}

const topOf = ({ layer }: Place) => margin.top + layer * (box.height + between)

function decisionBox(
  { decision, said, read, used }: DrawnDecision,
  index: number,
  place: Place | undefined,
  kinds: readonly string[],
): string {
  if (!place) return ''
  const { parameter, kind, version, id } = decision
  const head = `#${index + 1} ${parameter} · step ${decision.step + 1}`
  const what = said === null ? `(${kind}, read as a string)` : wordsOf(said) || '(nothing)'
  const from = read === null ? 'read no message' : `read ${speakerOf(read)}: ${wordsOf(read)}`
  const title = [`decision ${id}`, `${kind} ${parameter}, version ${version}`, fitted(what, 400)].join('\n')
  return boxed(place, `kind-${kinds.indexOf(kind) % stripes}${used === false ? ' unused' : ''}`, {
    title,
    lines: [head, what, from],
  })
}

function outcomeBox(graph: DecisionGraph, { stopReason }: Trajectory, place: Place | undefined): string {
  if (!place) return ''
  return boxed(place, 'outcome', { title: noteOf(graph), lines: ['outcome', `ended: ${stopReason}`, ''] })
}

/** A box is a drawing of its own: what is too long for it is cut off at its edge. */
function boxed(
  place: Place,
  look: string,
  { title, lines: [head = '', what = '', from = ''] }: { readonly title: string; readonly lines: readonly string[] },
): string {
  return `<svg class="box ${look}" x="${margin.side + place.x - box.width / 2}" y="${topOf(place)}" width="${box.width}" height="${box.height}"><title>${xml(title)}</title><rect class="card" x="0.5" y="0.5" width="${box.width - 1}" height="${box.height - 1}" rx="6"/><rect class="stripe" x="0.5" y="0.5" width="5" height="${box.height - 1}" rx="2"/><text class="head" x="16" y="19">${xml(fitted(head, columns))}</text><text class="what" x="16" y="38">${xml(fitted(what, columns))}</text><text class="from" x="16" y="55">${xml(fitted(from, columns + 3))}</text></svg>`
}

/** From the lower edge of one place to the upper edge of the next, straight through where only lines pass. */
function line({ from, to, places }: Route, unused: ReadonlySet<string>): string {
  let path = ''
  let [x, y] = [0, 0]
  for (const [i, place] of places.entries()) {
    const [nextX, top] = [margin.side + place.x, topOf(place)]
    path +=
      i === 0
        ? `M${nextX} ${top + box.height}`
        : `C${x} ${y + between / 2} ${nextX} ${top - between / 2} ${nextX} ${top}`
    x = nextX
    y = i === 0 || place.id === null ? top + box.height : top
    if (place.id === null) path += `V${y}`
  }
  return `<path class="line${unused.has(from) || unused.has(to) ? ' unused' : ''}" d="${path}"/>`
}
