-- Checks the kinds of templates.
alter table private.templates validate constraint templates_kind_check;
