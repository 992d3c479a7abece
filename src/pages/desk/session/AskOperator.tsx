/** Says whom to ask for a link, since this site sends no emails. */
export function AskOperator({ email }: { email: string }) {
  return (
    <div className="layout-notice error" role="alert">
      <p>
        This site sends no emails. Please ask the person who runs it for a link to sign in. This command
        creates one:
      </p>
      <p>
        <code>
          npm run organisers -- <span className="layout-whole">--link</span> {email}
        </code>
      </p>
    </div>
  )
}
