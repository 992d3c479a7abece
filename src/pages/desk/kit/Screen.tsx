import { Component, useEffect, useState, type ComponentType, type ReactNode } from 'react'

import { MissingScript } from '../../../client/missing-script.ts'
import { Button } from './Button.tsx'
import { beginAt, focusHeading, scrollToTop } from './focus.ts'
import { hrefOf, type Route } from './route.ts'
import { Alert, type AlertProps, Problem, reload, StaleProblem } from './Problem.tsx'
import { useShown } from './shown.ts'

interface ScreenProps<Read> {
  /** What its heading says, and the window's title, by which tabs, Back and screen readers tell screens apart. */
  title: string
  /** What it shows, as it was read. */
  query: { data: Read | undefined; error: Error | null; refetch: () => unknown }
  /** What stands over the heading, such as the way back. */
  nav?: ReactNode
  /** What stands between the heading and what was read. */
  head?: ReactNode
  children: (read: Read) => ReactNode
}

/** A screen of the desk: whoever opens it begins at its heading, and is told when it cannot be read. */
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
        <StaleProblem said="This may be out of date." error={error} />
      )}
      {data === undefined ? error === null && <Loading /> : children(data)}
    </>
  )
}

interface BackProps {
  /** Where the screen is. */
  label: string
  to: Route
  children?: ReactNode
}

/** The way back from a screen, and what stands beside it. */
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
  /** Whether whoever opens the screen begins at it; otherwise the focus stays where it is. */
  takesFocus?: boolean
  children: ReactNode
}

/** The heading of a screen. */
export function Heading({ takesFocus = true, children }: HeadingProps) {
  return (
    <h1 ref={takesFocus ? beginAt : scrollToTop} tabIndex={-1}>
      {children}
    </h1>
  )
}

/** What stands where something is being read. */
export function Loading() {
  return <p aria-busy="true">Loading…</p>
}

interface SheetProps {
  title: string
  /** Whether it is one of several under a heading of their own. */
  isPart?: boolean
  className?: string
  children: ReactNode
}

/** A part of a screen, under its own heading. */
export function Sheet({ title, isPart = false, className = '', children }: SheetProps) {
  const id = title.toLowerCase().replaceAll(' ', '-')
  return (
    <section className={`layout-sheet ${className}`} aria-labelledby={id}>
      {isPart ? <h3 id={id}>{title}</h3> : <h2 id={id}>{title}</h2>}
      {children}
    </section>
  )
}

/** Names the screen in the window's title; null leaves that to another one. */
export function useTitle(title: string | null): void {
  useEffect(() => {
    if (title !== null) document.title = `${title} · Unplugged.`
  }, [title])
}

interface MoreButtonProps {
  /** What is read page by page. */
  query: { hasNextPage: boolean; isFetchingNextPage: boolean; fetchNextPage: () => unknown }
  onPress?: () => void
}

/** Reads the next page, where there is one. */
export function MoreButton({ query, onPress }: MoreButtonProps) {
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = query
  if (!hasNextPage) return null
  const press = () => {
    onPress?.()
    void fetchNextPage()
  }
  return (
    <Button isOff={isFetchingNextPage} onPress={press}>
      More
    </Button>
  )
}

interface BoundaryProps {
  /** Removes what may have caused the error, before it is tried again. */
  onTryAgain?: () => void
  children: ReactNode
}

/** Catches an error of the screen that it shows, so that the rest of the desk stays. React logs the error. */
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
        Please try again. If it stays so, tell whoever runs this site: {String(error)}
      </NotShown>
    )
  }

  readonly #tryAgain = () => {
    this.props.onTryAgain?.()
    // The pressed button disappears.
    this.setState({ error: undefined, hasFailed: false }, focusHeading)
  }
}

/** What stands in place of a screen that could not be shown. */
function NotShown(alert: AlertProps) {
  const title = 'This could not be shown'
  useTitle(title)
  useShown()
  return (
    <section className="layout-sheet">
      <Heading>{title}</Heading>
      <Alert {...alert} />
    </section>
  )
}

/** What loads the scripts of all such screens. */
const loads: (() => Promise<unknown>)[] = []

/**
 * A screen whose script is loaded when it is first shown, unless it was loaded before. Not by React's `lazy`, which shows
 * the screen 0.3 s late.
 *
 * @param Missing Is shown where its script did not come.
 */
export function lazyScreen<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
  Missing: () => ReactNode = ScreenNotLoaded,
): ComponentType<Props> {
  let Loaded: ComponentType<Props> | undefined
  const keep = (loaded: ComponentType<Props>) => (Loaded = loaded)
  loads.push(async () => keep(await load()))
  return function LazyScreen(props: Props) {
    const [isThere, setThere] = useState(Loaded !== undefined)
    useEffect(() => {
      if (isThere) return
      void whenConnected(load)
        .catch((error: unknown) => {
          // An update of the server removes old scripts.
          reportError(error)
          return Missing
        })
        .then((loaded) => {
          keep(loaded)
          setThere(true)
        })
    }, [isThere])
    return Loaded ? <Loaded {...props} /> : <Loading />
  }
}

/** Loads the scripts of all screens, before the connection is lost or the server is updated. */
export async function loadScreens(): Promise<void> {
  await Promise.all(loads.map((load) => load()))
}

/** Loads something; without a connection, when that is back. */
async function whenConnected<Loaded>(load: () => Promise<Loaded>): Promise<Loaded> {
  try {
    return await load()
  } catch (error) {
    if (navigator.onLine) throw error
    await new Promise((resolve) => addEventListener('online', resolve, { once: true }))
    return whenConnected(load)
  }
}

const notLoaded: AlertProps = { ...reload, children: new MissingScript().message }

function ScreenNotLoaded() {
  return <NotShown {...notLoaded} />
}

/** Stands in for a part of a screen whose script did not come. */
export function PartNotLoaded() {
  return <Alert {...notLoaded} />
}
