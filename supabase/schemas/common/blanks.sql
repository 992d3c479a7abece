-- The schema of everything that visitors and organisers cannot read, and the blanks of texts.

-- The API exposes `public`. Only our own functions and servers use `private`. rights.sql has the rights.
create schema if not exists private;

-- The characters that are blank wherever a text is read: white space, control characters and characters that show nothing.
-- Selectors after an emoji are not in it, since they change what it looks like. `application/blank.ts` has the same characters.
create function private.blanks() returns text
  language sql immutable parallel safe
  return E'\u0001\u0002\u0003\u0004\u0005\u0006\u0007\u0008\u0009\u000a\u000b\u000c\u000d\u000e\u000f\u0010\u0011\u0012\u0013\u0014'
    '\u0015\u0016\u0017\u0018\u0019\u001a\u001b\u001c\u001d\u001e\u001f\u0020\u007f\u0080\u0081\u0082\u0083\u0084\u0085\u0086'
    '\u0087\u0088\u0089\u008a\u008b\u008c\u008d\u008e\u008f\u0090\u0091\u0092\u0093\u0094\u0095\u0096\u0097\u0098\u0099\u009a'
    '\u009b\u009c\u009d\u009e\u009f\u00a0\u00ad\u061c\u115f\u1160\u1680\u180e\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007'
    '\u2008\u2009\u200a\u200b\u200c\u200d\u200e\u200f\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u202f\u205f\u2060\u2061\u2062'
    '\u2063\u2064\u2065\u2066\u2067\u2068\u2069\u206a\u206b\u206c\u206d\u206e\u206f\u2800\u3000\u3164\ufeff\uffa0';

-- A text without the blanks at both ends. Rows are stored as they were sent, so whatever reads a form answer trims it. The result
-- is '' for a text that shows nothing.
create function private.trimmed(said text) returns text
  language sql immutable parallel safe
  return btrim(said, private.blanks());
