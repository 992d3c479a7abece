import { monitorEventLoopDelay } from 'node:perf_hooks'

import { counter, gauge, type Metric } from './exposition.ts'

/** Milliseconds between two looks at the event loop. */
const resolution = 10

/**
 * Watches this process. Its metrics have the names of `prom-client`, which dashboards for Node.js know.
 *
 * @returns A function that reads the metrics, with the delays of the event loop since it was last called; and the end.
 */
export function watchProcess(): { read: () => Metric[]; stop: () => void } {
  const delays = monitorEventLoopDelay({ resolution })
  delays.enable()
  // Once, since the clock and the uptime are never read at the same moment, and alerts compare it.
  const startedAt = Date.now() / 1e3 - process.uptime()
  /** The histogram has the time between two looks, in nanoseconds. */
  const seconds = (nanoseconds: number) => Math.max(nanoseconds / 1e9 - resolution / 1e3, 0)
  return {
    read() {
      const { rss, heapUsed, heapTotal, external } = process.memoryUsage()
      const { user, system } = process.cpuUsage()
      const metrics = [
        gauge(
          'nodejs_eventloop_lag_p50_seconds',
          'Median delay of the event loop.',
          seconds(delays.percentile(50)),
        ),
        gauge(
          'nodejs_eventloop_lag_p99_seconds',
          '99th percentile of the delay.',
          seconds(delays.percentile(99)),
        ),
        gauge(
          'nodejs_eventloop_lag_max_seconds',
          'Longest delay since the last scrape.',
          seconds(delays.max),
        ),
        gauge('nodejs_heap_size_used_bytes', 'Memory of JavaScript objects.', heapUsed),
        gauge('nodejs_heap_size_total_bytes', 'Memory reserved for JavaScript objects.', heapTotal),
        gauge('nodejs_external_memory_bytes', 'Memory of buffers and the like.', external),
        gauge('process_resident_memory_bytes', 'Memory of this process, without PostgreSQL.', rss),
        gauge('process_start_time_seconds', 'When this process started, in Unix time.', startedAt),
        counter('process_cpu_user_seconds_total', 'Processor time of this process.', user / 1e6),
        counter('process_cpu_system_seconds_total', 'Processor time of the kernel for it.', system / 1e6),
      ]
      delays.reset()
      return metrics
    },
    stop: () => void delays.disable(),
  }
}
