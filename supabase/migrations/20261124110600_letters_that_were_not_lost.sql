-- Sets an answer, null for none, once for each act. Whoever calls has locked the application. The newest counts, and all
-- are kept. Who has answered is reminded no more.
create or replace function private.set_answer(application uuid, act uuid, author text, answer text) returns void
  language plpgsql set search_path = ''
as $$
declare
  is_repeat boolean := exists (
    select from private.history where application_id = application and history.act = set_answer.act
  );
begin
  if not is_repeat and exists (
    select from private.acceptances as acceptance
    where application_id = application and acceptance.answer is not distinct from set_answer.answer
  ) then
    return;
  end if;
  perform private.write_down(application, act, author, 'answer', jsonb_build_object('answer', answer));
  if is_repeat then return; end if;
  if answer is not null then
    -- First of all: a server takes letters, and gives them back, without a lock on the application.
    perform from private.letters
      where application_id = application and occasion = 'reminder' and state not in ('sent', 'withdrawn')
      order by id for update;
    -- Also those that did not arrive, which somebody might try again.
    perform private.move(array(
      select id from private.letters
      where application_id = application and occasion = 'reminder' and state not in ('sending', 'sent', 'withdrawn')
    ), 'withdrawn');
    -- What a server is handing over is marked: it may arrive, but is not tried again.
    update private.letters set withdrawn_at = now()
      where application_id = application and occasion = 'reminder' and state = 'sending';
  end if;
  update private.acceptances as acceptance
    set answer = set_answer.answer, answered_at = case when set_answer.answer is not null then now() end
    where application_id = application;
  if author = 'applicant' then
    perform private.write_answer_notices(application, act);
  end if;
end
$$;
