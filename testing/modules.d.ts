/** A part of Selenium that its types leave out. */
declare module 'selenium-webdriver/http/util.js' {
  /** Resolves when a WebDriver server answers at the address. */
  export function waitForServer(url: string, timeoutMilliseconds: number): Promise<void>
}
