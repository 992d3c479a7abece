-- Invitations: who gets a link, and what deliveries change about it.

-- Invites an accepted person, or ends the invitation of somebody who is no longer accepted. The names of its triggers sort after
-- `redraft`, so that letters are locked before invitations.
create function private.sync_invitation() returns trigger
  language plpgsql security definer set search_path = ''
as $$
begin
  if new.status = 'accepted' then
    insert into private.invitations (application_id, is_accepted) values (new.application_id, true)
      on conflict (application_id) do update set is_accepted = true;
  else
    update private.invitations set is_accepted = false where application_id = new.application_id and is_accepted;
  end if;
  return null;
end
$$;

create trigger then_accept_first after insert on private.statuses
  for each row when (new.status = 'accepted') execute function private.sync_invitation();
create trigger then_accept after update of status on private.statuses
  for each row when ((old.status = 'accepted') <> (new.status = 'accepted')) execute function private.sync_invitation();

-- Runs when a letter arrived or may have arrived. A decision is then also sent to an automation, if a server for automations was
-- seen within a day. A letter of acceptance, or one with the link, starts the time for the RSVP. A letter about another decision
-- resets the invitation: a later acceptance has a new link and no RSVP. It resets nothing if a later letter that asks for an RSVP
-- has already arrived.
create function private.follow_told() returns trigger
  language plpgsql security definer set search_path = ''
as $$
declare
  template text := (select letters.template from private.letters where id = new.letter_id);
begin
  -- Queued once, even if an earlier try may have arrived. Letters sent by hand are excluded: the automation might email the
  -- applicant too.
  if private.is_decision(template) and new.kind = 'letter' and new."by" <> 'hand' then
    insert into private.deliveries (kind, application_id, letter_id, subject, body, act, author, is_beside)
      select 'decision', new.application_id, new.letter_id, new.subject, new.body, new.act, new.author, true
      from private.postman
      where automation_seen_at > now() - interval '1 day' and not exists (
        select from private.deliveries as told
        where told.letter_id = new.letter_id and told.kind = 'decision' and told.act is not distinct from new.act
      );
  end if;
  if private.is_decision(template) and template <> 'accepted' then
    if exists (
      select from private.deliveries as later join private.letters as letter on letter.id = later.letter_id
      where later.application_id = new.application_id and private.has_told(later) and later.queued_at > new.queued_at
        and (letter.template = 'accepted' or private.has_link(later.body))
    ) then
      return null;
    end if;
    update private.invitations
      set token = gen_random_uuid(), told_at = null, deadline = null, is_deadline_set = false, rsvp = null, rsvp_at = null
      where application_id = new.application_id
        and (told_at is not null or deadline is not null or rsvp is not null);
  elsif template = 'accepted' or private.has_link(new.body) then
    update private.invitations set
        told_at = now(), deadline = coalesce(deadline, private.today() + (select days from private.places))
      where application_id = new.application_id and told_at is null;
  end if;
  if template in ('reminder', 'questions') and new.state = 'done' then
    update private.invitations set reminded_at = new.done_at where application_id = new.application_id;
  end if;
  return null;
end
$$;

create trigger follow_told after update of state, may_have_arrived on private.deliveries
  for each row when (
    new.letter_id is not null and not new.is_beside
    and (new.state = 'done' and old.state <> 'done' or new.may_have_arrived > old.may_have_arrived)
  )
  execute function private.follow_told();
