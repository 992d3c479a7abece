/** A pulled plug that hangs on a twig. It bounces. */
export function Plug() {
  return (
    <svg className="plug" viewBox="-24 -10 80 66" width="80" height="66" aria-hidden="true">
      <path className="cord" d="M-22 6c24 3 44-9 76-7m-22-2 9-5" />
      <PlugAndCord />
    </svg>
  )
}

/** The plug with its cord, as in the icon: in a coordinate system of 32 by 51. */
export function PlugAndCord() {
  return (
    <>
      <path className="cord" d="M16 0c0 7-9 7-9 13s9 5 9 11" />
      <path d="M9 24h14a2 2 0 0 1 2 2v6a9 9 0 0 1-18 0v-6a2 2 0 0 1 2-2Z" />
      <path className="cord" d="M12 42v9m8-9v9" />
    </>
  )
}

/** The landscape: a low sun or the moon over hills. */
export function Hills() {
  return (
    <svg className="hills" viewBox="0 0 1440 260" preserveAspectRatio="xMidYMax slice" aria-hidden="true">
      <path
        className="stars"
        d="M130 62h0m92-38h0m150 44h0m128-52h0m110 70h0m150-60h0m96 34h0m290-40h0m66 52h0m110-24h0"
      />
      <circle className="sun" cx="890" cy="82" r="58" />
      <path className="birds" d="M718 62q8-9 15 0 7-9 15 0m18-22q6-7 12 0 6-7 12 0" />
      <path className="far" d="M0 150c120-44 236-62 352-34s196 44 318 2 236-62 356-22 262 52 414-6v170H0Z" />
      <path className="middle" d="M0 196c150-50 300-46 448-12s330 30 480-12 330-42 512 10v78H0Z" />
      <path
        className="pines"
        d="m236 196 16-46 16 46zm30 4 12-36 12 36zm-58 2 11-32 11 32zm946-10 18-54 18 54zm34 4 13-38 13 38z"
      />
      <path className="near" d="M0 238c200-44 420-34 640-10s520 24 800-14v50H0Z" />
    </svg>
  )
}
