-- Sends the caller a text, filled in for an application as its applicant would get it. Repeating the act sends no second
-- email.
create function public.desk_send_test(
  subject text, body text, application uuid default null, occasion text default null,
  act uuid default null, site text default null
) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
  text jsonb;
begin
  perform private.check_template(occasion, subject, body);
  perform private.check_site(site);
  act := coalesce(act, gen_random_uuid());
  if not private.begin_act(act, 'desk_send_test', subject, body, application::text, occasion, site) then
    return jsonb_build_object('to', me.email);
  elsif not private.is_postman_there() then
    raise exception 'No letter can be sent: no server with a mail server is running.' using errcode = 'PT409';
  end if;
  text := private.example(occasion, subject, body, application, me.blind, site);
  if text is null then
    raise exception 'There is no application to fill it with yet.' using errcode = '22023';
  elsif (text ->> 'is_long')::boolean then
    raise exception 'This letter is too long once filled in.' using errcode = '22023';
  end if;
  perform from public.retreat_applications where id = (text ->> 'application')::uuid for key share;
  if not found then
    raise exception 'There is no such application: it may have been erased.' using errcode = 'PT404';
  end if;
  -- Serialises concurrent calls, so that each is counted.
  perform from private.organisers where account_id = me.id for no key update;
  if (
    select count(*) from private.deliveries
    where organiser_id = me.id and kind = 'test'
      and private.happened_within(queued_at, '1 hour')
  ) >= 20 then
    raise exception 'At most twenty test emails an hour.' using errcode = 'PT429';
  end if;
  insert into private.deliveries (id, kind, organiser_id, application_id, subject, body)
    values (act, 'test', me.id, (text ->> 'application')::uuid,
      '[Test] ' || private.with_deadline(text ->> 'subject', (text ->> 'reply_by')::date),
      private.with_deadline(text ->> 'body', (text ->> 'reply_by')::date));
  update private.first_steps set ticked = ticked || '{test}' where not 'test' = any (ticked);
  return jsonb_build_object('to', me.email);
end
$$;
