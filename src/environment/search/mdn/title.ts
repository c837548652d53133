/** Where a feature stands in the data, for example `['api', 'MLGraphBuilder', 'relu']`. */
export type FeaturePath = readonly string[]

/** Path heads that a reader does not need: `css.properties.aspect-ratio` is simply `aspect-ratio`. */
const silentHeads = [
  'api',
  'css.properties',
  'css',
  'html.elements',
  'html',
  'http.headers',
  'http',
  'javascript.builtins',
  'javascript',
  'manifests',
  'mathml.elements',
  'mathml',
  'svg.elements',
  'svg',
  'webassembly.api',
  'webassembly',
  'webdriver',
]

/** Heads under which `X.X` is the constructor of X. */
const interfaceHeads = new Set(['api', 'javascript.builtins', 'webassembly.api'])

/**
 * A short, human, unique title for every feature: `MLGraphBuilder.relu`, `aspect-ratio`, `AbortController()`. Features
 * that would share one are all told apart by their area (`html.a`, `svg.a`); should that not do, by their whole path.
 */
export function titles(paths: readonly FeaturePath[]): string[] {
  const short = paths.map(shortTitle)
  const named = paths.map((path, i) => `${path[0] ?? ''}.${short[i] ?? ''}`)
  const isShortUnique = uniqueAmong(short)
  const isNamedUnique = uniqueAmong([...named, ...short])
  return paths.map((path, i) => {
    const [title, withArea] = [short[i] ?? '', named[i] ?? '']
    if (isShortUnique(title)) return title
    return isNamedUnique(withArea) ? withArea : path.join('.')
  })
}

function shortTitle(path: FeaturePath): string {
  const whole = path.join('.')
  const head = silentHeads.find((candidate) => whole.startsWith(`${candidate}.`))
  if (head === undefined) return whole
  const title = whole.slice(head.length + 1)
  const constructed = interfaceHeads.has(head) ? /^([^.]+)\.\1$/.exec(title) : null
  return constructed === null ? title : `${constructed[1]}()`
}

function uniqueAmong(names: readonly string[]): (name: string) => boolean {
  const counts = new Map<string, number>()
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1)
  return (name) => counts.get(name) === 1
}
