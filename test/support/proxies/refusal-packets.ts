import type { Socket } from 'node:net';

/** How a server says no to a new connection, in the packets of its protocol. */
export type SayNo = (client: Socket, said: () => void) => void;

const MYSQL_ERROR = 0xff;

/** MySQL's answer in place of its greeting, as with "Too many connections". */
export function insteadOfGreeting(errno: number, message: string): SayNo {
  return (client, said) => client.write(mysqlPacket(0, [MYSQL_ERROR, errno & 0xff, errno >> 8], message), said);
}

/** MySQL's answer to user and password. */
export function insteadOfWelcome(errno: number, state: string, message: string): SayNo {
  return (client, said) => {
    client.write(greeting());
    client.once('data', () => {
      client.write(mysqlPacket(2, [MYSQL_ERROR, errno & 0xff, errno >> 8], `#${state}${message}`), said);
    });
  };
}

/** PostgreSQL's answer to the first message of a client. */
export function fatal(code: string, message: string): SayNo {
  return (client, said) => {
    const fields = ['SFATAL', 'VFATAL', `C${code}`, `M${message}`].map((each) => `${each}\0`).join('') + '\0';
    const length = Buffer.alloc(4);
    length.writeInt32BE(4 + Buffer.byteLength(fields));
    client.once('data', () => client.write(Buffer.concat([Buffer.from('E'), length, Buffer.from(fields)]), said));
  };
}

/** A server of MySQL 8 that knows passwords of the old kind only. */
function greeting(): Buffer {
  const capabilities = Buffer.from([0xff, 0xf7, 33, 2, 0, 0xff, 0x81, 21]);
  return mysqlPacket(
    0,
    [10],
    Buffer.concat([
      ...[Buffer.from('8.0.36\0'), Buffer.from([1, 0, 0, 0]), Buffer.from('12345678\0')],
      ...[capabilities, Buffer.alloc(10), Buffer.from('123456789012\0'), Buffer.from('mysql_native_password\0')],
    ]),
  );
}

function mysqlPacket(sequence: number, head: readonly number[], body: string | Buffer): Buffer {
  const payload = Buffer.concat([Buffer.from(head), Buffer.from(body)]);
  const length = payload.length;
  return Buffer.concat([Buffer.from([length & 0xff, (length >> 8) & 0xff, length >> 16, sequence]), payload]);
}
