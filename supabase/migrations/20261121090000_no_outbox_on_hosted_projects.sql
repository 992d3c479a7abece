-- A hosted project has nobody who empties the outbox: its page calls the webhook itself. So an application
-- queues nothing there any more. The table stays, for a server of our own that is pointed at the project's
-- database: its own migrations make the trigger again, under another name, which nothing here takes away.
drop trigger if exists enqueue_webhook on public.retreat_applications;
