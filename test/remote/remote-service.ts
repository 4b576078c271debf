import 'reflect-metadata';
import type { AddressInfo } from 'node:net';
import { createDemo } from '../../apps/demo/src/create-demo.js';
import { readDemoConfig } from '../../apps/demo/src/demo-config.js';

/** The demo as an ID service for clients, in a process of its own; says where it is in its first line. */
async function main(): Promise<void> {
  const config = readDemoConfig(process.env);
  const app = await createDemo(config);
  app.enableShutdownHooks(['SIGINT', 'SIGTERM'], { useProcessExit: true });
  if (config.tcpPort !== undefined) await app.startAllMicroservices();
  await app.listen(config.port, config.host);
  console.log(`ready ${(app.getHttpServer().address() as AddressInfo).port}`);
}

void main().catch((error: unknown) => {
  console.error(error);
  process.exit(1);
});
