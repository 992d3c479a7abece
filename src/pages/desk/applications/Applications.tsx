import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'

import { focusHeading } from '../kit/focus.ts'
import { useMedia } from '../kit/useMedia.ts'
import type { Route } from '../kit/route.ts'
import { Boundary, lazyScreen } from '../kit/Screen.tsx'
import { ApplicationList } from './ApplicationList.tsx'

/** The windows that have room for the list beside an application. Keep it equal to beside.css. */
const wide = '(width >= 75rem)'

const ApplicationShow = lazyScreen(async () => (await import('./later.ts')).ApplicationShow)

/**
 * The list, and the application opened from it: instead of the list, or beside it in a wide window.
 *
 * Side by side, the list handles the keys that move. The application handles those that decide, while no row is ticked.
 */
export function Applications({ route }: { route: Extract<Route, { screen: 'list' | 'application' }> }) {
  const { filters } = route
  const shown = route.screen === 'application' ? route.id : null
  const isBeside = useMedia(wide) && shown !== null
  const queries = useQueryClient()
  const [isTicking, setIsTicking] = useState(false)
  // An application opened by its address or by Enter takes the focus.
  const [entered, setEntered] = useState(shown)
  return (
    <div className={isBeside ? 'beside-both' : ''}>
      {(shown === null || isBeside) && (
        <ApplicationList
          {...{ filters, shown }}
          onTicking={setIsTicking}
          onEnter={(id) => {
            setEntered(id)
            if (id !== null && id === shown) focusHeading()
          }}
        />
      )}
      {shown !== null && (
        <Boundary key={shown} onTryAgain={() => queries.removeQueries()}>
          <ApplicationShow
            id={shown}
            {...{ filters, isBeside }}
            isDecidedOn={!isBeside || !isTicking}
            takesFocus={!isBeside || entered === shown}
          />
        </Boundary>
      )}
    </div>
  )
}
