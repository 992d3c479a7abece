/** Limits on a visitor's use of the server; times in milliseconds. */
export const requestLimits = {
  bodyLimit: 256 * 1024,
  /** While the server stops, open connections still get responses. */
  return503OnClosing: false,
  /** For a whole request, however slowly it arrives. */
  requestTimeout: 30_000,
  /** For a connection without a byte in either direction, even while a response is unread. */
  connectionTimeout: 30_000,
  /** Longer than a reverse proxy keeps its connections, so that the proxy closes them first. */
  keepAliveTimeout: 72_000,
  http: { maxHeaderSize: 16 * 1024, headersTimeout: 15_000, connectionsCheckingInterval: 5_000 },
}
