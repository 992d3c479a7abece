/** Runs before the tests of screens. All files of a worker share one window, as they share the imported modules. */
import '../dom.ts'

import * as React from 'react'

/**
 * React's development version makes an error with each element, so that a warning can name the element's owner, up to a limit. That
 * takes a tenth of the time of these tests. React has no setting for this, so it reads that the limit is reached. Warnings still name
 * the component.
 */
const internals = Reflect.get(
  React,
  '__CLIENT_INTERNALS_DO_NOT_USE_OR_WARN_USERS_THEY_CANNOT_UPGRADE',
) as object
Object.defineProperty(internals, 'recentlyCreatedOwnerStacks', { get: () => Infinity, set: () => {} })
