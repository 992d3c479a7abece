const name = '[a-zA-Z_:][a-zA-Z0-9_:]*'
const label = '[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\\\\n]|\\\\["\\\\n])*"'
const helpLine = new RegExp(`^# HELP (${name}) (?:[^\\\\]|\\\\[\\\\n])+$`)
const typeLine = new RegExp(`^# TYPE (${name}) (gauge|counter)$`)
const sampleLine = new RegExp(
  `^(${name})((?:\\{${label}(?:,${label})*\\})?) (-?\\d+(?:\\.\\d+)?(?:e[+-]\\d+)?|[+-]Inf)$`,
)

/**
 * Reads metrics in the text format of Prometheus, strictly: each metric has a description, a type and then its samples, all together,
 * each once. The name of a counter ends with `_total`.
 *
 * @returns The value of each sample, by its name and labels.
 * @throws An error that names the first line that is wrong.
 */
export function readMetrics(text: string): Record<string, number> {
  if (!text.endsWith('\n')) throw new Error('the last line has no end')
  const values: Record<string, number> = {}
  const seen = new Set<string>()
  let [described, typed] = ['', '']
  for (const line of text.slice(0, -1).split('\n')) {
    const refuse = (reason: string) => new Error(`${reason}: ${line}`)
    const [, help] = helpLine.exec(line) ?? []
    const [, type, kind] = typeLine.exec(line) ?? []
    const [, sample, labels = '', value] = sampleLine.exec(line) ?? []
    if (help !== undefined) {
      if (seen.has(help)) throw refuse('described twice')
      seen.add(help)
      described = help
    } else if (type !== undefined) {
      if (type !== described || type === typed) throw refuse('not below its description')
      if ((kind === 'counter') !== type.endsWith('_total')) throw refuse('not named as a counter')
      typed = type
    } else if (sample !== undefined) {
      if (sample !== typed) throw refuse('not below its type')
      if (`${sample}${labels}` in values) throw refuse('twice')
      values[`${sample}${labels}`] = Number(value?.replace('Inf', 'Infinity'))
    } else throw refuse('cannot be read')
  }
  return values
}
