import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { DocumentBuilder, SwaggerModule } from '@nestjs/swagger';

/** Serves the OpenAPI document at /docs-json; the page that shows it is at /docs. */
export function serveOpenApi(app: NestFastifyApplication): void {
  const description = new DocumentBuilder()
    .setTitle('Raindrop demo')
    .setDescription('Distributed 63-bit IDs. In JSON they are strings: JavaScript would round them as numbers.')
    .setVersion('1')
    .build();
  SwaggerModule.setup('docs', app, () => SwaggerModule.createDocument(app, description), { ui: false, raw: ['json'] });
}
