import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newRule, rulesPath } from '../rules/support/samples.ts';
import type { Anvil } from '../support/anvil.ts';
import { hasOpenssl, makeCertificate } from '../support/certificate.ts';
import { cleanEnvironment } from '../support/cleanEnvironment.ts';
import { nodeFlagsOf } from '../support/program.ts';
import { type RunningProgram, runProgram } from '../support/runProgram.ts';
import { until } from '../support/until.ts';
import { type ChainSize, startChain } from './chain.ts';
import { LineProcess } from './lineProcess.ts';
import { HttpClient } from './polite/httpClient.ts';
import { type ChainFacts, LOOPBACK, type Target, ZONE_NAME, ZONE_TEXT } from './target.ts';

const OPERATOR_TOKEN = 'fg_fairness_token_that_may_do_everything';
const GUARD_ACCOUNT = 'guarded';
const FINALITY = 'depth:64';
const POLL_INTERVAL_MS = '100';

export interface StartedServer {
  readonly program: RunningProgram;
  readonly target: Target;
  /** Removes the data. */
  remove(): void;
}

/** Everything around the servers: a chain and a DNS server. */
export class FairnessWorld {
  readonly #folder = mkdtempSync(join(tmpdir(), 'floodgate-fairness-'));
  readonly #program: string;
  readonly #anvil: Anvil;
  readonly #chain: ChainFacts;
  readonly #authority: LineProcess;
  readonly #authorityPort: number;

  private constructor(
    program: string,
    [anvil, chain]: [Anvil, ChainFacts],
    [authority, authorityPort]: [LineProcess, number],
  ) {
    this.#program = program;
    this.#anvil = anvil;
    this.#chain = chain;
    this.#authority = authority;
    this.#authorityPort = authorityPort;
    writeFileSync(join(this.#folder, 'zone'), ZONE_TEXT);
    if (hasOpenssl)
      makeCertificate({ cert: join(this.#folder, 'cert.pem'), key: join(this.#folder, 'key.pem') });
  }

  /** `program` is the path of the shipped program, and `scripts` the folder of the compiled scripts. */
  static async start(program: string, scripts: string, size: ChainSize): Promise<FairnessWorld> {
    const chain = await startChain(size);
    const authority = new LineProcess(join(scripts, 'authorityProcess.js'), {});
    return new FairnessWorld(program, chain, [authority, Number(await authority.line())]);
  }

  async stop(): Promise<void> {
    this.#authority.kill('SIGKILL');
    await this.#anvil.stop();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /** Starts a server with an empty data folder, and waits until its index is complete. Without openssl, it has no TLS. */
  async server({ isTls, workers }: { isTls: boolean; workers: number }): Promise<StartedServer> {
    const folder = mkdtempSync(join(this.#folder, 'run-'));
    const tls = { cert: join(this.#folder, 'cert.pem'), key: join(this.#folder, 'key.pem') };
    const program = await this.#start(folder, [
      ...(workers > 1 ? ['--workers', String(workers)] : []),
      ...(isTls && hasOpenssl ? ['--tls-cert', tls.cert, '--tls-key', tls.key] : []),
    ]);
    const target = await this.#target(program);
    return { program, target, remove: () => rmSync(folder, { recursive: true, force: true }) };
  }

  async #target(program: RunningProgram): Promise<Target> {
    const started = {
      url: program.url,
      dns: { host: LOOPBACK, port: program.dnsPort },
      chain: this.#chain,
      operatorToken: OPERATOR_TOKEN,
      tenantToken: '',
      politeToken: '',
      politeRuleId: '',
    };
    const http = new HttpClient(started, LOOPBACK);
    const { firstIndexed: fromBlock, head: toBlock } = this.#chain;
    await until('a complete index', () =>
      http.call('trace_filter', { fromBlock, toBlock, count: 1 }).then(
        () => true,
        () => false,
      ),
    );
    await until('a ready server', () =>
      http.send('GET', '/readyz').then(
        () => true,
        () => false,
      ),
    );
    for (const account of [GUARD_ACCOUNT, 'polite'])
      await http.operate('POST', rulesPath(account), { token: OPERATOR_TOKEN, body: newRule });
    const tokenOf = async (account: string, permissions: readonly string[]): Promise<string> => {
      const body = { label: account, accounts: [account], permissions };
      const { value } = await http.operate<{ value: string }>('POST', '/user/tokens', {
        token: OPERATOR_TOKEN,
        body,
      });
      return value;
    };
    const rights = ['dns_protection:read', 'dns_protection:write'];
    const tenantToken = await tokenOf('tenant', [...rights, 'tokens:write']);
    const politeToken = await tokenOf('polite', rights);
    const rules = await http.operate<readonly { id: string }[]>('GET', rulesPath('polite'), {
      token: politeToken,
    });
    http.close();
    return { ...started, tenantToken, politeToken, politeRuleId: rules[0]?.id ?? '' };
  }

  #start(dataDir: string, flags: readonly string[]): Promise<RunningProgram> {
    const args = [
      'start',
      '--port',
      '0',
      '--data-dir',
      dataDir,
      '--upstream',
      this.#chain.nodeUrl,
      '--index-from',
      String(this.#chain.firstIndexed),
      '--index-poll-interval-ms',
      POLL_INTERVAL_MS,
      '--index-finality',
      FINALITY,
      '--dns-account',
      GUARD_ACCOUNT,
      '--dns-listen',
      `${LOOPBACK}:0`,
      '--dns-servers',
      `${LOOPBACK}:${this.#authorityPort}`,
      '--dns-zones',
      `${ZONE_NAME}=${join(this.#folder, 'zone')}`,
      ...flags,
    ];
    const env = cleanEnvironment({ FLOODGATE_API_TOKEN: OPERATOR_TOKEN });
    const command = [process.execPath, ...nodeFlagsOf(this.#program), this.#program] as const;
    return runProgram(args, { env, cwd: this.#folder, command });
  }
}
