/** `urn:uuid:` and a UUID: what names one occurrence. Only answers over HTTP have it. */
const INSTANCE = /^urn:uuid:[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/;

expect.extend({
  isProblem(actual: Record<string, unknown> | undefined, expected: object) {
    const { instance, ...rest } = actual ?? {};
    const isInstance = instance === undefined || (typeof instance === 'string' && INSTANCE.test(instance));
    const shown = this.utils.printExpected(expected);
    return { pass: isInstance && this.equals(rest, expected), message: () => `a problem like ${shown}` };
  },
});

/** What a problem looks like, for `toEqual`. @param detail or a part of it */
export function problemLike(status: number, errorCode: string, detail: string, fields: object = {}): object {
  const matchers = expect as unknown as { isProblem(expected: object): object };
  return matchers.isProblem({
    type: 'about:blank',
    title: expect.any(String) as string,
    status,
    errorCode,
    retryable: false,
    detail: expect.stringContaining(detail) as string,
    ...fields,
  });
}
