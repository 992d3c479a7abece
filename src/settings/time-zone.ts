/**
 * Resolves `TZ` in a form that other programs understand and Node.js does not: `:/etc/localtime`, the path of a zone's file, a
 * colon before a zone, or a zone in other letters. Node.js takes all of these for UTC, silently.
 *
 * @param environment The variables, of which `TZ` is replaced or removed; default `process.env`.
 * @returns A sentence about a value that is no time zone; undefined if there is none.
 */
export function resolveTimeZone(environment: NodeJS.ProcessEnv = process.env): string | undefined {
  const given = environment['TZ']
  if (!given) return undefined
  const name = given.replace(/^:/, '').replace(/^.*\/zoneinfo\/((posix|right)\/)?/, '')
  // Without TZ, Node.js reads this file itself.
  if (name === '/etc/localtime') {
    delete environment['TZ']
    return undefined
  }
  const zone = canonical(name)
  if (zone !== undefined) environment['TZ'] = zone
  return zone === undefined
    ? `TZ is "${given}", which is no time zone, so that times of day may be those of UTC: name one, such as Europe/Berlin.`
    : undefined
}

/** A time zone's name as Node.js writes it; undefined if there is none of this name. An offset is no name. */
function canonical(name: string) {
  if (!/^[a-z]/i.test(name)) return undefined
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone
  } catch {
    return undefined
  }
}
