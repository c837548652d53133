import { type Content, type Html, html } from '../html.ts'

/** A part of the page: shown, or not there yet for a reason. */
export type Part =
  | { readonly shown: true; readonly markup: Html }
  | { readonly shown: false; readonly title: string; readonly why: Content }

/** A titled part, with a line or two that say how to read it. */
export function section(id: string, title: string, lead: Content, body: Content): Part {
  return { shown: true, markup: titled(id, title, html`${lead !== null && html`<p class="lead">${lead}</p>`}${body}`) }
}

export function titled(id: string, title: string, body: Content): Html {
  return html`<section id="${id}" aria-labelledby="${id}-title">
  <h2 id="${id}-title">${title}</h2>
  ${body}
</section>
`
}

/** A part that has nothing to show yet, and why. */
export const notYet = (title: string, why: Content): Part => ({ shown: false, title, why })

/** The parts that have something to show, then, in one place, what the others wait for. */
export function assemble(parts: readonly Part[]): readonly Html[] {
  const waiting = parts.filter((part) => !part.shown)
  const rest = titled(
    'not-yet',
    'Not there yet',
    html`<dl class="waiting">${waiting.map(({ title, why }) => html`<div><dt>${title}</dt><dd>${why}</dd></div>`)}</dl>`,
  )
  return [...parts.flatMap((part) => (part.shown ? [part.markup] : [])), ...(waiting.length > 0 ? [rest] : [])]
}
