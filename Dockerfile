# The image of policy-server. Build it from the root of the repository: docker build -t policy-server .
FROM node:22-bookworm-slim AS build
WORKDIR /build
COPY package.json package-lock.json ./
COPY vendor ./vendor
# No package's own script is needed, so none runs.
RUN npm ci --ignore-scripts
COPY tsconfig.json ./
COPY scripts/build-wasm.mjs scripts/join.mjs scripts/joined-packages.json scripts/page.mjs ./scripts/
COPY src ./src
RUN node node_modules/typescript/bin/tsc --declaration false --sourceMap false \
 && node scripts/build-wasm.mjs \
 && node scripts/join.mjs \
 && npm prune --omit=dev --ignore-scripts

FROM node:22-bookworm-slim
LABEL org.opencontainers.image.title="policy-server" \
      org.opencontainers.image.description="Admission policy server for WASM and CEL policies, and groups of them" \
      org.opencontainers.image.licenses="Apache-2.0"
# glibc keeps what threads have given back, for each of them apart; some MiB, unless told otherwise.
ENV NODE_ENV=production \
    MALLOC_ARENA_MAX=1 \
    MALLOC_MMAP_THRESHOLD_=32768
# The root file system may be read-only: what is written goes below /tmp, where an emptyDir belongs.
ENV KUBEWARDEN_POLICIES_DOWNLOAD_DIR=/tmp \
    KUBEWARDEN_SIGSTORE_CACHE_DIR=/tmp/sigstore-data
WORKDIR /policy-server
COPY --from=build /build/package.json ./
COPY --from=build /build/node_modules ./node_modules
COPY --from=build /build/dist/server ./dist/server
COPY --from=build /build/dist/page ./dist/page
COPY data ./data
# What `policy-server explain` prints.
COPY docs/errors.md ./docs/
COPY LICENSE ./
# As a number, because Kubernetes cannot tell of a name that it isn't root.
USER 65532:65532
EXPOSE 3000 8081
# The flag is that of the executable's first line: what short-lived objects may take. Node itself is the container's first process: SIGTERM reaches it, and it drains.
ENTRYPOINT ["node", "--max-semi-space-size=8", "/policy-server/dist/server/main.js"]
