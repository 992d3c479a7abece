import { webhookBody, type Application } from '../application/application.ts'

/** Browsers keep at most 64 KiB of requests alive after the page was left, headers included. */
const keepaliveLimit = 60 * 1024

/**
 * Calls the webhook once and logs what came of it. Never throws.
 *
 * The bare form-encoded body, without a header of ours, is what a browser sends across origins unasked.
 */
export async function callWebhook(application: Application, url: string, fetcher = fetch): Promise<void> {
  const body = webhookBody(application)
  const keepalive = body.toString().length <= keepaliveLimit
  try {
    const response = await fetcher(url, { method: 'POST', body, keepalive })
    console.log('Webhook answered:', response.status, await response.text())
  } catch (error) {
    console.error('Webhook failed:', error)
  }
}
