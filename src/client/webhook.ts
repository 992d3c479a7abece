import { webhookBody, type Application } from '../application/application.ts'

/**
 * The most bytes of a body that is sent with `keepalive`, so that the request may outlive the page. Browsers refuse such requests
 * above 64 KiB, including headers.
 */
const keepaliveLimit = 60 * 1024

/**
 * Calls the webhook once and logs the result. Never throws.
 *
 * Browsers need no preflight to send a form-encoded body without custom headers to another origin.
 */
export async function callWebhook(application: Application, url: string, fetcher = fetch): Promise<void> {
  const body = webhookBody(application)
  const keepalive = body.toString().length <= keepaliveLimit
  try {
    const response = await fetcher(url, { method: 'POST', body, keepalive })
    console.log('Webhook response:', response.status, await response.text())
  } catch (error) {
    console.error('Webhook failed:', error)
  }
}
