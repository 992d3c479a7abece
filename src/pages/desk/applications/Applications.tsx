import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'

import { focusHeading } from '../kit/focus.ts'
import { useMedia } from '../kit/useMedia.ts'
import type { Route } from '../data/route.ts'
import { Boundary, lazyScreen } from '../kit/lazy-screen.tsx'
import { ApplicationList } from './ApplicationList.tsx'

/** The windows that have room for the list beside an application. Keep the width equal to beside.css. */
const wide = '(width >= 75rem)'

const ApplicationShow = lazyScreen(async () => (await import('./deferred.ts')).ApplicationShow)

/**
 * The list, and the application opened from it. In a wide window the application is beside the list. Otherwise it replaces
 * the list.
 *
 * Side by side, the list handles the keys that move. The application handles the keys that decide, while no row is ticked.
 */
export function Applications({ route }: { route: Extract<Route, { screen: 'list' | 'application' }> }) {
  const { filters } = route
  const openId = route.screen === 'application' ? route.id : null
  const isBeside = useMedia(wide) && openId !== null
  const queries = useQueryClient()
  const [isTicking, setIsTicking] = useState(false)
  // An application opened by its address or by Enter takes the focus.
  const [entered, setEntered] = useState(openId)
  return (
    <div className={isBeside ? 'beside-both' : ''}>
      {(openId === null || isBeside) && (
        <ApplicationList
          {...{ filters, openId }}
          onTicking={setIsTicking}
          onEnter={(id) => {
            setEntered(id)
            if (id !== null && id === openId) focusHeading()
          }}
        />
      )}
      {openId !== null && (
        <Boundary key={openId} onTryAgain={() => queries.removeQueries()}>
          <ApplicationShow
            id={openId}
            {...{ filters, isBeside }}
            takesDecisions={!isBeside || !isTicking}
            takesFocus={!isBeside || entered === openId}
          />
        </Boundary>
      )}
    </div>
  )
}
