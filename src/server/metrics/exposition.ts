/** A value, and the values of its labels. */
interface Sample {
  value: number
  labels?: Readonly<Record<string, string>>
}

/** A metric with its samples. */
export interface Metric {
  name: string
  /** What it measures, in a sentence. */
  help: string
  type: 'gauge' | 'counter'
  samples: readonly Sample[]
}

/**
 * Makes a metric whose value may fall.
 *
 * @param samples Its samples; or the value of its only sample, undefined for none.
 */
export function gauge(name: string, help: string, samples: readonly Sample[] | number | undefined): Metric {
  return { name, help, type: 'gauge', samples: typeof samples === 'object' ? samples : samplesOf(samples) }
}

/** Makes a metric whose value only grows until the process ends. */
export function counter(name: string, help: string, value: number): Metric {
  return { name, help, type: 'counter', samples: samplesOf(value) }
}

const samplesOf = (value: number | undefined): Sample[] => (value === undefined ? [] : [{ value }])

/** The media type of the text. */
export const expositionType = 'text/plain; version=0.0.4; charset=utf-8'

const escapeHelp = (text: string) => text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')
const escapeLabel = (value: string) => escapeHelp(value).replaceAll('"', '\\"')

/**
 * Formats metrics in the text format of Prometheus. Leaves out metrics without samples.
 *
 * @see https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format
 */
export function formatMetrics(metrics: readonly Metric[]): string {
  return metrics
    .filter(({ samples }) => samples.length > 0)
    .flatMap(({ name, help, type, samples }) => [
      `# HELP ${name} ${escapeHelp(help)}\n`,
      `# TYPE ${name} ${type}\n`,
      ...samples.map(({ labels = {}, value }) => `${name}${formatLabels(labels)} ${formatValue(value)}\n`),
    ])
    .join('')
}

function formatLabels(labels: Readonly<Record<string, string>>) {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escapeLabel(value)}"`)
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`
}

/** The format has Go's names for infinity. */
const formatValue = (value: number) => String(value).replace('Infinity', 'Inf')
