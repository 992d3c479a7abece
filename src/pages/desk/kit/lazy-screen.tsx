import { Component, useEffect, useEffectEvent, useState, type ComponentType, type ReactNode } from 'react'

import { MissingScriptError } from '../../../client/missing-script.ts'
import { Heading } from './Heading.tsx'
import { Alert, reload, type AlertProps } from './Problem.tsx'
import { useTitle } from './site-title.tsx'

/** The placeholder for content that is loading. */
export function Loading() {
  return (
    <p className="layout-loading" aria-busy="true">
      Loading…
    </p>
  )
}

interface BoundaryProps {
  /** Removes the possible cause of the error before retrying. */
  onTryAgain?: () => void
  children: ReactNode
}

/** Catches the errors of one screen, so that the rest of the desk still works. React logs them. */
export class Boundary extends Component<BoundaryProps, { error: unknown; hasFailed: boolean }> {
  override state = { error: undefined, hasFailed: false }

  static getDerivedStateFromError(error: unknown) {
    return { error, hasFailed: true }
  }

  override render(): ReactNode {
    const { error, hasFailed } = this.state
    if (!hasFailed) return this.props.children
    return (
      <NotShown button="Try again" onPress={this.#tryAgain}>
        Please try again. If the problem remains, tell the person who runs this site: {String(error)}
      </NotShown>
    )
  }

  readonly #tryAgain = () => {
    this.props.onTryAgain?.()
    this.setState({ error: undefined, hasFailed: false })
  }
}

/** Replaces a screen that could not be shown. */
function NotShown(alert: AlertProps) {
  const title = 'This could not be shown'
  useTitle(title)
  return (
    <section className="layout-sheet">
      <Heading>{title}</Heading>
      <Alert {...alert} />
    </section>
  )
}

/**
 * Something whose script loads late. React's `lazy` would show it 0.3 s later.
 *
 * @returns `load`, and a hook. The hook loads it once `isWanted`, at the time that `schedule` chooses. `isMissing`: its script could
 *   not be loaded, since a server update removes old scripts.
 */
export function createLate<Loaded>(load: () => Promise<Loaded>) {
  let loaded: Loaded | undefined
  const loadIt = async () => {
    loaded = await load()
  }
  function useLoaded(isWanted = true, schedule: (run: () => void) => void | (() => void) = (run) => run()) {
    const [state, setState] = useState<'waiting' | 'loaded' | 'missing'>(loaded ? 'loaded' : 'waiting')
    const startsNow = isWanted && state === 'waiting'
    const start = useEffectEvent(() =>
      schedule(() => {
        whenConnected(loadIt).then(
          () => setState('loaded'),
          (error: unknown) => {
            reportError(error)
            setState('missing')
          },
        )
      }),
    )
    useEffect(() => (startsNow ? start() : undefined), [startsNow])
    return { loaded, isMissing: state === 'missing' }
  }
  return { load: loadIt, useLoaded }
}

/** The load functions of the lazy screens that are preloaded. */
const loaders: (() => Promise<void>)[] = []

/** A component whose script loads later. `load` loads it before it is shown. */
type LazyScreen<Props> = ComponentType<Props> & { load: () => Promise<void> }

/**
 * Creates a component that loads its script when it is first shown.
 *
 * @param load Loads the component.
 * @param Missing Shown if the script could not be loaded.
 * @param isPreloaded Whether `loadScreens` loads it, too.
 */
export function lazyScreen<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
  Missing: () => ReactNode = ScreenNotLoaded,
  isPreloaded = true,
): LazyScreen<Props> {
  const late = createLate(load)
  if (isPreloaded) loaders.push(late.load)
  function LazyScreen(props: Props) {
    const { loaded: Loaded, isMissing } = late.useLoaded()
    if (isMissing) return <Missing />
    return Loaded ? <Loaded {...props} /> : <Loading />
  }
  return Object.assign(LazyScreen, { load: late.load })
}

/** Loads the scripts of the screens, before the connection is lost or the server is updated. */
export async function loadScreens(): Promise<void> {
  await Promise.all(loaders.map((load) => load()))
}

/** Loads something. If that fails offline, waits for the connection and tries again. */
function whenConnected<Loaded>(load: () => Promise<Loaded>): Promise<Loaded> {
  return load().catch(async (error: unknown) => {
    if (navigator.onLine) throw error
    await new Promise((resolve) => addEventListener('online', resolve, { once: true }))
    return whenConnected(load)
  })
}

const notLoaded: AlertProps = { ...reload, children: new MissingScriptError().message }

function ScreenNotLoaded() {
  return <NotShown {...notLoaded} />
}

/** Replaces a part of a screen whose script could not be loaded. */
export function PartNotLoaded() {
  return <Alert {...notLoaded} />
}
