import type { Application } from '../application/application.ts'
import type { DataInterface } from './rest.ts'
import { insertApplication } from './insert.ts'
import { callWebhook } from './webhook.ts'

/** The page's backend: where applications are sent. */
export interface Backend extends DataInterface {
  /** The webhook that the page calls after an application was stored; absent if the backend calls it. */
  webhookUrl?: string | undefined
}

/**
 * Sends an application: stores it, then calls the webhook, whose outcome is ignored.
 *
 * @throws {Error} if the application was not stored, or there was no response.
 */
export async function submitApplication(application: Application, backend: Backend): Promise<void> {
  await insertApplication(application, backend)
  if (backend.webhookUrl !== undefined) void callWebhook(application, backend.webhookUrl)
}
