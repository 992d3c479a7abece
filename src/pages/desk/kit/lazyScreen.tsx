import { useEffect, useState, type ComponentType, type ReactNode } from 'react'

import { whenConnected } from './connection.tsx'
import { Alert } from './Problem.tsx'
import { Loading, NotShown } from './Screen.tsx'

/**
 * A screen whose script is loaded when it is first shown, unless it was loaded before. Not by React's `lazy`, which shows
 * the screen 0.3 s late.
 *
 * @param Missing Is shown where its script did not come.
 */
export function lazyScreen<Props extends object>(
  load: () => Promise<{ default: ComponentType<Props> }>,
  Missing: () => ReactNode = ScreenNotLoaded,
): ComponentType<Props> & { load: () => Promise<void> } {
  let Loaded: ComponentType<Props> | undefined
  const keep = (module: { default: ComponentType<Props> }) => {
    Loaded = module.default
  }
  function LazyScreen(props: Props) {
    const [isThere, setThere] = useState(Loaded !== undefined)
    useEffect(() => {
      if (isThere) return
      void whenConnected(load)
        .catch((error: unknown) => {
          // An update of the server removes old scripts.
          reportError(error)
          return { default: Missing }
        })
        .then((module) => {
          keep(module)
          setThere(true)
        })
    }, [isThere])
    return Loaded ? <Loaded {...props} /> : <Loading />
  }
  return Object.assign(LazyScreen, { load: async () => keep(await load()) })
}

const why = 'There is no connection, or the desk was updated meanwhile.'
const reload = () => location.reload()

function ScreenNotLoaded() {
  return (
    <NotShown button="Reload" onPress={reload}>
      {why}
    </NotShown>
  )
}

/** Stands in for a part of a screen whose script did not come. */
export function PartNotLoaded() {
  return (
    <Alert button="Reload" onPress={reload}>
      {why}
    </Alert>
  )
}
