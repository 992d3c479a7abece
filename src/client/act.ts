/**
 * A new id for an act, by which it is the same act when it is sent again: a UUID of version 4.
 *
 * Not `crypto.randomUUID`, which browsers have over https and on the machine itself alone.
 */
export function newAct(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  const digits = [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')
  return digits.replace(/(.{8})(.{4}).(.{3}).(.{3})/, '$1-$2-4$3-8$4-')
}
