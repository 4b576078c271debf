/** The names under which a host reaches itself, and nobody else does. */
export const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[?::1\]?)$/;
