import type { Socket } from 'node:net';
import { TcpProxy } from './tcp-proxy';

const COM_QUERY = 0x03;
const COM_UNKNOWN = 0xf0;

/**
 * Makes a MariaDB answer some statements with 1047 (ER_UNKNOWN_COM_ERROR) and leave the transaction as it is, as a node of
 * Galera does that has lost its cluster: they arrive as a command that does not exist.
 */
export class RefusingMysqlProxy extends TcpProxy {
  /** Statements, to be refused once each, in this order. */
  refuse: string[] = [];

  protected override lead(client: Socket): void {
    super.lead(client, (data, to) => {
      const sql = data.length > 5 && data[4] === COM_QUERY ? data.subarray(5).toString() : undefined;
      if (sql !== undefined && sql === this.refuse[0]) {
        this.refuse.shift();
        data[4] = COM_UNKNOWN;
      }
      to.write(data);
    });
  }
}
