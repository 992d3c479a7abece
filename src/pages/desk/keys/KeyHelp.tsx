/** What the keys do, and the switch that turns single keys off. */
export function KeyHelp() {
  return null
}
