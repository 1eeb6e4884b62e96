# The service in one image: built with everything, run with what it needs, as a user who owns nothing.
# `npm run image` goes through these steps without containers, and starts what comes of them.
FROM node:24-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY packages/cli/package.json ./packages/cli/
COPY packages/console/package.json ./packages/console/
COPY packages/decision/package.json ./packages/decision/
COPY packages/node/package.json ./packages/node/
COPY packages/server/package.json ./packages/server/
RUN npm ci
COPY . .
RUN npm run build && npm run docs && npm prune --omit=dev

FROM node:24-bookworm-slim
ENV NODE_ENV=production HOST=0.0.0.0 PORT=4000 DATA_DIR=/data
WORKDIR /app
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/packages/server/package.json ./packages/server/
COPY --from=build /app/packages/server/migrations ./packages/server/migrations
COPY --from=build /app/packages/server/dist ./packages/server/dist
# Only the embedded database, and mails that are written to files, are kept here.
RUN install -d -o node -g node -m 700 /data
USER node
VOLUME /data
EXPOSE 4000
# Whatever it answers to this Host header: SECURITY_ALLOWED_HOSTS need not name it.
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/health/live`).then(({ status }) => process.exit(status < 500 ? 0 : 1), () => process.exit(1))"]
CMD ["node", "--enable-source-maps", "packages/server/dist/main.js"]
