/** A part of Selenium that its types omit. */
declare module 'selenium-webdriver/http/util.js' {
  /** Resolves when a WebDriver server responds at the address. */
  export function waitForServer(url: string, timeoutMilliseconds: number): Promise<void>
}
