/** A script of the page that could not be loaded. */
export class MissingScriptError extends Error {
  override message = 'There is no connection, or the desk was updated meanwhile. Please reload this page.'
}

/**
 * Waits for a script that is loaded on demand. An update of the server removes old scripts.
 *
 * @throws {MissingScriptError} if it cannot be loaded.
 */
export async function loadScript<Module>(loading: Promise<Module>): Promise<Module> {
  try {
    return await loading
  } catch (cause) {
    throw new MissingScriptError('', { cause })
  }
}
