/** Says whom to ask for a link, since this site sends no emails. */
export function AskOperator({ email }: { email: string }) {
  return (
    <p className="layout-notice error" role="alert">
      This site sends no emails. Please ask your operator for a link to sign in as <bdi>{email}</bdi>.
    </p>
  )
}
