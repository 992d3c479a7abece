import { expect, test } from 'vitest'

import { formatMetrics } from './exposition.ts'

// The rules of escaping: https://prometheus.io/docs/instrumenting/exposition_formats/#text-format-details
test('labels and descriptions are escaped, and a metric without samples is left out', () => {
  const text = formatMetrics([
    {
      name: 'letters',
      help: 'A back\\slash,\na line and a "quote".',
      type: 'gauge',
      samples: [{ value: 1.5e-7, labels: { kind: 'a "b"\\\nc', state: 'd' } }, { value: -Infinity }],
    },
    { name: 'nothing', help: 'Nothing.', type: 'counter', samples: [] },
  ])
  expect(text).toBe(
    String.raw`# HELP letters A back\\slash,\na line and a "quote".
# TYPE letters gauge
letters{kind="a \"b\"\\\nc",state="d"} 1.5e-7
letters -Inf
`,
  )
})
