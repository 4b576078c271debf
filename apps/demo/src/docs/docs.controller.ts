import { Controller, Get, Header, NotFoundException, Param, StreamableFile } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { createReadStream } from 'node:fs';
import { dirname, join } from 'node:path';

/** The files of Swagger UI that the page needs, and nothing else. */
const FILES = new Map([
  ['swagger-ui.css', 'text/css; charset=utf-8'],
  ['swagger-ui-bundle.js', 'text/javascript; charset=utf-8'],
  ['favicon-32x32.png', 'image/png'],
]);

/** Swagger UI comes with @nestjs/swagger. */
const FOLDER = dirname(
  require.resolve('swagger-ui-dist/package.json', { paths: [dirname(require.resolve('@nestjs/swagger'))] }),
);

const PAGE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <title>Raindrop demo</title>
    <link rel="icon" type="image/png" href="/docs/favicon-32x32.png" />
    <link rel="stylesheet" href="/docs/swagger-ui.css" />
  </head>
  <body>
    <div id="swagger-ui"></div>
    <script src="/docs/swagger-ui-bundle.js"></script>
    <script src="/docs/start.js"></script>
  </body>
</html>
`;

const START = `SwaggerUIBundle({ url: '/docs-json', dom_id: '#swagger-ui', deepLinking: true, tryItOutEnabled: true });\n`;

/** The page at /docs. Nest's own would need one more package to serve these three files from Fastify. */
@ApiExcludeController()
@Controller('docs')
export class DocsController {
  @Get()
  @Header('content-type', 'text/html; charset=utf-8')
  page(): string {
    return PAGE;
  }

  @Get('start.js')
  @Header('content-type', 'text/javascript; charset=utf-8')
  start(): string {
    return START;
  }

  @Get(':file')
  file(@Param('file') name: string): StreamableFile {
    const type = FILES.get(name);
    if (type === undefined) throw new NotFoundException();
    return new StreamableFile(createReadStream(join(FOLDER, name)), { type });
  }
}
