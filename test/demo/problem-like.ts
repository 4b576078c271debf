/** What a problem looks like, for `toEqual`. @param detail or a part of it */
export function problemLike(status: number, errorCode: string, detail: string, fields: object = {}): object {
  return {
    type: 'about:blank',
    title: expect.any(String) as string,
    status,
    errorCode,
    retryable: false,
    detail: expect.stringContaining(detail) as string,
    ...fields,
  };
}
