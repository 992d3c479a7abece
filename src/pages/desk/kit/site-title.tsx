import { createContext, useContext, useEffect, useState, type ReactNode } from 'react'

/** The title of the form's page. */
export const SiteTitle = createContext('')

const SetSiteTitle = createContext<(title: string) => void>(() => {})

/** Provides the title of the document's data, until a screen reads another one (`useReadSiteTitle`). */
export function SiteTitleProvider({ title, children }: { title: string; children: ReactNode }) {
  const [current, setCurrent] = useState(title)
  return (
    <SetSiteTitle value={setCurrent}>
      <SiteTitle value={current}>{children}</SiteTitle>
    </SetSiteTitle>
  )
}

/** Replaces the title of the document's data by one that was read since; null leaves it unchanged. */
export function useReadSiteTitle(title: string | null): void {
  const setTitle = useContext(SetSiteTitle)
  useEffect(() => {
    if (title !== null) setTitle(title)
  }, [title, setTitle])
}

/** The window's title of a screen. */
export function titleOf(screen: string, siteTitle: string): string {
  return `${screen} · ${siteTitle}`
}

let lastTitle = ''

/** The title of the current screen, without that of the site. */
export const screenTitle = () => lastTitle

/** Sets the window's title; null leaves it unchanged. */
export function useTitle(title: string | null): void {
  const siteTitle = useContext(SiteTitle)
  useEffect(() => {
    if (title === null) return
    lastTitle = title
    document.title = titleOf(title, siteTitle)
  }, [title, siteTitle])
}

/** The name of the site, above each screen. */
export function Brand() {
  return <p className="desk-brand">{useContext(SiteTitle)}</p>
}
