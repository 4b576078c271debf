/** What an example answers. */
export interface Answer<Body> {
  readonly status: number;
  readonly body: Body;
}

/** GET, or POST where a body is given: as JSON both ways. */
export async function send<Body>(
  url: string,
  { body, headers = {} }: { readonly body?: object; readonly headers?: Readonly<Record<string, string>> } = {},
): Promise<Answer<Body>> {
  const request =
    body === undefined
      ? { headers }
      : {
          method: 'POST',
          headers: { ...headers, 'content-type': 'application/json' },
          body: JSON.stringify(body),
        };
  const answer = await fetch(url, request);
  return { status: answer.status, body: (await answer.json()) as Body };
}
