import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { freePort, startOnFreePort } from '../support/freePort.ts';
import { type SharedChain, startSharedChain } from '../support/sharedChain.ts';
import { temporaryFolder } from '../support/smallFileSystem.ts';
import { type GuardedChild, spawnGuarded } from '../support/spawn.ts';
import { type FloodgateProcess, startFloodgateProcess } from '../support/startFloodgate.ts';
import { until } from '../support/until.ts';

const hasNginx = spawnSync('nginx', ['-v']).status === 0;
const CLIENTS = 24;
const CALL = { jsonrpc: '2.0', id: 1, method: 'eth_getBalance', params: [`0x${'12'.repeat(20)}`, 'latest'] };

describe.skipIf(!hasNginx)(
  `a rolling restart behind nginx${hasNginx ? '' : ' (nginx is not installed)'}`,
  () => {
    let chain: SharedChain;
    beforeAll(async () => {
      chain = await startSharedChain();
    });
    afterAll(() => chain?.anvil.stop());

    it(`resets no connection of ${CLIENTS} clients and rejects no request`, async () => {
      const folder = temporaryFolder();
      const start = (port: number, dataDir: string): Promise<FloodgateProcess> =>
        startFloodgateProcess({
          upstream: chain.anvil.url,
          dataDir: join(folder, dataDir),
          args: ['--port', String(port), '--stop-delay-ms', '1500'],
        });
      const begin = (dataDir: string) => startOnFreePort(async () => start(await freePort(), dataDir));
      const servers = [await begin('a'), await begin('b')];
      onTestFinished(async () => {
        await Promise.all(servers.map((server) => server.stop()));
      });
      const { nginx, port, output } = await startNginx(
        folder,
        servers.map(({ url }) => new URL(url).host),
      );
      onTestFinished(async () => {
        nginx.kill('SIGQUIT');
        if (nginx.exitCode === null && nginx.signalCode === null) await once(nginx, 'exit');
      });
      const agent = new Agent({ keepAlive: true, maxSockets: CLIENTS });
      onTestFinished(() => agent.destroy());
      const failures = new Set<string>();
      let answers = 0;
      let isFinished = false;
      const clients = Array.from({ length: CLIENTS }, async () => {
        while (!isFinished) {
          const result = await post(agent, port).catch((error: unknown) => String(error));
          answers++;
          if (result !== '200 0x0') failures.add(result);
        }
      });
      const more = async (): Promise<void> => {
        const enough = answers + 10 * CLIENTS;
        await until('more answers', () => answers > enough);
      };
      await more();
      for (const [index, server] of servers.entries()) {
        await server.stop();
        await more();
        const restarted = await start(Number(new URL(server.url).port), index === 0 ? 'a' : 'b');
        servers[index] = restarted;
        // For `fail_timeout`, nginx does not use it. The other server must not stop in that time.
        await until('nginx to use the restarted server', () => hasCalls(restarted));
        await more();
      }
      isFinished = true;
      await Promise.all(clients);
      expect([...failures], output().slice(0, 2_000)).toEqual([]);
    });
  },
);

/** Starts nginx with kept-alive connections to the servers. A request that may have been processed is not repeated. */
async function startNginx(
  folder: string,
  servers: readonly string[],
): Promise<{ readonly nginx: GuardedChild; readonly port: number; readonly output: () => string }> {
  const port = await freePort();
  const config = join(folder, 'nginx.conf');
  writeFileSync(
    config,
    `daemon off; master_process off; pid ${folder}/pid; error_log stderr warn;
events { worker_connections 256; }
http {
  access_log off;
  client_body_temp_path ${folder}/body; proxy_temp_path ${folder}/proxy; fastcgi_temp_path ${folder}/fastcgi;
  uwsgi_temp_path ${folder}/uwsgi; scgi_temp_path ${folder}/scgi;
  upstream floodgate { ${servers.map((server) => `server ${server} fail_timeout=1s;`).join(' ')} keepalive 64; }
  server {
    listen 127.0.0.1:${port};
    location / { proxy_pass http://floodgate; proxy_http_version 1.1; proxy_set_header Connection ""; proxy_set_header Host $host; }
  }
}
`,
  );
  const nginx = spawnGuarded('nginx', ['-e', 'stderr', '-c', config]);
  let output = '';
  nginx.stderr.on('data', (chunk) => {
    output += chunk;
  });
  await until('nginx to answer', async () => {
    if (nginx.exitCode !== null) throw new Error(output);
    return fetch(`http://127.0.0.1:${port}/healthz`).then(
      ({ status }) => status === 200,
      () => false,
    );
  });
  return { nginx, port, output: () => output };
}

/** Whether a client has called the server. */
async function hasCalls({ url }: FloodgateProcess): Promise<boolean> {
  const metrics = await (await fetch(`${url}/metrics`)).text();
  return /^floodgate_gateway_call_duration_seconds_count\{.*"eth_getBalance".*\} [1-9]/m.test(metrics);
}

async function post(agent: Agent, port: number): Promise<string> {
  const sent = request({
    agent,
    port,
    host: '127.0.0.1',
    method: 'POST',
    path: '/v1/mainnet',
    headers: { 'content-type': 'application/json' },
  });
  sent.end(JSON.stringify(CALL));
  const [response] = await once(sent, 'response');
  const body = await text(response);
  return `${response.statusCode} ${response.statusCode === 200 ? JSON.parse(body).result : body}`;
}
