/** The content of `/robots.txt`. The pages of links are not in it: a robot has to read a page to see that it is not for results. */
export const robots = `User-agent: *
Disallow: /auth/
Disallow: /desk
Disallow: /rest/
`
