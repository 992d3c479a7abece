/**
 * Creates the id of an act, a version 4 UUID. A call repeated with the same id is the same act.
 *
 * Does not use `crypto.randomUUID`, which browsers offer only over https and on localhost.
 */
export function newActId(): string {
  return 'xxxxxxxx-xxxx-4xxx-8xxx-xxxxxxxxxxxx'.replace(/x/g, () => {
    const [random = 0] = crypto.getRandomValues(new Uint8Array(1))
    return (random % 16).toString(16)
  })
}
