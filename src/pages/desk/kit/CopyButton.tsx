import { announce } from './announce.tsx'
import { Button } from './Button.tsx'

interface CopyButtonProps {
  text: string
  /** The announcement after a success. */
  copied?: string
  /** The thing that is copied, if several buttons share the words. */
  about?: string
  /** Called after each press. It fails without HTTPS, where browsers have no clipboard. */
  onCopied: (isCopied: boolean) => void
}

/** A button that copies a text. */
export function CopyButton({ text, copied = 'Copied.', about, onCopied }: CopyButtonProps) {
  const copy = async () => {
    const isCopied = await Promise.resolve()
      .then(() => navigator.clipboard.writeText(text))
      .then(
        () => true,
        () => false,
      )
    if (isCopied) announce(copied)
    onCopied(isCopied)
  }
  return (
    <Button about={about} onPress={() => void copy()}>
      Copy
    </Button>
  )
}

/** Selects a text that could not be copied, so that it can be copied by hand. */
export function selectToCopy(element: Element | null): void {
  if (element) getSelection()?.selectAllChildren(element)
  announce('Not copied. The text is selected: copy it with your browser.')
}
