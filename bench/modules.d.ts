// The types of the benchmarks' packages, as far as the benchmarks use them. Types are checked without bench/node_modules.

declare module 'autocannon' {
  /** A request. The requests of a load are sent in turns. */
  export interface Request {
    method?: 'GET' | 'POST'
    path?: string
    headers?: Record<string, string>
    body?: string
    setupRequest?(request: Request): Request
  }

  /** The target of the load and its size: a number of seconds or of requests. */
  export interface Options extends Request {
    url: string
    connections: number
    duration?: number
    amount?: number
    requests?: Request[]
  }

  interface Result {
    requests: { average: number }
    throughput: { average: number }
    latency: { p99: number }
    '2xx': number
    non2xx: number
    errors: number
    duration: number
  }

  /** Loads a server. Returns the measurements. */
  export default function autocannon(options: Options): Promise<Result>
}

declare module 'chrome-launcher' {
  /** Starts a Chromium that listens for DevTools. */
  export function launch(options: {
    chromePath: string
    chromeFlags: string[]
  }): Promise<{ port: number; kill(): void }>
}

declare module 'lighthouse' {
  interface Audit {
    id: string
    score: number | null
    scoreDisplayMode: string
    numericValue?: number
  }

  interface Report {
    runtimeError?: { message: string }
    categories: Record<string, { score: number | null }>
    audits: Record<string, Audit>
  }

  /** Audits a page in the Chromium at a port. */
  export default function lighthouse(
    url: string,
    flags: { port: number; output: 'json'; logLevel: 'error'; onlyCategories?: string[] },
  ): Promise<{ lhr: Report } | undefined>
}
