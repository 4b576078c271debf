import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { Transport } from '@nestjs/microservices';
import type { DemoConfig } from '../demo-config.js';

/** Longer messages end their connection: the largest request of ours has some 500 characters. */
const MAX_MESSAGE_CHARACTERS = 65_536;

/** Nest's TCP transport beside HTTP, when it has a port. It listens after `app.startAllMicroservices()`. */
export function connectTcp(app: NestFastifyApplication, { host, tcpPort }: Pick<DemoConfig, 'host' | 'tcpPort'>): void {
  if (tcpPort === undefined) return;
  app.connectMicroservice({
    transport: Transport.TCP,
    options: { host, port: tcpPort, maxBufferSize: MAX_MESSAGE_CHARACTERS },
  });
}
