-- Records that a sent letter came back, so that it counts as refused and the applicant as not told. `letter` is the id of its
-- delivery.
create function public.desk_came_back(act uuid, letter uuid) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();
  sent private.deliveries;
begin
  if me.blind then
    raise exception 'Switch blind reading off to record that a letter came back.' using errcode = '22023';
  end if;
  if private.begin_act(act, 'desk_came_back', letter::text) then
    perform private.lock_letters(array[letter]);
    select * into sent from private.deliveries where id = letter;
    if private.can_come_back(sent) is not true then
      raise exception 'This letter has changed meanwhile: somebody dealt with it, or it was sent or drafted again.'
        using errcode = 'PT409';
    end if;
    perform private.write_down(sent.application_id, act, me.email, 'returned', (
      select jsonb_build_object('occasion', occasion, 'way', way) from private.letter_deliveries where id = sent.id
    ));
    perform private.return_letter(sent);
  end if;
  return private.letter_deliveries_shown(array[letter], false) -> 0;
end
$$;
