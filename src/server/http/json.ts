const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/**
 * Decodes a body.
 *
 * @throws {TypeError} if it is not UTF-8.
 */
export function textOf(body: unknown): string {
  return utf8.decode(body as Buffer | undefined)
}

/** Whether a JSON value is an object, not an array. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
