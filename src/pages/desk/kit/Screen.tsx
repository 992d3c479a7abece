import { Component, useEffect, useState, type ComponentType, type ReactNode } from 'react'

import { MissingScriptError } from '../../../client/missing-script.ts'
import { Button } from './Button.tsx'
import { focusAtTop, focusHeading, focusHeadingOnRemoval, scrollToTop } from './focus.ts'
import { hrefOf, type Route } from '../data/route.ts'
import { Alert, type AlertProps, Problem, reload, StaleProblem } from './Problem.tsx'
import { useScreenLoaded } from './screen-loaded.ts'
import { useTitle } from './site-title.tsx'

interface ScreenProps<Read> {
  /** The text of its heading and of the window's title. Tabs, Back and screen readers identify a screen by it. */
  title: string
  /** The query for its content. */
  query: { data: Read | undefined; error: Error | null; refetch: () => unknown }
  /** The content above the heading, such as the link back. */
  nav?: ReactNode
  /** The content between the heading and the rest. */
  head?: ReactNode
  children: (read: Read) => ReactNode
}

/** A screen of the desk. It focuses its heading when it opens, and shows loading and errors. */
export function Screen<Read>({ title, query, nav, head, children }: ScreenProps<Read>) {
  const { data, error, refetch } = query
  useTitle(title)
  return (
    <>
      {nav}
      <Heading>{title}</Heading>
      {data !== undefined && head}
      {data === undefined ? (
        <Problem error={error} onTryAgain={() => void refetch()} />
      ) : (
        <StaleProblem message="This may be out of date." error={error} />
      )}
      {data === undefined ? error === null && <Loading /> : children(data)}
    </>
  )
}

interface BackProps {
  /** The label of the navigation. */
  label: string
  to: Route
  children?: ReactNode
}

/** The link back from a screen, and the content beside it. */
export function Back({ label, to, children }: BackProps) {
  return (
    <nav className="layout-row layout-back" aria-label={label}>
      <a href={hrefOf(to)} className="control-link">
        Back
      </a>
      {children}
    </nav>
  )
}

interface HeadingProps {
  /** Whether the heading takes the focus when the screen opens. */
  takesFocus?: boolean
  children: ReactNode
}

/** The heading of a screen. The screen opens scrolled to its top. */
export function Heading({ takesFocus = true, children }: HeadingProps) {
  return (
    <h1 ref={takesFocus ? focusAtTop : scrollToTop} tabIndex={-1}>
      {children}
    </h1>
  )
}

/** The placeholder for content that is loading. */
export function Loading() {
  return <p aria-busy="true">Loading…</p>
}

interface SheetProps {
  title: string
  /** Whether it is below a common heading of several sheets, so that its own heading has level 3. */
  isPart?: boolean
  className?: string
  children: ReactNode
}

/** A section of a screen, with its heading. */
export function Sheet({ title, isPart = false, className = '', children }: SheetProps) {
  const id = title.toLowerCase().replaceAll(' ', '-')
  return (
    <section className={`layout-sheet ${className}`} aria-labelledby={id}>
      {isPart ? <h3 id={id}>{title}</h3> : <h2 id={id}>{title}</h2>}
      {children}
    </section>
  )
}

interface MoreButtonProps {
  /** The query that is read page by page. */
  query: { hasNextPage: boolean; isFetchingNextPage: boolean; fetchNextPage: () => unknown }
  /** Called before it is read, by a list that moves the focus itself after the last page. */
  onPress?: () => void
}

/** A button that reads the next page; hidden after the last page. */
export function MoreButton({ query, onPress }: MoreButtonProps) {
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = query
  if (!hasNextPage) return null
  const press = () => {
    onPress?.()
    void fetchNextPage()
  }
  return (
    <Button ref={onPress ? null : focusHeadingOnRemoval} isOff={isFetchingNextPage} onPress={press}>
      More
    </Button>
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
    // The pressed button disappears.
    this.setState({ error: undefined, hasFailed: false }, focusHeading)
  }
}

/** Replaces a screen that could not be shown. */
function NotShown(alert: AlertProps) {
  const title = 'This could not be shown'
  useTitle(title)
  useScreenLoaded()
  return (
    <section className="layout-sheet">
      <Heading>{title}</Heading>
      <Alert {...alert} />
    </section>
  )
}

/** The load functions of the lazy screens that are preloaded. */
const loaders: (() => Promise<void>)[] = []

/**
 * Creates a component that loads its script when it is first shown. React's `lazy` would show it 0.3 s later.
 *
 * @param load Loads the component.
 * @param Missing Shown if the script could not be loaded.
 * @param isPreloaded Whether `loadScreens` loads it, too.
 */
export function lazyScreen<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
  Missing: () => ReactNode = ScreenNotLoaded,
  isPreloaded = true,
): ComponentType<Props> {
  let Loaded: ComponentType<Props> | undefined
  const loadIt = async () => {
    Loaded = await load()
  }
  if (isPreloaded) loaders.push(loadIt)
  return function LazyScreen(props: Props) {
    const [isLoaded, setIsLoaded] = useState(Loaded !== undefined)
    useEffect(() => {
      if (isLoaded) return
      void whenConnected(loadIt)
        .catch((error: unknown) => {
          // A server update removes old scripts.
          reportError(error)
          Loaded = Missing
        })
        .then(() => setIsLoaded(true))
    }, [isLoaded])
    return Loaded ? <Loaded {...props} /> : <Loading />
  }
}

/** Loads the scripts of the screens, before the connection is lost or the server is updated. */
export async function loadScreens(): Promise<void> {
  await Promise.all(loaders.map((load) => load()))
}

/** Loads something. If that fails offline, waits for the connection and tries again. */
function whenConnected(load: () => Promise<void>): Promise<void> {
  return load().catch(async (error: unknown) => {
    if (navigator.onLine) throw error
    await new Promise((resolve) => addEventListener('online', resolve, { once: true }))
    await whenConnected(load)
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
