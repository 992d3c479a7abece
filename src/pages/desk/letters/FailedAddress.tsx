import { failedAddressWords } from './letters.ts'

/** The notice that an earlier letter to an address failed or came back, and when. */
export function FailedAddress({ failedAt }: { failedAt: string | null | undefined }) {
  const words = failedAddressWords(failedAt)
  return words !== '' && <p className="layout-notice error">{words}</p>
}
