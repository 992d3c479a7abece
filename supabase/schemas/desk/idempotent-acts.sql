-- Acts make calls idempotent: the caller sends an id. If the response is lost, a retry with the same id returns the first
-- result. Calls that set values, such as `desk_set_door`, need no id: values that are stored already are no change, whatever
-- version was seen.

-- The ids in the list that an act has as its result: of its applications, and of its letters.
create function private.ids_in(result jsonb) returns jsonb
  language sql immutable parallel safe
  return jsonb_path_query_array(result, '$[*].id') || jsonb_path_query_array(result, '$[*].application');

-- Finds the acts whose result is such a list, regardless of how many others there are. Without `fastupdate`, each erasure would
-- read a list of what the index does not have yet.
create index acts_ids on private.acts using gin (private.ids_in(result)) with (fastupdate = off)
  where jsonb_typeof(result) = 'array';

-- Deletes acts that are older than a day, at most `most`. Skips those that another call is deleting.
create function private.delete_expired_acts(most integer) returns void
  language sql set search_path = ''
as $$
  delete from private.acts where act = any (array(
    select act from private.acts where at < now() - interval '1 day' limit most for update skip locked
  ))
$$;

-- Begins an act. Returns false for a retry, after waiting for the first call to finish. Refuses an id that was used with
-- another call, other arguments or another account. The history remembers an act longer than a day, and through a restore.
create function private.begin_act(act uuid, call text, variadic arguments text[]) returns boolean
  language plpgsql set search_path = ''
as $$
declare
  digest constant text := md5(begin_act.arguments::text);
begin
  if act is null then
    raise exception 'The act needs an id.' using errcode = '22023';
  end if;
  insert into private.acts (act, account_id, call, given)
    values (begin_act.act, auth.uid(), begin_act.call, digest) on conflict do nothing;
  if found then
    perform private.delete_expired_acts(1000);
    perform from private.history where history.act = begin_act.act;
    if not found then
      return true;
    end if;
    perform from private.history
      where history.act = begin_act.act and history.given = begin_act.call || ' ' || digest
        and coalesce(author_id, auth.uid()) is not distinct from auth.uid();
  else
    perform from private.acts
      where acts.act = begin_act.act and acts.call = begin_act.call and acts.given = digest
        and account_id is not distinct from auth.uid();
  end if;
  if not found then
    raise exception 'This id was used for another act: nothing was saved.' using errcode = 'PT409';
  end if;
  return false;
end
$$;

-- Stores the result of an act, and returns it.
create function private.end_act(act uuid, result jsonb) returns jsonb
  language sql set search_path = ''
as $$
  update private.acts set result = end_act.result where acts.act = end_act.act returning result
$$;
