import { createContext, useContext, useEffect } from 'react'

/** The title of the form's page, from the document's data. */
export const SiteTitle = createContext('')

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
