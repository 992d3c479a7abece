-- Settles the letters that a restore brought back. The database that the backup was taken from may have sent them since, so
-- somebody has to look: what was on its way is a draft again. Receipts, what was withdrawn on its way, and what an automation
-- was to be told beside a letter end here.
create function private.settle_restored_letters() returns void
  language plpgsql set search_path = ''
as $$
declare
  under_way uuid[];
begin
  perform private.move(array(
    select id from private.letters as letter
    where state in ('waiting', 'sending')
      and (occasion = 'received' or withdrawn_at is not null or not private.is_to_applicant(letter))
  ), 'withdrawn');
  under_way := array(select id from private.letters where state in ('waiting', 'sending'));
  perform private.move(under_way, 'withdrawn');
  perform private.move(under_way, 'draft');
  update private.letters set way = 'mail', released_at = null, act = null,
      subject = case when not from_template then subject end, body = case when not from_template then body end
    where state = 'draft' and released_at is not null;
  -- In older backups this was no column of its own: it was in the column of the mail server's answer.
  update private.letters set otherwise = case answer when 'sent by hand' then 'by hand' else 'told' end, answer = ''
    where state = 'sent' and answer in ('sent by hand', 'told otherwise');
end
$$;

revoke all on function private.settle_restored_letters() from public, anon, authenticated;
