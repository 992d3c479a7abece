-- A test letter is filled with an application, which somebody may erase while the test is written.
create or replace function public.desk_send_test(
  subject text, body text, application uuid default null, occasion text default null,
  act uuid default null
) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
  text jsonb;
begin
  perform private.check_template(occasion, subject, body);
  if not exists (select from private.postman where seen_at > now() - interval '1 minute') then
    raise exception 'Nobody carries letters: no server with a mail server is at work.' using errcode = 'PT409';
  end if;
  text := private.example(occasion, subject, body, application, me.blind);
  if text is null then
    raise exception 'There is no application to fill it with yet.' using errcode = '22023';
  elsif (text ->> 'is_long')::boolean then
    raise exception 'Filled in, this letter is longer than a letter may be.' using errcode = '22023';
  end if;
  perform from public.retreat_applications where id = (text ->> 'application')::uuid for key share;
  if not found then
    raise exception 'There is no such application: it may have been erased.' using errcode = 'PT404';
  end if;
  -- Whoever calls twice at the same moment is counted one after the other.
  perform from private.organisers where account_id = auth.uid() for no key update;
  if exists (select from private.notices as test where id = act and organiser_id = auth.uid()) then
    return jsonb_build_object('to', me.email);
  elsif (
    select count(*) from private.notices as test
    where organiser_id = auth.uid() and test.body is not null
      and created_at > now() - interval '1 hour' and created_at <= clock_timestamp()
  ) >= 20 then
    raise exception 'At most twenty tests an hour.' using errcode = 'PT429';
  end if;
  insert into private.notices (id, organiser_id, example_id, subject, body)
    values (coalesce(act, gen_random_uuid()), auth.uid(), (text ->> 'application')::uuid,
      '[Test] ' || (text ->> 'subject'), text ->> 'body');
  return jsonb_build_object('to', me.email);
end
$$;
