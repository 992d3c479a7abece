/**
 * Creates the id of an act, a version 4 UUID. A call repeated with the same id is the same act.
 *
 * Does not use `crypto.randomUUID`, which browsers offer only over https and on localhost.
 */
export function newActId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  const digits = [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')
  return digits.replace(/(.{8})(.{4}).(.{3}).(.{3})/, '$1-$2-4$3-8$4-')
}
