-- Returns: letters that were sent and came back.

-- Whether a delivery may come back: it was sent, by our server, an automation or an organiser. Of a letter that was sent several
-- times, only the last can come back, and none while there is another draft of it.
create function private.can_come_back(delivery private.deliveries) returns boolean
  language sql stable set search_path = ''
as $$
  select delivery.state = 'done' and delivery.by <> 'elsewhere' and (delivery.kind = 'receipt' or private.is_main(delivery))
    and not exists (select from private.letters where id = delivery.letter_id and state = 'draft')
    and not exists (
      select from private.deliveries as later
      where later.letter_id = delivery.letter_id and private.is_main(later) and later.state <> 'cancelled'
        and (later.queued_at, later.id) > (delivery.queued_at, delivery.id)
    )
$$;

-- Whether a letter that asks an applicant for an RSVP arrived, or may have arrived, and none about another decision since.
create function private.was_asked(application uuid) returns boolean
  language sql stable set search_path = ''
as $$
  select coalesce((
    select coalesce(template, '') not in ('waitlisted', 'declined')
    from private.deliveries as delivery join private.letters on letters.id = letter_id
    where delivery.application_id = application and private.has_told(delivery)
      and (private.is_decision(coalesce(template, '')) or private.has_link(delivery.body))
    order by queued_at desc limit 1
  ), false)
$$;

-- Makes a sent delivery a failed one, and the applicant one who was not told by it. A letter that must no longer be sent is dropped.
-- A reminder of an acceptance that did not arrive is dropped, too. The caller has locked the letter.
create function private.return_letter(sent private.deliveries) returns void
  language plpgsql set search_path = ''
as $$
declare
  template text := (select letters.template from private.letters where id = sent.letter_id);
  is_asked boolean;
begin
  -- All at once, in the order of locks.
  perform private.lock_deliveries(array(
    select id from private.deliveries where application_id = sent.application_id and (letter_id is not null or id = sent.id)
  ));
  update private.letters set state = 'released' where id = sent.letter_id and state = 'dropped';
  update private.deliveries as delivery set state = 'failed', done_at = null, is_refused = true, reply_status = null,
      reply = 'It came back.', may_have_arrived = 0, recalled_at = null, recalled_by = null, subject = unsent.subject,
      body = unsent.body
    from private.as_unsent(sent) as unsent where delivery.id = sent.id;
  perform private.add_failure(sent.id, private.recipient(sent));
  if exists (select from private.templates where name = template)
    and not private.may_be_said(sent.application_id, template)
  then
    perform private.drop_letters(sent.application_id, template);
  end if;
  is_asked := private.was_asked(sent.application_id);
  if not is_asked and template is distinct from 'reminder' then
    perform private.drop_letters(sent.application_id, 'reminder');
  end if;
  update private.invitations set
      -- An applicant who gave an RSVP was asked, whatever came back.
      told_at = case when is_asked or rsvp is not null then told_at end,
      reminded_at = case when template in ('reminder', 'questions') then (
        select max(done_at) from private.deliveries as delivery join private.letters on letters.id = letter_id
        where delivery.application_id = sent.application_id and letters.template in ('reminder', 'questions')
      ) else reminded_at end
    where application_id = sent.application_id and sent.kind <> 'receipt';
end
$$;
