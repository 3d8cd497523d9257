// Stands for the server's command until the program has one: the rules API alone on a free port.
import fastify from 'fastify';
import { rulesApi, sendBadUrl } from '../../../dist/rules/api/index.js';
import { openRulesStorage } from '../../../dist/storage/lmdb/rulesStorage.js';

const storage = openRulesStorage(process.env.FLOODGATE_DATA_DIR);
const server = fastify({
  logger: { level: 'info' },
  frameworkErrors: (_error, _request, reply) => sendBadUrl(reply),
});
await server.register(rulesApi, {
  prefix: '/client/v4',
  rules: storage.rules,
  tokens: storage.tokens,
  configuredTokens: [process.env.FLOODGATE_API_TOKEN],
});
const address = await server.listen({ port: Number(process.env.FLOODGATE_PORT ?? 0), host: '127.0.0.1' });
process.stdout.write(`listening ${address}\n`);
process.on('SIGTERM', async () => {
  await server.close();
  await storage.close();
  process.exit(0);
});
