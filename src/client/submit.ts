import type { Application } from '../application/application.ts'
import type { DataInterface } from './rest.ts'
import { insertApplication } from './insert.ts'
import { callWebhook } from './webhook.ts'

/** Where applications go: what the page has to know of the backend that it talks to. */
export interface Backend extends DataInterface {
  /** Where the page sends an application on after it was stored; null where the backend does that itself. */
  webhookUrl: string | null
}

/**
 * Sends an application: stores it, then calls the webhook, whose outcome changes nothing.
 *
 * @throws {Error} where the application was not stored, or no answer said that it was.
 */
export async function submitApplication(application: Application, backend: Backend): Promise<void> {
  await insertApplication(application, backend)
  if (backend.webhookUrl !== null) void callWebhook(application, backend.webhookUrl)
}
