import { useRef } from 'react'

import type { CallDesk, Filter } from '../../../client/desk.ts'
import { sentenceOf } from '../messages.ts'
import { useDownload } from './download.ts'

/** Downloads what the filter lets through, as a table for spreadsheets. */
export function DownloadButton({ callDesk, filter }: { callDesk: CallDesk; filter: Filter }) {
  const { isRunning, received, error, start, stop } = useDownload(callDesk, filter)
  const button = useRef<HTMLButtonElement>(null)
  const onStop = () => {
    stop()
    // The button that was pressed goes.
    button.current?.focus()
  }
  return (
    <>
      <div className="row">
        <button ref={button} className="quiet" aria-disabled={isRunning} onClick={start}>
          Download CSV
        </button>
        {isRunning && (
          <>
            <span>{received.toLocaleString('en')} came…</span>
            <button className="quiet" onClick={onStop}>
              Stop
            </button>
          </>
        )}
      </div>
      {error !== null && (
        <p className="notice error" role="alert">
          Nothing was downloaded. {sentenceOf(error)}
        </p>
      )}
    </>
  )
}
