import { lazy, type ComponentType } from 'react'

import { Heading, notShown, useTitle } from './Screen.tsx'

/** A screen whose script is loaded when it is first shown, unless it was loaded before. */
export function lazyScreen<Props>(load: () => Promise<{ default: ComponentType<Props> }>) {
  return lazy(() => whenConnected(load).catch(notLoaded))
}

/** Without a connection it is loaded when that is back. */
async function whenConnected<Loaded>(load: () => Promise<Loaded>): Promise<Loaded> {
  try {
    return await load()
  } catch (error) {
    if (navigator.onLine) throw error
    await new Promise((resolve) => addEventListener('online', resolve, { once: true }))
    return whenConnected(load)
  }
}

/** Stands in for a screen whose script did not come: the update of a server takes old ones away. */
function notLoaded(error: unknown) {
  reportError(error)
  return { default: NotLoaded }
}

function NotLoaded() {
  useTitle(notShown)
  return (
    <section className="sheet">
      <Heading>{notShown}</Heading>
      <div role="alert" className="notice error">
        <p>There is no connection, or the desk was updated meanwhile.</p>
        <button className="quiet" onClick={() => location.reload()}>
          Reload
        </button>
      </div>
    </section>
  )
}
