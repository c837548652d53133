const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** Control characters, which a browser drops or reports, as their Unicode pictures where they have one. */
function picture(char: string): string {
  const code = char.charCodeAt(0)
  return code < 0x20 ? String.fromCodePoint(0x2400 + code) : code === 0x7f ? '\u2421' : '\ufffd'
}

/** Text as it may stand between tags and in a quoted attribute. */
export function escape(text: string): string {
  return text
    .replaceAll(/\p{Surrogate}/gu, '\ufffd')
    .replaceAll('\r\n', '\n')
    .replaceAll(/[^\P{Cc}\t\n]/gu, picture)
    .replaceAll(/[&<>"']/g, (char) => entities[char] ?? char)
}

/** Markup made by {@link html}: nothing else, and no data that looks like it, is inserted as it is. */
export class Html {
  readonly #markup: string

  private constructor(markup: string) {
    this.#markup = markup
  }

  toString(): string {
    return this.#markup
  }

  /** Markup or style that this program's source holds: never for text from outside. */
  static trusted(markup: string): Html {
    return new Html(markup)
  }
}

/** What can be put into markup: strings are escaped, lists joined; nullish and `false` leave nothing. */
export type Content = Html | string | number | null | undefined | false | readonly Content[]

function render(content: Content): string {
  if (content === null || content === undefined || content === false) return ''
  if (content instanceof Html) return content.toString()
  if (typeof content === 'string' || typeof content === 'number') return escape(String(content))
  return content.map(render).join('')
}

/** Markup from a template; every value that is not {@link Html} is escaped. */
export function html(strings: TemplateStringsArray, ...values: readonly Content[]): Html {
  return Html.trusted(strings.map((part, i) => part + (i < values.length ? render(values[i]) : '')).join(''))
}
