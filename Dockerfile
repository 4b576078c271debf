# The ID service (apps/id-service): docs/service.md#deployment says how to run it.

# Nothing is compiled: better-sqlite3 13 brings its binaries.
FROM node:24-slim@sha256:cd84903a12dbd26b46f1f3b8144a2568c41c5d37ddd0c7a80a34c7a19786b35f AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY libs/core/package.json libs/core/
COPY libs/node/package.json libs/node/
COPY libs/typeorm/package.json libs/typeorm/
COPY libs/orm/package.json libs/orm/
COPY libs/nestjs/package.json libs/nestjs/
COPY libs/cli/package.json libs/cli/
COPY bench/package.json bench/
COPY tools/no-scarf tools/no-scarf/
COPY tools/sqlite-on-node-20 tools/sqlite-on-node-20/
RUN npm ci --no-audit --no-fund
COPY . .
RUN npm run build && npm prune --omit=dev --no-audit --no-fund

# The same image, and what runs only.
FROM node:24-slim@sha256:cd84903a12dbd26b46f1f3b8144a2568c41c5d37ddd0c7a80a34c7a19786b35f
ENV NODE_ENV=production HOST=0.0.0.0 PORT=3000
WORKDIR /app
COPY --from=build /app ./
# Where SQLite's file goes when no DATABASE_URL is given; nothing else is ever written.
RUN install --directory --owner=node --group=node data
VOLUME /app/data
USER node
EXPOSE 3000
# Whether it can issue IDs, not only whether it runs.
HEALTHCHECK --interval=5s --timeout=3s --start-period=30s --retries=3 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:' + process.env.PORT + '/health/ready').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
# Node is process 1 and gets the signal itself: requests are served to their end, then the worker id is given back.
STOPSIGNAL SIGTERM
CMD ["node", "dist/apps/id-service/main.js"]
