// Bodies that cost a server the most for their bytes: for every place of every body of an OpenAPI document, what can stand
// there in the greatest number. Nothing here knows a route by name.

const hole = '"@@here@@"'
const mark = JSON.parse(hole)
const megabyte = 2 ** 20

/** The schema behind `$ref`s. */
function resolved(document, schema) {
  let found = schema ?? {}
  while (found.$ref)
    found = found.$ref
      .slice(2)
      .split('/')
      .reduce((at, name) => at[name], document)
  return found
}

const alternativesOf = (schema) => schema.anyOf ?? schema.oneOf ?? schema.allOf ?? null

/** The least value that a schema takes. */
function least(document, schema, depth = 0) {
  const {
    const: only,
    enum: some,
    default: usual,
    type,
    properties = {},
    required = [],
    items,
    ...rest
  } = resolved(document, schema)
  if (only !== undefined) return only
  if (some) return some[0]
  if (usual !== undefined) return usual
  const alternatives = alternativesOf(rest)
  if (alternatives) return least(document, alternatives[0], depth)
  switch (Array.isArray(type) ? type[0] : type) {
    case 'object':
      return Object.fromEntries(required.map((name) => [name, least(document, properties[name], depth + 1)]))
    case 'array':
      return Array.from({ length: rest.minItems ?? 0 }, () => least(document, items, depth + 1))
    case 'integer':
    case 'number':
      return rest.minimum ?? 1
    case 'boolean':
      return true
    case 'null':
      return null
    default:
      return 'a'.repeat(rest.minLength ?? 1)
  }
}

/** @returns {{ at: string, schema: object, around: (value: unknown) => unknown }[]} every place of a schema, itself first. */
function placesIn(document, schema, at = '', around = (value) => value, depth = 0) {
  const here = resolved(document, schema)
  const found = [{ at: at || 'the body', schema: here, around }]
  if (depth > 8) return found
  for (const [i, one] of (alternativesOf(here) ?? []).entries()) {
    found.push(
      ...placesIn(document, one, `${at}|${i}`, around, depth + 1).slice(
        resolved(document, one).type === undefined ? 1 : 0,
      ),
    )
  }
  for (const [name, inner] of Object.entries(here.properties ?? {})) {
    const others = least(document, { ...here, default: undefined })
    const into = (value) => around({ ...others, [name]: value })
    found.push(...placesIn(document, inner, `${at}.${name}`, into, depth + 1))
  }
  if (here.items) found.push(...placesIn(document, here.items, `${at}[]`, (value) => around([value]), depth + 1))
  return found
}

function times(piece, bytes, most = Number.POSITIVE_INFINITY) {
  return Array.from({ length: Math.max(1, Math.min(most, Math.floor(bytes / (piece.length + 1)))) }, () => piece).join(
    ',',
  )
}

function keys(nameOf, bytes, most = Number.POSITIVE_INFINITY) {
  const written = []
  for (let i = 0, length = 0; length < bytes && i < most; i++) {
    const one = `"${nameOf(i)}":1`
    length += one.length + 1
    written.push(one)
  }
  return `{${written.join(',')}}`
}

/** What is put in a place, by name: as many as the bytes allow, and as many as the bounds allow. */
function* fillings(document, { schema }, bytes, { values, keys: mostKeys }) {
  const types =
    schema.type === undefined && !alternativesOf(schema) ? ['array', 'object', 'string'] : [schema.type].flat()
  if (types.includes('array')) {
    const item = JSON.stringify(least(document, schema.items ?? {}))
    const of = Math.max(1, item.split(/[[{,]/).length)
    const within = Math.min(schema.maxItems ?? values, Math.floor((values - 100) / of))
    const items = [
      ['numbers', '1'],
      ['nulls', 'null'],
      ['empty texts', '""'],
      ['empty objects', '{}'],
      ['empty lists', '[]'],
      ['its own items', item],
    ]
    for (const [name, piece] of items) {
      yield { what: `${name}, as many as fit`, fill: () => `[${times(piece, bytes)}]` }
      yield {
        what: `${name}, as many as may`,
        fill: () => `[${times(piece, bytes, name === 'its own items' ? within : Math.floor(values / 2) - 100)}]`,
      }
    }
    // The items may be many and large at once.
    yield {
      what: 'its own items, with a last one of all bytes',
      fill: () => `[${times(item, bytes / 2, within)},${JSON.stringify('a'.repeat(bytes / 3))}]`,
    }
  }
  if (types.includes('object')) {
    yield { what: 'keys, as many as fit', fill: () => keys((i) => `k${i}`, bytes) }
    yield { what: 'keys, as many as may', fill: () => keys((i) => `k${i}`, bytes, mostKeys - 100) }
    yield {
      what: 'keys that are numbers',
      fill: () => keys((i) => (i * 131_072) % 4_294_967_291, bytes, mostKeys - 100),
    }
    yield {
      what: 'keys with the value 1e999',
      fill: () => keys((i) => `k${i}`, bytes, mostKeys - 100).replaceAll(':1', ':1e999'),
    }
  }
  if (types.includes('string')) {
    yield { what: 'a text', fill: () => JSON.stringify('a '.repeat(bytes / 2 - 1)) }
    yield { what: 'a text of escapes', fill: () => `"${'\\"'.repeat(bytes / 2 - 1)}"` }
    yield { what: 'a text of other alphabets', fill: () => `"${'ж'.repeat(bytes / 2 - 1)}"` }
  }
}

/** Bodies that are no requests of any route. */
function* nonsense(bytes) {
  yield { what: 'brackets', fill: () => '['.repeat(bytes) }
  yield { what: 'quotes', fill: () => '"'.repeat(bytes) }
  yield { what: 'colons', fill: () => `{${':'.repeat(bytes - 2)}` }
  yield { what: 'white space', fill: () => ' '.repeat(bytes) }
  yield { what: 'backslashes in a text', fill: () => `"${'\\\\'.repeat(bytes / 2 - 1)}"` }
  yield { what: 'a number', fill: () => '1'.repeat(bytes) }
}

/**
 * @param document an OpenAPI document.
 * @param limits `bytes` of a body; `values` and `keys`, the bounds that the server is said to have.
 * @returns of each route that takes a body: its path, filled in, and its worst bodies; `body()` builds one.
 */
export function worstBodies(document, { bytes = 16 * megabyte, values = 100_000, keys: mostKeys = 10_000 } = {}) {
  return Object.entries(document.paths).flatMap(([path, methods]) => {
    const schema = methods.post?.requestBody?.content?.['application/json']?.schema
    if (!schema) return []
    const url = path.replaceAll(/\{(\w+)\}/g, 'a')
    const room = bytes - 4_096
    const placed = placesIn(document, schema).flatMap((place) =>
      [...fillings(document, place, room, { values, keys: mostKeys })].map(({ what, fill }) => ({
        what: `${place.at}: ${what}`,
        body: () => {
          const text = JSON.stringify(place.around(mark))
          return text.replace(hole, () => fill())
        },
      })),
    )
    const without = [...nonsense(room)].map(({ what, fill }) => ({ what, body: fill }))
    return [{ path: url, route: path, bodies: [...placed, ...without] }]
  })
}
