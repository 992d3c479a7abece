-- Adds a person to the newest edition who did not apply. `person` has form answers: a first name and an email are required, and the
-- others may be missing. Nobody is told, unless `receipt` or `webhook` is set. Without `again`, nobody is added whose email is in this
-- edition already. The act's id becomes the application's, so that repeating the act adds nobody. The result is {application,
-- receipt, others}: the id of the added application, null if nobody was added; whether a receipt was written, which too many others
-- to the same address or company prevent; and up to twenty others of this email in this edition.
create function public.desk_add(
  act uuid, person jsonb, again boolean default false, receipt boolean default false, webhook boolean default false
) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
  newest integer := private.edition_in('{}');
  answers public.retreat_applications := jsonb_populate_record(null::public.retreat_applications, person);
begin
  if me.blind then
    raise exception 'Switch blind reading off to add a person.' using errcode = '22023';
  elsif private.trimmed(coalesce(answers.first_name, '')) = '' then
    raise exception 'Enter the first name of the person.' using errcode = '22023';
  end if;
  perform private.check_address(answers.email);
  if private.begin_act(act, 'desk_add', person::text, again::text, receipt::text, webhook::text) and (again or not exists (
    select from public.retreat_applications as other
    where private.person(other.email) = private.person(answers.email) and other.edition = newest
  )) then
    begin
      insert into public.retreat_applications (id, added_by, consent, first_name, last_name, email, phone, linkedin, company,
          paid_solution, custom_solution, team_size, reason)
        select act, me.email, false, answers.first_name, coalesce(answers.last_name, ''), answers.email, coalesce(answers.phone, ''),
          coalesce(answers.linkedin, ''), coalesce(answers.company, ''), coalesce(answers.paid_solution, ''),
          coalesce(answers.custom_solution, ''), coalesce(answers.team_size, ''), coalesce(answers.reason, '')
        returning * into answers;
    exception when unique_violation then
      raise exception 'Somebody added a person with exactly these answers already.' using errcode = 'PT409';
    end;
    perform private.write_down(answers.id, act, me.email, 'added', '{}');
    if receipt then perform private.write_receipt(answers); end if;
    if webhook then
      insert into private.deliveries (id, kind) values (answers.id, 'application');
    end if;
  end if;
  return jsonb_build_object('application', (select id from public.retreat_applications where id = act), 'receipt', exists (
    select from private.deliveries where application_id = desk_add.act and kind = 'receipt'
  ), 'others', (
    select coalesce(jsonb_agg(
      private.names(other) || jsonb_build_object('id', id, 'status', coalesce(status, 'new'))
      order by other.created_at desc, id desc), '[]')
    from (
      select id from public.retreat_applications as stored
      where private.person(stored.email) = private.person(desk_add.person ->> 'email') and stored.edition = newest and id <> act
      order by created_at desc, id desc limit 20
    ) as same_email
      join public.retreat_applications as other using (id) left join private.statuses on application_id = id
  ));
end
$$;
