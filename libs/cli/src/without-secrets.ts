/** Of a URL, up to the last @ of the line: a password may hold spaces, slashes and @ of its own. */
const CREDENTIALS = /:\/\/[^\n]*@/g;

/** `?password=...`, as some drivers take it. */
const PARAMETERS = /([?&](?:password|pass|pwd|sslpassword|sslkey)=)[^&\s'"]*/gi;

/** A URL that was mistyped may be quoted in a message, with the password in it. */
export function withoutSecrets(text: string): string {
  return text.replace(CREDENTIALS, '://***@').replace(PARAMETERS, '$1***');
}
