/** The content of `/robots.txt`. The answer page is not in it: a robot has to read the page to see that it is not for results. */
export const robots = `User-agent: *
Disallow: /auth/
Disallow: /desk
Disallow: /rest/
`
