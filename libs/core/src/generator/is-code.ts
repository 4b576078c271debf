/** Whether something is a text of 1 to 128 characters. */
export function isCode(code: unknown): code is string {
  return typeof code === 'string' && code.length > 0 && code.length <= 128;
}
