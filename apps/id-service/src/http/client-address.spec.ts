import { clientAddress } from './client-address.js';

it.each([
  ['192.0.2.1', '192.0.2.1'],
  ['192.0.2.1:4711', '192.0.2.1'],
  ['2001:db8::1', '2001:db8::1'],
  ['[2001:db8::1]:443', '2001:db8::1'],
  ['[2001:db8::1]', '2001:db8::1'],
])('%s is the client %s', (ip, address) => {
  expect(clientAddress({ ip })).toBe(address);
});

it.each(['unknown', '', '192.0.2.300', '192.0.2.1:', '192.0.2.1:x', '[192.0.2.1', '_hidden', 'x'.repeat(9_000)])(
  '%.20s is nobody',
  (ip) => {
    expect(() => clientAddress({ ip })).toThrow('X-Forwarded-For must hold IP addresses');
  },
);
