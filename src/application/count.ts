/** A number with its noun for people to read: `1 letter`, `1,200 letters`; with `many` also `2 deliveries`. */
export function countOf(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString('en')} ${count === 1 ? one : many}`
}
