# The service: broker and lending worker, which of them says ROLES. See docker-compose.kafka.yml.

FROM node:24-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY scripts/without-telemetry ./scripts/without-telemetry
COPY scripts/examples/generated-clients/typescript/package.json ./scripts/examples/generated-clients/typescript/
RUN npm ci --no-fund --no-audit
COPY tsconfig.json ./
COPY src ./src
RUN node_modules/.bin/tsc --incremental false && node_modules/.bin/vite build src/admin

FROM node:24-slim AS packages
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY scripts/without-telemetry ./scripts/without-telemetry
COPY scripts/examples/generated-clients/typescript/package.json ./scripts/examples/generated-clients/typescript/
RUN npm ci --omit=dev --no-fund --no-audit && npm cache clean --force
COPY scripts/sbom scripts/prepare.sh ./scripts/
RUN scripts/sbom cyclonedx > sbom.cdx.json

FROM node:24-slim
# Where the image comes from: docker build --build-arg REVISION=$(git rev-parse HEAD) \
#   --build-arg CREATED=$(git log -1 --format=%cI) --build-arg SOURCE=<address of the repository>
ARG REVISION=unknown
ARG CREATED=unknown
ARG SOURCE=unknown
LABEL org.opencontainers.image.title="lendstream" \
  org.opencontainers.image.description="An event-streaming broker for core banking" \
  org.opencontainers.image.version="0.1.0" \
  org.opencontainers.image.licenses="Apache-2.0" \
  org.opencontainers.image.base.name="docker.io/library/node:24-slim" \
  org.opencontainers.image.revision="$REVISION" \
  org.opencontainers.image.created="$CREATED" \
  org.opencontainers.image.source="$SOURCE"
ENV NODE_ENV=production HOST=0.0.0.0 PORT=8080 DATA_DIR=/data
WORKDIR /app
COPY --from=packages /app/node_modules ./node_modules
COPY --from=packages /app/sbom.cdx.json ./
COPY package.json ./
COPY schemas ./schemas
# Beside the compiled files, what they read from the folders of the sources, such as Lua scripts.
COPY src ./src
COPY --from=build /app/dist ./dist
RUN mkdir -m 700 /data && chown node:node /data
USER node
VOLUME /data
EXPOSE 8080
# /health tells that the process is alive; /ready, that it can serve, which also hangs on Kafka and Redis: an outage of
# theirs is no reason to start this process anew. Over TLS the certificate has another name than 127.0.0.1.
HEALTHCHECK --interval=5s --timeout=3s --start-period=60s --retries=3 \
  CMD ["node", "-e", "require(process.env.TLS_CERTIFICATE ? 'https' : 'http').get({ port: process.env.PORT, path: '/health', rejectUnauthorized: false }, ({ statusCode }) => process.exit(statusCode === 200 ? 0 : 1)).on('error', () => process.exit(1))"]
# An API key is needed: HOST is every address of the container. Ends on SIGTERM, when open streams had their last line.
CMD ["node", "--enable-source-maps", "--initial-old-space-size=384", "--max-semi-space-size=32", "dist/src/main.js"]
