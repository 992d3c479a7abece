import { useEffect, useState } from 'react'

/** Milliseconds without a key after which what is typed is looked at. */
const pause = 400

/** What is typed, once nobody types. */
export function usePaused(typed: string): string {
  const [text, setText] = useState(typed)
  useEffect(() => {
    const timer = setTimeout(() => setText(typed), pause)
    return () => clearTimeout(timer)
  }, [typed])
  return text
}
