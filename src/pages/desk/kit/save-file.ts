import { serverTime } from '../../../client/clock.ts'
import { localTimeOf } from './format.ts'

/** Milliseconds after which every browser has started to save the file. */
const revokeDelay = 60_000

/** Saves a file with today's date in its name, such as `guests-2026-12-31.csv`. */
export function saveFile(file: Blob, name: string, extension: 'csv' | 'json'): void {
  saveFileAs(file, `${name}-${localTimeOf(serverTime()).slice(0, '2026-12-31'.length)}.${extension}`)
}

/** Saves a file with this name. */
export function saveFileAs(file: Blob, name: string): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(file)
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), revokeDelay)
}
