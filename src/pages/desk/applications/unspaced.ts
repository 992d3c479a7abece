/** The scripts that are written without spaces. `private.query_of` has the same, as ranges. */
const unspaced =
  /^[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Bopo}\p{scx=Hang}\p{scx=Yiii}\p{scx=Thai}\p{scx=Laoo}\p{scx=Khmr}\p{scx=Mymr}\p{scx=Tibt}\p{scx=Java}\p{scx=Bali}\p{scx=Bugi}\p{scx=Tale}\p{scx=Talu}\p{scx=Lana}\p{scx=Tavt}]/u

/** Whether a word is of a script without spaces, so that one character of a search finds the words that begin with it. */
export const isUnspaced = (word: string) => unspaced.test(word)
