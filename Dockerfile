# The gateway in front of an agent's model. The store is on the volume /data, or in PostgreSQL (RATCHET_DATABASE_URL).
FROM node:22-slim AS build
WORKDIR /src
COPY package.json package-lock.json .npmrc ./
RUN npm ci --no-audit --no-fund
COPY tsconfig.json README.md LICENSE NOTICE ./
COPY bin bin
COPY src src
RUN npm run build && npm prune --omit=dev --no-audit --no-fund

FROM node:22-slim
ENV NODE_ENV=production
WORKDIR /ratchet
COPY --from=build /src/package.json ./
COPY --from=build /src/bin bin
COPY --from=build /src/dist dist
COPY --from=build /src/node_modules node_modules
RUN ln -s /ratchet/bin/ratchet.cjs /usr/local/bin/ratchet && mkdir /data && chown node /data
USER node
WORKDIR /data
VOLUME /data
EXPOSE 8787
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s \
  CMD node -e "fetch('http://127.0.0.1:8787/readyz').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"
# Outside its container the gateway is on a network, so it asks for keys from its first request on.
ENTRYPOINT ["ratchet"]
CMD ["serve", "--host", "0.0.0.0", "--json"]
