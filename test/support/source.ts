/** What a TypeScript source is made of, as far as architecture goes. */
export interface Source {
  /** Module specifiers of imports, re-exports and `import()`, types included. */
  readonly imports: readonly string[]
  /** The source without comments and without what strings, templates and regular expressions hold. */
  readonly code: string
  readonly comments: string
}

const beforeSpecifier = /\b(?:from|import|import\s*\()$/
/** After these a slash begins a regular expression; after anything else it divides. */
const beforeRegex = /(?:^|[(,=:[!&|?{};+\-*%~^<>]|\b(?:return|typeof|case|in|of|void|delete|await|yield))$/

/** Reads a source in one pass: enough of the grammar to tell code from comments, strings, templates and regexes. */
export function readSource(text: string): Source {
  const imports: string[] = []
  let [code, comments] = ['', '']
  /** Open braces since each `${` that is being read. */
  const templates: number[] = []
  let at = 0

  const until = (end: string, from: number): number => {
    const found = text.indexOf(end, from)
    return found === -1 ? text.length : found
  }
  /** Where the text goes on after a literal that ends with an unescaped `end`. */
  const skip = (end: string, from: number): number => {
    let i = from
    let inClass = false
    while (i < text.length && (text[i] !== end || inClass)) {
      if (text[i] === '\\') i++
      else if (end === '/' && text[i] === '[') inClass = true
      else if (end === '/' && text[i] === ']') inClass = false
      i++
    }
    return i + 1
  }
  /** Reads template text from `from`: to its end, or to the `${` that opens an expression. */
  const template = (from: number): number => {
    let i = from
    while (i < text.length && text[i] !== '`' && !text.startsWith('${', i)) i += text[i] === '\\' ? 2 : 1
    if (text[i] === '`') {
      code += '`'
      return i + 1
    }
    code += '${'
    templates.push(0)
    return i + 2
  }

  while (at < text.length) {
    const char = text.charAt(at)
    const open = templates.at(-1)
    if (text.startsWith('//', at)) {
      const end = until('\n', at)
      comments += `${text.slice(at, end)}\n`
      at = end
    } else if (text.startsWith('/*', at)) {
      const end = until('*/', at) + 2
      comments += `${text.slice(at, end)}\n`
      at = end
    } else if (char === "'" || char === '"') {
      const end = skip(char, at + 1)
      if (beforeSpecifier.test(code.trimEnd())) imports.push(text.slice(at + 1, end - 1))
      code += char + char
      at = end
    } else if (char === '`') {
      code += char
      at = template(at + 1)
    } else if (char === '/' && beforeRegex.test(code.trimEnd())) {
      code += '//'
      at = skip('/', at + 1)
    } else if (char === '}' && open === 0) {
      templates.pop()
      code += char
      at = template(at + 1)
    } else {
      if (open !== undefined && char === '{') templates[templates.length - 1] = open + 1
      if (open !== undefined && char === '}') templates[templates.length - 1] = open - 1
      code += char
      at++
    }
  }
  return { imports, code, comments }
}
