import fc from 'fast-check';
import { base64url } from './codecs.js';
import { InvalidIdError, MAX_ID } from './id-codec.js';
import { EDGES } from '../../../../test/support/engine/caught.js';

const anyId = fc.oneof(fc.constantFrom(...EDGES), fc.bigInt({ min: 0n, max: MAX_ID }));

const bytesOf = (id: bigint): Buffer => {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(id);
  return bytes;
};

describe('base64url', () => {
  it('writes what a library for bytes makes of the eight big-endian bytes', () => {
    fc.assert(
      fc.property(anyId, (id) => {
        const text = bytesOf(id).toString('base64url');
        expect(base64url.encode(id)).toBe(text);
        expect(base64url.decode(text)).toBe(id);
      }),
    );
  });

  it.each(['AAAAAAAAAAB', 'AAAAAAAAAAC', 'AAAAAAAAAAD', 'f_________9', 'f__________'])(
    'refuses %s, whose last two bits are no part of the bytes',
    (text) => {
      expect(Buffer.from(text, 'base64url')).toHaveLength(8);
      expect(() => base64url.decode(text)).toThrow(InvalidIdError);
    },
  );

  it.each(['gAAAAAAAAAA', '__________8'])('refuses %s, a number above 2^63 - 1', (text) => {
    expect(Buffer.from(text, 'base64url').readBigUInt64BE() >= 2n ** 63n).toBe(true);
    expect(() => base64url.decode(text)).toThrow(InvalidIdError);
  });

  it.each(['AAAAAAAAAAA=', 'AAAAAAAAAA', 'AAAAAAAAAA+', 'AAAAAAAAAA/'])('refuses %s', (text) => {
    expect(() => base64url.decode(text)).toThrow(InvalidIdError);
  });
});
