-- Former names of functions. Servers of 1.2.1 call them while they run beside a newer one, so they stay for one release.

create function private.keep_notices() returns void
  language plpgsql set search_path = ''
as $$ begin perform private.tidy_notices(); end $$;

create function private.keep_answers() returns integer
  language plpgsql set search_path = ''
as $$ begin return private.announce_and_erase_answers(); end $$;

create function private.keep_applications(most integer) returns jsonb
  language plpgsql set search_path = ''
as $$ begin return private.announce_and_erase_applications(most); end $$;
